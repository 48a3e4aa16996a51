// When saying nothing is an answer: the turn has spoken by a tool already, its group hears everything, or the model says
// so in one word.
import type { Store } from "../store/index.ts"
import type { TurnInput } from "./turn-input.ts"

/** A reply that is this alone, or whose first or last line is, sends no words. */
export const silenceToken = "NO_REPLY"

export function isSilence(text: string): boolean {
  const lines = text.trim().split("\n")
  return isToken(lines[0]) || isToken(lines.at(-1))
}

/** Models set it as code or bold, and end it like a sentence. */
function isToken(line = ""): boolean {
  return /^[\s*_`~"']{0,9}NO_REPLY[\s*_`~"'.!]{0,9}$/.test(line)
}

/** Parts of the answer itself (`early`) are no words of a tool. */
const spoken = `select 1 from outbox
  where job_id = ? and state <> 'dead' and json_extract(payload, '$.early') is null limit 1`

/** An answer without a word needs no excuse: a tool of the turn has spoken or reacted, or nobody waits for one. */
export function mayBeSilent(
  handle: Pick<Store["handle"], "prepare">,
  jobId: number,
  { hearsAll, steered }: Pick<TurnInput, "hearsAll" | "steered">,
): boolean {
  return hearsAll === true || steered === true || handle.prepare(spoken).get(jobId) !== undefined
}
