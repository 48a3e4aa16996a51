// The text of a mail out of its MIME tree: the plain part, else the HTML part without its tags. One pass over the text,
// so that a hostile mail costs no more than its length. Attachments are never looked at.
interface MimePart {
  mimeType?: string
  filename?: string
  headers?: { name?: string; value?: string }[]
  body?: { data?: string }
  parts?: MimePart[]
}

export type { MimePart }

const maxDepth = 20
/** HTML of a mail that is looked at; the text in it is far shorter. */
const maxHtmlBytes = 1024 * 1024

export function mailText(payload: MimePart | undefined, maxBytes: number): string {
  const plain = findPart(payload, "text/plain", 0)
  if (plain) return cutBytes(tidy(decodePart(plain, maxHtmlBytes)), maxBytes)
  const html = findPart(payload, "text/html", 0)
  return html ? cutBytes(tidy(htmlToText(decodePart(html, maxHtmlBytes))), maxBytes) : ""
}

export function headerOf(payload: MimePart | undefined, name: string): string {
  const header = payload?.headers?.find((candidate) => candidate.name?.toLowerCase() === name)
  return (header?.value ?? "").replace(/\s+/g, " ").trim()
}

function findPart(part: MimePart | undefined, mimeType: string, depth: number): MimePart | undefined {
  if (!part || depth > maxDepth) return undefined
  if (part.mimeType?.toLowerCase() === mimeType && !part.filename && part.body?.data) return part
  for (const child of part.parts ?? []) {
    const found = findPart(child, mimeType, depth + 1)
    if (found) return found
  }
  return undefined
}

function decodePart(part: MimePart, limit: number): string {
  const bytes = Buffer.from((part.body?.data ?? "").slice(0, limit * 2), "base64url").subarray(0, limit)
  const charset = /charset="?([\w.:-]+)/i.exec(headerOf(part, "content-type"))?.[1] ?? "utf-8"
  return decoderOf(charset).decode(bytes)
}

function decoderOf(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset)
  } catch (error) {
    // A name that nobody knows: most such mails are UTF-8 all the same.
    if (error instanceof RangeError) return new TextDecoder()
    throw error
  }
}

/** At most so many bytes of UTF-8, never half a character; `…` shows that something is missing. */
export function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = Math.max(0, maxBytes - 3)
  // 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  return `${bytes.subarray(0, end).toString("utf8")}…`
}

function tidy(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
}

/** Elements whose text nobody reads. */
const silent = new Set(["script", "style", "head", "title", "template", "noscript"])
const breaking = new Set("br p div tr li ul ol table h1 h2 h3 h4 h5 h6 blockquote hr section article pre".split(" "))

export function htmlToText(html: string): string {
  const pieces: string[] = []
  let at = 0
  for (let open = html.indexOf("<"); open >= 0;) {
    const next = beginsTag(html, open) ? afterTag(html, open) : undefined
    if (next) {
      pieces.push(html.slice(at, open).replace(/\s+/g, " "), next.text)
      at = next.at
    }
    // A lone "<" is text.
    open = html.indexOf("<", next?.at ?? open + 1)
  }
  pieces.push(html.slice(at).replace(/\s+/g, " "))
  return decodeEntities(pieces.join(""))
}

/** A letter, with a slash before it or not, or a declaration. */
function beginsTag(html: string, open: number): boolean {
  const code = html.charCodeAt(open + 1)
  if (code === 0x21) return true
  const letter = (code === 0x2f ? html.charCodeAt(open + 2) : code) | 0x20
  return letter >= 0x61 && letter <= 0x7a
}

function afterTag(html: string, open: number): { at: number; text: string } {
  if (html.startsWith("<!--", open)) return { at: endOf(html, "-->", open + 4), text: "" }
  const name = /^<\/?([a-z][a-z0-9]*)/i.exec(html.slice(open, open + 20))?.[1]?.toLowerCase()
  const at = endOf(html, ">", open)
  if (name === undefined) return { at, text: "" }
  const isClosing = html[open + 1] === "/"
  if (silent.has(name) && !isClosing) return { at: endOfElement(html, name, at), text: "" }
  return { at, text: breaking.has(name) ? "\n" : "" }
}

/** After the closing tag; the end of the text when there is none. Called once for each such element, in order. */
function endOfElement(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}[^>]{0,100}>`, "gi")
  closing.lastIndex = from
  return closing.exec(html) ? closing.lastIndex : html.length
}

function endOf(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from)
  return found < 0 ? html.length : found + mark.length
}

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
