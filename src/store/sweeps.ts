// What the pruner removes: for each kind of row how long it is kept, and how a few of the oldest are taken away. A
// sweep answers with the rows that it removed, with all that went with them; 0 means that nothing old is left.
import type { SqliteHandle } from "./sqlite.ts"
import { mergeWords } from "./word-index.ts"

const day = 24 * 60 * 60 * 1000

/** How long rows are kept, for what the configuration decides about. */
export interface KeepTimes {
  hookDeliveriesMs: number
  /** What they may take together. */
  hookDeliveriesBytes: number
  /** Ended runs with their steps, what was sent, events that a turn has shown. */
  finishedMs: number
  /** Events that wait and that no turn has shown. */
  waitingEventsMs: number
  /** Sessions of webhooks with their messages, from their last run on. */
  hookSessionsMs: number
  /** Messages of people's conversations that are over; undefined: for good. */
  endedSessionsMs: number | undefined
}

export const defaultKeepTimes: KeepTimes = {
  hookDeliveriesMs: 7 * day,
  hookDeliveriesBytes: 1024 ** 3,
  finishedMs: 30 * day,
  waitingEventsMs: 90 * day,
  hookSessionsMs: 30 * day,
  endedSessionsMs: undefined,
}

/** Delivery ids are remembered for a week: longer than any sender repeats. */
const keepInboxMs = 7 * day
/** What nobody has asked about for a week is no context any more. */
const keepGroupHistoryMs = 7 * day
/** More than a year, so that a month can be held against the same month of the year before. */
const keepUsageMs = 400 * day
const keepAuditMs = 90 * day
/** Apart, so that whoever can only knock, which is counted, cannot push out what was done. */
const mostAuditRows = { 0: 100_000, 1: 50_000 }
/** To find where its room ends takes longer than to remove these, which are small. */
const auditBatchRows = 50
/** Longer than a session that is in use goes on without a message in it. */
const keepSitesMs = 400 * day

/** Buttons of older messages no longer do anything. */
const keepButtonsMs = 90 * day
/** What tools have sent is known longer than any run lasts. */
const keepToolSendsMs = 7 * day

/** As long as a pairing code lives: after that nobody can be let in by it, and what they wrote is nobody's. */
const keepPairingMessagesMs = 60 * 60 * 1000

export interface Sweep {
  /** For the log. */
  name: string
  /** Undefined: such rows are kept for good. */
  keepMs: (keep: KeepTimes) => number | undefined
  /** Inside a transaction. */
  remove: (handle: SqliteHandle, before: number, limit: number) => number
}

/** By one statement with the time and the limit as its parameters. */
function plain(name: string, keepMs: Sweep["keepMs"], sql: string): Sweep {
  return { name, keepMs, remove: (handle, before, limit) => Number(handle.prepare(sql).run(before, limit).changes) }
}

/** Ids grow with time, so the oldest rows are found without an index of their own on the way in. */
const oldestById = (table: string, column: string) =>
  `delete from ${table} where id in
     (select id from (select id, ${column} as at from ${table} order by id limit ?2) where at < ?1)`
const oldestBy = (table: string, column: string, where: string) =>
  `delete from ${table} where id in
     (select id from ${table} where ${column} < ? and ${where} order by ${column} limit ?)`

const oldestByKey = (table: string, key: string, column = "created_at") =>
  `delete from ${table} where (${key}) in (select ${key} from ${table} where ${column} < ? order by ${column} limit ?)`

/** As the index of migration 0012 says it. */
const isHookSession = "substr(key, 7 + instr(substr(key, 7), ':'), 5) = 'hook:'"

