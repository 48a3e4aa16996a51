// Figures as rows of docs/performance.md.

export interface Row {
  what: string
  target: string
  measured: string
  met: boolean
  /** What was found in particular, printed beneath. */
  details?: readonly string[]
}

const maxDetails = 20

export function renderTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => `| ${row.what} | ${row.target} | ${row.measured} | ${row.met ? "yes" : "no"} |`)
  const details = rows.flatMap(({ what, details: found = [] }) =>
    found.length === 0 ? [] : [`\n${what}:`, ...found.slice(0, maxDetails).map((line) => `  ${line}`)],
  )
  return ["| what | target | measured | met |", "|---|---|---|---|", ...lines, ...details].join("\n")
}
