// The session that a person means: a whole key, its beginning, or the beginning of what follows the agent (`main`,
// `terminal:notes`), where only one fits.
import { AppError } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"

const mostFound = 4
/** Behind whatever a key goes on with. */
const last = "\u{10ffff}"

const within = `select distinct key from conversation
  where key >= ? and key < ? and deleted_at is null order by key limit ${mostFound}`
const next = "select min(key) as key from conversation where key >= ?"

/** Keys that begin so, or go on so behind their agent, a few at most. Reads no others, however many there are. */
function keysThatBegin(store: Store, given: string): string[] {
  const find = (start: string) =>
    store.handle
      .prepare(within)
      .all(start, start + last)
      .map((row) => String(row["key"]))
  const found = new Set(find(given))
  for (const agent of agentsOf(store)) for (const key of find(agent + given)) found.add(key)
  return [...found].toSorted().slice(0, mostFound)
}

/** `agent:main:` of each agent that has a session; one look into the index each. */
function* agentsOf(store: Store): Iterable<string> {
  for (let from = "agent:"; ;) {
    const key = store.handle.prepare(next).get(from)?.["key"]
    const [agent] = /^agent:[^:]*:/.exec(String(key)) ?? []
    if (agent === undefined) return
    yield agent
    from = agent + last
  }
}

/** What fits nothing is given back as it is: whoever looks for it says that it is not there. Throws `conflict`. */
export function findSessionKey(store: Store, given: string): string {
  if (store.handle.prepare("select 1 from session where key = ?").get(given)) return given
  const found = keysThatBegin(store, given)
  const whole = found.filter((key) => key === given || key.replace(/^agent:[^:]*:/, "") === given)
  const [only, other] = whole.length > 0 ? whole : found
  if (only === undefined) return given
  if (other === undefined) return only
  const names = found.slice(0, 3).join(", ")
  throw new AppError("conflict", `Several sessions begin with ${JSON.stringify(given)}`, {
    hint: `Such as ${names}${found.length >= mostFound ? ", ..." : ""}; give more of the key`,
  })
}
