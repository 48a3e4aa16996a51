// A conversation that goes on under another key, because its chat got another id.
import type { SessionRow, Write } from "../store/index.ts"

/** Both conversations become one when the new key is in use already; the longer-known one's settings stay. */
export function moveSession(write: Write, from: string, to: string): void {
  const find = (key: string) => write.prepare("select * from session where key = ?").get(key) as SessionRow | undefined
  const old = find(from)
  if (!old || from === to) return
  const present = find(to)
  if (present) {
    coverNothingOfEachOther(write, old.session_id, present.session_id)
    write.prepare("update message set session_id = ? where session_id = ?").run(old.session_id, present.session_id)
    write
      .prepare("update or ignore session_site set session_id = ? where session_id = ?")
      .run(old.session_id, present.session_id)
    write.prepare("delete from session where key = ?").run(to)
    // A turn that runs in the one that goes finds by its beginning where it goes on (`append`).
    write
      .prepare("update session set updated_at = max(updated_at, ?), created_at = min(created_at, ?) where key = ?")
      .run(present.updated_at, present.created_at, from)
  }
  write.prepare("update session set key = ? where key = ?").run(to, from)
  write.prepare("update approval set session_key = ? where session_key = ?").run(to, from)
  // What the conversation has used stays its own.
  write.prepare("update usage set session_key = ? where session_key = ?").run(to, from)
  write.prepare("update budget_hold set session_key = ? where session_key = ?").run(to, from)
  for (const table of ["budget_total", "budget_grant", "budget_notice", "budget_stopped"]) {
    write.prepare(`update or ignore ${table} set key = ? where scope = 'session' and key = ?`).run(to, from)
  }
}

/** Only the newest summary is shown, which knows nothing of the other's messages: they and what follows are shown again. */
function coverNothingOfEachOther(write: Write, one: string, other: string): void {
  const first = write.prepare("select min(id) as id from message where session_id = ? and covers_to is null")
  const cover = write.prepare(
    "update message set covers_to = ?1 where session_id = ?2 and covers_to is not null and covers_to > ?1",
  )
  const [ofOne, ofOther] = [first.get(one)?.["id"], first.get(other)?.["id"]]
  if (typeof ofOther === "number") cover.run(ofOther - 1, one)
  if (typeof ofOne === "number") cover.run(ofOne - 1, other)
}
