// Whose words a turn is made of: noted at its job when its prompt is made, and from there on every row that the job
// writes to the outbox. It decides what those words count for when they come back: as an answer, a quote, a click.
import type { Write } from "./store.ts"

export interface Provenance {
  /** The least trusted source of what the turn was shown. */
  origin: string
  /** True when all of it came from people who may command it. */
  trusted: boolean
}

/** Rows that the job adds to the outbox from now on are of this provenance. */
export function markProvenance(write: Write, jobId: number, { origin, trusted }: Provenance): void {
  write.prepare("update job set origin = ?, trusted = ? where id = ?").run(origin, trusted ? 1 : 0, jobId)
}
