// What a group said without asking the agent: message that needs no answer -> row of its session -> shown once, in front
// of the next turn, inside a boundary. The rows are used up in the transaction that keeps the prompt; those of a turn
// that came to nothing are shown once more.
import type { SQLInputValue } from "node:sqlite"
import type { Message } from "grammy/types"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { groupKey, mainKey } from "../../../sessions/keys.ts"
import type { Route } from "../../../sessions/route.ts"
import type { Write } from "../../../store/index.ts"
import { type AccountSettings, channelName } from "../settings.ts"

export interface HistoryLine {
  account: string
  sessionKey: string
  message: Message
  senderId: string
  /** Name of whoever spoke. */
  sender: string
  text: string
  /** All of its words are those of somebody with standing. */
  trusted: boolean
  now: number
}

interface HistoryRow {
  id: number
  message_id: number
  sender: string
  text: string
  trusted: number
  said_at: number
  created_at: number
  consumed_by: number | null
  shown: number
}

/** Fifty messages of the platform's greatest length would fill a small model's context. */
const maxChars = 1_000
/** A turn that came to nothing gives its history back once: what it was shown may be why it failed. */
const maxShown = 2

const sqlInsert = `insert into group_history
  (account, session_key, chat_id, message_id, sender_id, sender, text, trusted, said_at, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
const sqlEdit = `update group_history set text = ?
  where chat_id = ? and message_id = ? and account = ? and consumed_by is null`
const sqlTrim = `delete from group_history where session_key = ?1 and account = ?2 and id <=
  (select id from group_history where session_key = ?1 and account = ?2 order by id desc limit 1 offset ?3)`

type Row = { sql: string; values: SQLInputValue[] }

export function historyRow(line: HistoryLine): Row {
  const { account, sessionKey, message, senderId, sender, text, trusted, now } = line
  const { chat, message_id: messageId, date } = message
  const said = shorten(text)
  const chatId = String(chat.id)
  const values = [account, sessionKey, chatId, messageId, senderId, sender, said, trusted ? 1 : 0, date, now]
  return { sql: sqlInsert, values }
}

/** Nothing happens when the message is not in the history, or was shown already. */
export function historyEdit(account: string, message: Message, text: string): Row {
  return { sql: sqlEdit, values: [shorten(text), String(message.chat.id), message.message_id, account] }
}

/** Inside the transaction that added rows to these sessions. */
export function trimHistory(write: Write, account: string, sessionKeys: Iterable<string>, limit: number): void {
  for (const sessionKey of sessionKeys) write.prepare(sqlTrim).run(sessionKey, account, limit)
}

/** The turn's input with what was said before it; inside the transaction that keeps its prompt. */
export function showHistory(
  write: Write,
  input: TurnInput,
  settings: (account: string) => Pick<AccountSettings, "historyLimit">,
): TurnInput {
  const { route, sessionKey } = input
  if (route?.channel !== channelName || route.chatKind === "private") return input
  const job = write
    .prepare(
      `select id, created_at from job
       where lane_key = ? and state in ('ready', 'running') and state = 'running' limit 1`,
    )
    .get(sessionKey) as { id: number; created_at: number } | undefined
  if (!job) return input
  const rows = write
    .prepare("select * from group_history where session_key = ? and account = ? order by id")
    .all(historyKeyOf(input, route), route.account) as unknown as HistoryRow[]
  const { shown, gone } = sortOut(write, rows, { sessionKey, job, messageId: Number(route.messageId) })
  const { historyLimit } = settings(route.account)
  const taken = historyLimit === 0 ? [] : shown.slice(-historyLimit)
  const kept = new Set(taken)
  for (const row of [...gone, ...shown.filter((each) => !kept.has(each))]) {
    write.prepare("delete from group_history where id = ?").run(row.id)
  }
  for (const row of taken) {
    write.prepare("update group_history set consumed_by = ?, shown = shown + 1 where id = ?").run(job.id, row.id)
  }
  return taken.length === 0 ? input : withHistory(input, taken)
}

/** In a session that groups share (`session.scope`) each is shown only what was said in itself. */
function historyKeyOf({ sessionKey, agentId }: TurnInput, { chatId, threadId }: Route): string {
  return sessionKey === mainKey(agentId) ? groupKey(agentId, channelName, chatId, threadId) : sessionKey
}

function sortOut(
  write: Write,
  rows: readonly HistoryRow[],
  turn: { sessionKey: string; job: { id: number; created_at: number }; messageId: number },
): { shown: HistoryRow[]; gone: HistoryRow[] } {
  const shown: HistoryRow[] = []
  const gone: HistoryRow[] = []
  for (const row of rows) {
    if (row.consumed_by === null) {
      // What came after the message that is answered belongs to the next turn.
      if (row.message_id < turn.messageId || row.created_at < turn.job.created_at) shown.push(row)
    } else if (row.shown < maxShown && cameToNothing(write, row.consumed_by, turn.sessionKey)) shown.push(row)
    else gone.push(row)
  }
  return { shown, gone }
}

/** A turn that failed or was stopped before it left a word in the transcript. */
function cameToNothing(write: Write, jobId: number, sessionKey: string): boolean {
  const ended = write.prepare("select 1 from job where id = ? and state in ('dead', 'cancelled')").get(jobId)
  if (!ended) return false
  const told = write
    .prepare(
      `select 1 from message where job_id = ? and session_id = (select session_id from session where key = ?) limit 1`,
    )
    .get(jobId, sessionKey)
  return told === undefined
}

function withHistory(input: TurnInput, rows: readonly HistoryRow[]): TurnInput {
  const isTrusted = rows.every((row) => row.trusted === 1)
  const label = `Messages in this chat since the last turn that were not for you, oldest first (${rows.length}):`
  return {
    ...input,
    trusted: input.trusted && isTrusted,
    // The words of others beside them take the sender's authority, not their form.
    ...(input.trusted && !isTrusted ? { wrap: false } : {}),
    context: [{ label, text: rows.map(lineOf).join("\n") }, ...(input.context ?? [])],
  }
}

/** Continuation lines are indented, so that no line of a message can pass for another message. */
function lineOf(row: HistoryRow): string {
  const time = new Date(row.said_at * 1000).toISOString().slice(0, 16)
  const number = row.message_id > 0 ? `#${row.message_id} ` : ""
  return `${number}${time}Z ${oneLine(row.sender)}: ${row.text.replace(newlines, "\n  ")}`
}

const newlines = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g

function oneLine(text: string): string {
  return text.replace(newlines, " ")
}

function shorten(text: string): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text
}
