// Ids of sessions, for whoever keeps something as long as one lasts.
import type { Store } from "../store/index.ts"

/** What the key of a session stands for now. */
export function sessionIdOf({ handle }: Store, key: string): string | undefined {
  const row = handle.prepare("select session_id from session where key = ?").get(key) as
    | { session_id: string }
    | undefined
  return row?.session_id
}

/** Whether any session still has this id. */
export function isSessionId({ handle }: Store, id: string): boolean {
  return handle.prepare("select 1 from session where session_id = ?").get(id) !== undefined
}
