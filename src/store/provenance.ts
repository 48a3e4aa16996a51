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

/** Words of others have come into the turn after its prompt; they do not leave it again. */
export function lowerProvenance(write: Write, jobId: number): void {
  write.prepare("update job set trusted = 0 where id = ? and trusted = 1").run(jobId)
}

/** A row of the store as it says whose words it holds; undefined where it does not say. */
export function provenanceOf(row: { origin: string | null; trusted: number | null }): Provenance | undefined {
  const { origin, trusted } = row
  return origin === null || trusted === null ? undefined : { origin, trusted: trusted === 1 }
}

/** Of several that have had a hand in something the least trusted. */
export function leastTrusted(all: readonly Provenance[]): Provenance | undefined {
  const isOwners = ({ origin }: Provenance) => origin === "owner" || origin === "system"
  return all.find(({ trusted }) => !trusted) ?? all.find((each) => !isOwners(each)) ?? all[0]
}
