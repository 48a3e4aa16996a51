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
  run(): Promise<Figure[]>
}
