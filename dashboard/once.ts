// What counts once however often it is pressed until the gateway has answered: an answer may be lost after all was done.

/** By what is meant, the keys of what has no answer yet. */
const keys = new Map<string, string>()

/** `meant` names what it is: pressed again after a lost answer, it is posted with the same key. */
export async function once<Answer>(meant: string, post: (key: string) => Promise<Answer>): Promise<Answer> {
  const key = keys.get(meant) ?? crypto.randomUUID()
  keys.set(meant, key)
  const answer = await post(key)
  keys.delete(meant)
  return answer
}