export const sweeps: readonly Sweep[] = [
  plain("inbox", (keep) => Math.max(keepInboxMs, keep.hookDeliveriesMs), oldestById("inbox", "received_at")),
  plain("hook_delivery", (keep) => keep.hookDeliveriesMs, oldestById("hook_delivery", "received_at")),
  { name: "job", keepMs: (keep) => keep.finishedMs, remove: removeJobs },
  plain("outbox", (keep) => keep.finishedMs, oldestBy("outbox", "created_at", "state not in ('new', 'sending')")),
  plain("event", (keep) => keep.finishedMs, oldestBy("event", "created_at", "consumed_by is not null")),
  plain("waiting event", (keep) => keep.waitingEventsMs, oldestBy("event", "created_at", "consumed_by is null")),
  plain("group_history", () => keepGroupHistoryMs, oldestById("group_history", "created_at")),
  plain("queue_drop", (keep) => keep.finishedMs, oldestById("queue_drop", "created_at")),
  plain("unreadable_update", (keep) => keep.finishedMs, oldestById("unreadable_update", "received_at")),
  plain("approval", (keep) => keep.finishedMs, oldestBy("approval", "asked_at", "true")),
  plain("takeover", (keep) => keep.finishedMs, oldestBy("takeover", "asked_at", "true")),
  plain(
    "chat_button",
    () => keepButtonsMs,
    "delete from chat_button where key in (select key from chat_button where created_at < ? limit ?)",
  ),
  plain(
    "tool_send",
    () => keepToolSendsMs,
    `delete from tool_send where (run_id, digest) in
       (select run_id, digest from tool_send where created_at < ? limit ?)`,
  ),
  plain(
    "pairing_message",
    () => keepPairingMessagesMs,
    "delete from pairing_message where rowid in (select rowid from pairing_message where kept_at < ? limit ?)",
  ),
  plain(
    "session_site",
    () => keepSitesMs,
    `delete from session_site where (session_id, site) in
       (select session_id, site from session_site where created_at < ? limit ?)`,
  ),
  plain("usage", () => keepUsageMs, oldestBy("usage", "created_at", "true")),
  plain("budget_total", () => keepUsageMs, oldestByKey("budget_total", "scope, key, since", "updated_at")),
  plain("budget_hold", () => keepUsageMs, oldestByKey("budget_hold", "id")),
  plain("schedule_occurrence", () => keepUsageMs, oldestByKey("schedule_occurrence", "schedule_id, scheduled_at")),
  plain(
    "schedule",
    () => keepUsageMs,
    "delete from schedule where id in (select id from schedule where ended_at < ? order by ended_at limit ?)",
  ),
  plain("budget_grant", () => keepUsageMs, oldestByKey("budget_grant", "scope, key, since", "granted_at")),
  plain("budget_notice", () => keepUsageMs, oldestByKey("budget_notice", "scope, key, since, percent, most")),
  plain("budget_stopped", () => keepUsageMs, oldestByKey("budget_stopped", "run_id, scope, key")),
  plain("audit", () => keepAuditMs, oldestBy("audit", "last_at", "true")),
  { name: "audit beyond its room", keepMs: () => 0, remove: removeAuditBeyond },
  plain(
    "session",
    (keep) => keep.hookSessionsMs,
    `delete from session where key in (
       select key from session where ${isHookSession} and updated_at < ?
         and not exists (select 1 from job where lane_key = session.key and state in ('ready', 'running'))
       order by updated_at limit ?)`,
  ),
  { name: "message of a hook", keepMs: (keep) => keep.hookSessionsMs, remove: (...now) => removeMessages(1, ...now) },
  {
    name: "message of a deleted session",
    keepMs: () => 0,
    remove: (handle, _before, limit) => removeDeletedConversations(handle, limit),
  },
  { name: "message", keepMs: (keep) => keep.endedSessionsMs, remove: (...now) => removeMessages(0, ...now) },
  // After all that removes messages.
  { name: "words of removed messages", keepMs: () => 0, remove: (handle, _before, limit) => mergeWords(handle, limit) },
  {
    name: "message of the page's chat, of a deleted session",
    keepMs: () => 0,
    remove: (handle, _before, limit) =>
      Number(
        handle
          .prepare(
            `delete from web_message where id in (select web_message.id from web_chat
               cross join web_message on chat = key and web_message.id <= cleared_to where cleared_to > 0 limit ?)`,
          )
          .run(limit).changes,
      ),
  },
  // Of a conversation that goes on nothing is removed: what is older than it belongs to those that are over.
  plain(
    "message of the page's chat",
    (keep) => keep.endedSessionsMs,
    `delete from web_message where id in (select web_message.id from web_chat left join session on session.key = web_chat.key
       cross join web_message on chat = web_chat.key
         and web_message.created_at < min(?1, coalesce(session.created_at, ?1)) where web_chat.updated_at > 0 limit ?2)`,
  ),
]

/** Steps first, so that a run of ten thousand steps is removed in as many pieces as it takes. */
function removeJobs(handle: SqliteHandle, before: number, limit: number): number {
  const job = handle
    .prepare("select id from job where finished_at is not null and finished_at < ? order by finished_at limit 1")
    .get(before)
  const id = job?.["id"] as number | undefined
  if (id === undefined) return 0
  const steps = handle
    .prepare("delete from step where job_id = ?1 and n in (select n from step where job_id = ?1 order by n limit ?2)")
    .run(id, limit)
  if (Number(steps.changes) === limit) return limit
  handle.prepare("delete from job where id = ?").run(id)
  return Number(steps.changes) + 1
}

function removeAuditBeyond(handle: SqliteHandle): number {
  const statement = handle.prepare(
    `delete from audit where id in (select id from audit where counted = ?1 and id <=
       (select id from audit where counted = ?1 order by id desc limit 1 offset ?2) order by id limit ?3)`,
  )
  const removed = ([0, 1] as const).map((counted) =>
    Number(statement.run(counted, mostAuditRows[counted], auditBatchRows).changes),
  )
  return removed.reduce((sum, each) => sum + each, 0)
}

function removeMessages(machine: 0 | 1, handle: SqliteHandle, before: number, limit: number): number {
  const ended = handle
    .prepare("select session_id as id from ended_session where machine = ? and ended_at < ? order by ended_at limit 1")
    .get(machine, before)
  const id = ended?.["id"] as string | undefined
  if (id === undefined) return 0
  const messages = handle
    .prepare("delete from message where id in (select id from message where session_id = ? order by id limit ?)")
    .run(id, limit)
  if (Number(messages.changes) === limit) return limit
  handle.prepare("delete from ended_session where session_id = ?").run(id)
  return Number(messages.changes) + 1
}

/** Some of the messages of conversations that a person wanted gone, then these themselves; 0 when none is left. */
export function removeDeletedConversations(handle: SqliteHandle, limit: number): number {
  const row = handle.prepare("select session_id as id from conversation where deleted_at is not null limit 1").get()
  const id = row?.["id"] as string | undefined
  if (id === undefined) return 0
  const messages = handle
    .prepare("delete from message where id in (select id from message where session_id = ? order by id limit ?)")
    .run(id, limit)
  if (Number(messages.changes) === limit) return limit
  handle.prepare("delete from session_site where session_id = ?").run(id)
  handle.prepare("delete from ended_session where session_id = ?").run(id)
  handle.prepare("delete from conversation where session_id = ?").run(id)
  return Number(messages.changes) + 1
}
