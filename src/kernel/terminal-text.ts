// Text from outside (names of strangers, log lines, page titles) made harmless for a terminal: control characters
// could move the cursor, rewrite what was printed, or set the window's title.

// C0 without tab and newline, DEL and C1, and the marks that reverse the direction of text.
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Keeps tabs and newlines; every other control character becomes visible, such as `\x1b`. */
export function printable(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = character.charCodeAt(0)
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
  })
}

/** The same for text that must stay in its line or table cell. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]+/g, " ")
}

/** The same value as before for whoever reads the JSON, which itself leaves DEL, C1 and the marks of direction as they are. */
export function printableJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
}
