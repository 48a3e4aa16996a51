// A line of a snapshot, and the ref in it.
import type { World } from "../frames.ts"

export interface LineRef {
  /** As written: `12`, or `e12` in role snapshots. */
  key: string
  role: string
  name: string
  interactive: boolean
  /** Place among those of the same role and name, when there are several. */
  nth?: number
  entry: { world: World; id: number }
}

export interface Line {
  text: string
  depth: number
  ref?: LineRef
}
