// How a person writes their file (quotes, bare keys, indentation, line ends), read off the file itself, so that what we
// add looks like what is there.
import type { ObjectNode } from "@humanwhocodes/momoa"
import type { Json } from "../kernel/json.ts"
import type { ConfigDocument } from "./document.ts"

export interface TextStyle {
  newline: string
  indent: string
  printKey(name: string): string
  printString(text: string): string
}

/** `near` is the object whose keys the new one should look like. */
export function styleOf(document: ConfigDocument, near?: ObjectNode): TextStyle {
  const { text, root } = document
  const sample = near?.members[0] ?? (root.type === "Object" ? root.members[0] : undefined)
  const bareKeys = sample?.name.type === "Identifier"
  const single = sample?.name.type === "String" ? text[sample.name.loc.start.offset] === "'" : usesSingleQuotes(text)
  const printString = (value: string) => (single ? singleQuoted(value) : JSON.stringify(value))
  return {
    newline: text.includes("\r\n") ? "\r\n" : "\n",
    indent: unitIndent(text),
    printKey: (name) => (bareKeys && /^[A-Za-z_$][\w$]*$/.test(name) ? name : printString(name)),
    printString,
  }
}

function usesSingleQuotes(text: string): boolean {
  return text.includes(": '") && !text.includes(': "')
}

function singleQuoted(value: string): string {
  const inner = JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")
  return `'${inner}'`
}

/** Indentation of one level: that of the first indented line, else two spaces. */
export function unitIndent(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  "
}

/** White space at the start of the line that `offset` is in. */
export function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? ""
}

/** Offset of the next character that is neither white space nor inside a comment. */
export function nextSignificant(text: string, from: number): number {
  let offset = from
  for (;;) {
    const skipped = /^(?:\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)/.exec(text.slice(offset))
    if (!skipped) return offset
    offset += skipped[0].length
  }
}

/** A value as text; lines after the first are indented by `indent` and one level more for each depth. */
export function printJson(value: Json, style: TextStyle, indent: string): string {
  if (typeof value === "string") return style.printString(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const inner = indent + style.indent
  const items = Array.isArray(value)
    ? value.map((element) => printJson(element, style, inner))
    : Object.entries(value).map(([name, member]) => `${style.printKey(name)}: ${printJson(member, style, inner)}`)
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"]
  if (items.length === 0) return `${open}${close}`
  if (Array.isArray(value) && value.every((element) => typeof element !== "object")) {
    return `${open}${items.join(", ")}${close}`
  }
  return `${open}${style.newline}${inner}${items.join(`,${style.newline}${inner}`)}${style.newline}${indent}${close}`
}
