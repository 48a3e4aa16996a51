// Property lists in XML, as launchd reads them: written from plain values, and read back by a parser that takes nothing
// but what Apple's document type allows. What launchd would refuse or read otherwise is found before it is installed.
import { AppError } from "../kernel/index.ts"

export type PlistValue = string | number | boolean | readonly PlistValue[] | { readonly [key: string]: PlistValue }

const head = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
`

/** `comment` stands below the head; two dashes in it would end it. */
export function renderPlist(value: PlistValue, comment: string): string {
  return `${head}<!-- ${comment.replaceAll("--", "- -")} -->\n<plist version="1.0">\n${render(value, "")}\n</plist>\n`
}

function render(value: PlistValue, indent: string): string {
  const deeper = `${indent}  `
  if (typeof value === "string") return `${indent}<string>${escape(value)}</string>`
  if (typeof value === "boolean") return `${indent}<${value}/>`
  if (typeof value === "number") return `${indent}<integer>${value}</integer>`
  const isList = Array.isArray(value)
  const items = isList
    ? (value as readonly PlistValue[]).map((item) => render(item, deeper))
    : Object.entries(value).flatMap(([key, item]) => [`${deeper}<key>${escape(key)}</key>`, render(item, deeper)])
  const tag = isList ? "array" : "dict"
  return [`${indent}<${tag}>`, ...items, `${indent}</${tag}>`].join("\n")
}

function escape(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) {
    throw new AppError("bad-request", `${JSON.stringify(text)} cannot stand in a property list`, {
      hint: "name it without control characters",
    })
  }
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

/** Throws an Error that names the line. */
export function parsePlist(text: string): PlistValue {
  return new Parser(text).document()
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): PlistValue {
    this.#expect('<?xml version="1.0" encoding="UTF-8"?>')
    this.#skip()
    this.#expect(head.split("\n")[1] ?? "")
    this.#skip()
    this.#expect('<plist version="1.0">')
    const value = this.#value()
    this.#skip()
    this.#expect("</plist>")
    this.#skip()
    if (this.#at !== this.#text.length) throw this.#wrong("something stands behind the end")
    return value
  }

  #value(): PlistValue {
    this.#skip()
    const tag = this.#tag()
    if (tag === "true/" || tag === "false/") return tag === "true/"
    if (tag === "string") return this.#textUntil("string")
    if (tag === "integer") return this.#integer()
    if (tag === "array") return this.#list()
    if (tag === "dict") return this.#dictionary()
    throw this.#wrong(`<${tag}> is no value that a service may have`)
  }

  #integer(): number {
    const text = this.#textUntil("integer")
    if (!/^[+-]?\d{1,15}$/.test(text)) throw this.#wrong(`"${text}" is no integer`)
    return Number(text)
  }

  #list(): PlistValue[] {
    const items: PlistValue[] = []
    while (!this.#ends("array")) items.push(this.#value())
    return items
  }

  #dictionary(): Record<string, PlistValue> {
    const items: [string, PlistValue][] = []
    while (!this.#ends("dict")) {
      const tag = this.#tag()
      if (tag !== "key") throw this.#wrong(`a <key> is missing before <${tag}>`)
      const key = this.#textUntil("key")
      if (items.some(([other]) => other === key)) throw this.#wrong(`the key ${key} stands there twice`)
      items.push([key, this.#value()])
    }
    return Object.fromEntries(items)
  }

  #ends(tag: string): boolean {
    this.#skip()
    if (!this.#text.startsWith(`</${tag}>`, this.#at)) return false
    this.#at += tag.length + 3
    return true
  }

  #tag(): string {
    const end = this.#text.indexOf(">", this.#at)
    if (this.#text[this.#at] !== "<" || end === -1) throw this.#wrong("a tag is missing")
    const tag = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    return tag
  }

  #textUntil(tag: string): string {
    const end = this.#text.indexOf("<", this.#at)
    const raw = this.#text.slice(this.#at, end === -1 ? undefined : end)
    this.#at += raw.length
    this.#expect(`</${tag}>`)
    return raw.replaceAll(/&([^;]{0,8};?)/g, (whole, name: string) => {
      const meant = entities[name.slice(0, -1)]
      if (!name.endsWith(";") || meant === undefined) throw this.#wrong(`"${whole}" is no entity of XML`)
      return meant
    })
  }

  #expect(text: string): void {
    if (!this.#text.startsWith(text, this.#at)) throw this.#wrong(`"${text}" is missing`)
    this.#at += text.length
  }

  /** White space and comments. */
  #skip(): void {
    for (;;) {
      while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at += 1
      if (!this.#text.startsWith("<!--", this.#at)) return
      const end = this.#text.indexOf("--", this.#at + 4)
      if (end === -1 || this.#text[end + 2] !== ">") throw this.#wrong("a comment does not end")
      this.#at = end + 3
    }
  }

  #wrong(what: string): Error {
    const line = this.#text.slice(0, this.#at).split("\n").length
    return new Error(`line ${line}: ${what}`)
  }
}
