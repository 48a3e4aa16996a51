// What counts once however often it is pressed until the gateway has answered: an answer may be lost after all was done.

/** By what is meant, the keys of what has no answer yet. */
const keys = new Map<string, { key: string; since: number }>()
/** Who presses again later than that means it anew. */
const sameMs = 600_000

/** `meant` names what it is: pressed again after a lost answer, it is posted with the same key. */
export async function once<Answer>(meant: string, post: (key: string) => Promise<Answer>): Promise<Answer> {
  const now = Date.now()
  const known = keys.get(meant)
  const own = known && now - known.since < sameMs ? known : { key: crypto.randomUUID(), since: now }
  keys.set(meant, own)
  const answer = await post(own.key)
  keys.delete(meant)
  return answer
}
