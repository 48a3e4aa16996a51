// The last heartbeat of a session that has ended. Few runs are heartbeats, and no index knows them: what was looked
// through once is remembered, so that asking again (`svc status`, the page, every few seconds) reads only what is new.
import type { JobRow, Store } from "../store/index.ts"
import { heartbeatJobKind } from "./turn-input.ts"

/** What lies further back is not looked for. */
const mostJobs = 50_000

const sqlLast = `select * from job
  where lane_key = ? and kind = ? and finished_at is not null and id > max(?, (select max(id) from job) - ${mostJobs})
  order by id desc limit 1`

const sqlRow = "select * from job where id = ? and finished_at is not null"

interface Known {
  /** All heartbeats of the session up to this id had ended when it was looked. */
  upTo: number
  /** Of the last of them; 0: there is none. */
  id: number
}

/** `open` are the session's jobs that wait or run. */
export type LastHeartbeat = (session: string, open: readonly JobRow[]) => JobRow | undefined

export function createLastHeartbeat(store: Store): LastHeartbeat {
  const known = new Map<string, Known>()
  const row = (sql: string, ...values: (string | number)[]) =>
    store.handle.prepare(sql).get(...values) as JobRow | undefined
  const look = (session: string, upTo: number) => row(sqlLast, session, heartbeatJobKind, upTo)
  return (session, open) => {
    const { upTo, id } = known.get(session) ?? { upTo: 0, id: 0 }
    const newest = row("select max(id) as id from job")?.id ?? 0
    // A run may be begun again, or be pruned: then the one before it is the last.
    const last = look(session, upTo) ?? (id === 0 ? undefined : (row(sqlRow, id) ?? look(session, 0)))
    const waiting = open.filter(({ kind }) => kind === heartbeatJobKind).map((job) => job.id - 1)
    known.set(session, { upTo: Math.min(newest, ...waiting), id: last?.id ?? 0 })
    return last
  }
}
