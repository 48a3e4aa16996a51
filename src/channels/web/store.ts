// The tables `web_message` and `web_chat`: what people see in the page's chat, and its conversations.
import type { ReplyButton } from "../../delivery/contract.ts"
import type { Json } from "../../kernel/index.ts"
import { agentOfKey } from "../../sessions/index.ts"
import { isPicture } from "../shared/media/sniff.ts"
import { type IngestEntry, type Provenance, type Store, type Write, provenanceOf } from "../../store/index.ts"
import { type WebConversation, type WebFile, type WebMessage, type WebUnsent, webChannel } from "./contract.ts"

export interface StoredFile extends Omit<WebFile, "isPicture"> {
  /** Below the folder of the chat's files. */
  stored?: string
}

export interface NewMessage {
  chat: string
  ref: string
  side: "in" | "out"
  runId: string | null
  text: string
  thinking?: string
  files: StoredFile[]
  buttons?: ReplyButton[][]
  replyTo?: string
  origin: string | null
  trusted: number | null
}

const columns = "chat, ref, side, run_id, text, thinking, files, buttons, reply_to, origin, trusted, created_at"
const sqlInsert = `insert or ignore into web_message (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

function valuesOf(message: NewMessage, now: number) {
  const { chat, ref, side, runId, text, thinking, files, buttons, replyTo, origin, trusted } = message
  return [
    chat,
    ref,
    side,
    runId,
    text,
    thinking ?? null,
    jsonOf(files),
    jsonOf(buttons),
    replyTo ?? null,
    origin,
    trusted,
    now,
  ]
}

const jsonOf = (list: readonly unknown[] | undefined) =>
  list === undefined || list.length === 0 ? null : JSON.stringify(list)

/** For `IngestEntry.rows`: written with what it causes. */
export function messageRow(message: NewMessage, now: number): NonNullable<IngestEntry["rows"]>[number] {
  return { sql: sqlInsert, values: valuesOf(message, now) }
}

/** The same message comes once, however often it is sent. */
export function addMessage(write: Write, message: NewMessage): void {
  write.prepare(sqlInsert).run(...valuesOf(message, write.now))
}

interface Row {
  id: number
  chat: string
  ref: string
  side: "in" | "out"
  run_id: string | null
  text: string
  thinking: string | null
  files: string | null
  buttons: string | null
  reply_to: string | null
  reaction: string | null
  origin: string | null
  trusted: number | null
  created_at: number
  edited_at: number | null
  deleted_at: number | null
}

function parse<Item>(json: string | null): Item[] {
  return json === null ? [] : (JSON.parse(json) as Item[])
}

/** A message that was taken back says nothing any more. */
function shown(row: Row): WebMessage {
  const isDeleted = row.deleted_at !== null
  const { id, chat, ref, side } = row
  return {
    id,
    chat,
    ref,
    side,
    runId: row.run_id,
    text: row.text,
    thinking: row.thinking,
    files: parse<StoredFile>(row.files).map(({ stored: _stored, ...file }) => ({
      ...file,
      isPicture: isPicture(file.mediaType),
    })),
    buttons: parse<ReplyButton[]>(row.buttons).map((line) =>
      line.map(({ text, style }) => (style === undefined ? { text } : { text, style })),
    ),
    replyTo: row.reply_to,
    reaction: row.reaction,
    createdAt: row.created_at,
    editedAt: row.edited_at,
    isDeleted,
  }
}

export function messagesByIds({ handle }: Store, ids: readonly number[]): WebMessage[] {
  const rows = handle
    .prepare("select * from web_message where id in (select value from json_each(?)) order by id")
    .all(JSON.stringify(ids)) as unknown as Row[]
  return rows.map(shown)
}

export interface HistoryPage {
  limit: number
  before?: number | undefined
  /** The ones that came next, in place of the newest. */
  after?: number | undefined
}

export function readMessages(
  { handle }: Store,
  chat: string,
  { limit, before, after }: HistoryPage,
): { items: WebMessage[]; next: number | null } {
  const rows = handle
    .prepare(
      `select * from web_message where chat = ?1 and id < ?2 and deleted_at is null
         and id > max(?4, coalesce((select cleared_to from web_chat where key = ?1), 0))
       order by id ${after === undefined ? "desc" : "asc"} limit ?3`,
    )
    .all(chat, before ?? Number.MAX_SAFE_INTEGER, limit + 1, after ?? 0) as unknown as Row[]
  const found = rows.slice(0, limit)
  const items = (after === undefined ? found : found.toReversed()).map(shown)
  return {
    items,
    next: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
  }
}

/** Newest first; those that were cleared are not among them. */
export function readConversations({ handle }: Store, limit: number): WebConversation[] {
  const rows = handle
    .prepare(
      `select key, title, preview, last_id as lastId, updated_at as updatedAt from web_chat
       where last_id > cleared_to order by updated_at desc, key limit ?`,
    )
    .all(limit) as unknown as Omit<WebConversation, "agent">[]
  return rows.map((row) => ({ ...row, agent: agentOfKey(row.key) ?? "" }))
}

/** What people see of one message, and what stands behind it. */
export interface KeptMessage {
  id: number
  text: string
  side: "in" | "out"
  files: StoredFile[]
  buttons: ReplyButton[][]
  /** Whose words it holds, where that is known. */
  provenance: Provenance | undefined
}

/** Undefined for one that there is not, or that was taken back. */
export function findMessage({ handle }: Store, chat: string, ref: string): KeptMessage | undefined {
  const row = handle
    .prepare("select * from web_message where ref = ? and chat = ? and deleted_at is null")
    .get(ref, chat) as Row | undefined
  return row && kept(row)
}

export function messageById({ handle }: Store, id: number): KeptMessage | undefined {
  const row = handle.prepare("select * from web_message where id = ? and deleted_at is null").get(id) as Row | undefined
  return row && kept(row)
}

function kept(row: Row): KeptMessage {
  const { id, text, side } = row
  return { id, text, side, files: parse(row.files), buttons: parse(row.buttons), provenance: provenanceOf(row) }
}

/** Whether there was one to change. */
export function changeMessage(
  write: Write,
  chat: string,
  ref: string,
  change:
    | { kind: "edit"; text: string; buttons?: ReplyButton[][]; origin: string | null; trusted: number | null }
    | { kind: "delete" }
    | { kind: "react"; emoji: string | null },
): boolean {
  const at = "where ref = ? and chat = ? and deleted_at is null"
  const run = (set: string, ...values: (string | number | null)[]) =>
    Number(write.prepare(`update web_message set ${set} ${at}`).run(...values, ref, chat).changes) > 0
  switch (change.kind) {
    case "edit": {
      const { text, buttons, origin, trusted } = change
      const keyboard = buttons === undefined ? "" : ", buttons = ?"
      // What stays of it, such as its buttons, stays the words of whoever wrote them.
      const whose = "origin = iif(trusted = 1, ?, origin), trusted = iif(trusted = 1, ?, trusted)"
      const set = `text = ?, edited_at = ?, ${whose}${keyboard}`
      return run(set, text, write.now, origin, trusted, ...(buttons === undefined ? [] : [jsonOf(buttons)]))
    }
    case "delete":
      return run("text = '', thinking = null, files = null, buttons = null, deleted_at = ?", write.now)
    case "react":
      return run("reaction = ?", change.emoji)
  }
}

/** Deliveries of this chat that failed or are in doubt, and that it does not show. */
export function readUnsent({ handle }: Store, chat: string): WebUnsent[] {
  const rows = handle
    .prepare(
      `select id, state, error, coalesce(json_extract(payload, '$.text'), '') as text from outbox
       where state in ('uncertain', 'dead') and channel = ? and chat_id = ?
         and not exists (select 1 from web_message where ref = cast(outbox.id as text))
       order by id desc limit 20`,
    )
    .all(webChannel, chat) as unknown as { id: number; state: WebUnsent["state"]; error: string | null; text: string }[]
  return rows.map(({ id, ...rest }) => ({ delivery: id, ...rest }))
}

export function runOfJob({ handle }: Pick<Store, "handle">, jobId: number | null): string | null {
  if (jobId === null) return null
  const row = handle.prepare("select run_id as run from job where id = ?").get(jobId) as { run: string } | undefined
  return row?.run ?? null
}

export const asJson = (value: object): Json => value as Json
