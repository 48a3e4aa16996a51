// One measured figure, as it stands in docs/performance.md.

export interface Figure {
  what: string
  target: string
  /** As measured now, with the floor of the same run where there is one. */
  measured: string
  met: boolean
}

export interface Bench {
  name: string
  /** The part of docs/performance.md that is its own, renewed whenever it was run; else all figures are written at once. */
  section?: string
  run(): Promise<Figure[]>
}
