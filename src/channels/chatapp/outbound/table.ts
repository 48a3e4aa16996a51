// A table as aligned lines for a monospace block.

/** Wide enough for any real table; beyond it a cell is not padded, so one long cell cannot blow up every row. */
const maxPadding = 40

export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.min(maxPadding, Math.max(widths[column] ?? 1, displayWidth(cell)))
    })
  }
  const lines = rows.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? "", width))
      .join(" | ")
      .trimEnd(),
  )
  const rule = widths.map((width) => "-".repeat(width)).join("-+-")
  return lines.length > 1 ? [lines[0] ?? "", rule, ...lines.slice(1)] : lines
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)))
}

// Scripts and symbols that take two columns in a monospace font; marks and joiners that take none.
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const none = /\p{M}|\p{Cf}/u
const narrowOnly = /^[\x20-\x7e]*$/

export function displayWidth(text: string): number {
  if (narrowOnly.test(text)) return text.length
  let width = 0
  for (const character of text) width += none.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}
