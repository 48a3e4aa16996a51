// The session that a person means: a whole key, its beginning, or the beginning of what follows the agent (`main`,
// `terminal:notes`), where only one fits.
import { AppError } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"

/** `agent:` is six characters long. */
const beginning = `select distinct key from conversation where deleted_at is null and (
  substr(key, 1, length(?1)) = ?1 or substr(key, 7 + instr(substr(key, 7), ':'), length(?1)) = ?1) order by key limit 4`

/** What fits nothing is given back as it is: whoever looks for it says that it is not there. Throws `conflict`. */
export function findSessionKey(store: Store, given: string): string {
  if (store.handle.prepare("select 1 from session where key = ?").get(given)) return given
  const found = store.handle
    .prepare(beginning)
    .all(given)
    .map((row) => String(row["key"]))
  const whole = found.filter((key) => key === given || key.replace(/^agent:[^:]*:/, "") === given)
  const [only, other] = whole.length > 0 ? whole : found
  if (only === undefined) return given
  if (other === undefined) return only
  const names = found.slice(0, 3).join(", ")
  throw new AppError("conflict", `Several sessions begin with ${JSON.stringify(given)}`, {
    hint: `Such as ${names}${found.length > 3 ? ", ..." : ""}; give more of the key`,
  })
}
