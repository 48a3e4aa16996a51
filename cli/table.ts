// Rows as aligned columns. Cells come from outside and are made safe for a terminal here.
import { printableLine } from "../src/kernel/terminal-text.ts"

export type Cell = string | number | boolean | null | undefined

/**
 * Text with a heading line and a line end behind each row; the last column is not padded. Columns from `numbersFrom` on
 * hold numbers and end at the same place.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  { numbersFrom = headings.length }: { numbersFrom?: number } = {},
): string {
  const lines = [headings.map(printableLine), ...rows.map((row) => row.map(cellText))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => [...(line[column] ?? "")].length)))
  return lines.map((line) => `${formatLine(line, widths, numbersFrom)}\n`).join("")
}

function formatLine(line: readonly string[], widths: readonly number[], numbersFrom: number): string {
  const padded = line.map((cell, column) => {
    const space = " ".repeat((widths[column] ?? 0) - [...cell].length)
    return column < numbersFrom ? cell + space : space + cell
  })
  return padded.join("  ").trimEnd()
}

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === "") return "-"
  return printableLine(String(cell))
}
