// The SQL of channels: how far a bot's updates were read, who asked to be let in, who was, and whom @names stand for.
import type { Store, Write } from "../store/index.ts"

export interface PairingRequest {
  senderId: string
  code: string
  /** Who it is, in words for the operator. */
  label: string
  chatId: string
  createdAt: number
  lastSeenAt: number
  /** The operator said no: it is neither listed nor answered until it lapses. */
  denied: boolean
}

export interface NamePin {
  /** Lower-case, without the `@`. */
  name: string
  senderId: string
  pinnedAt: number
}

export interface PairedSender {
  senderId: string
  label: string
  approvedAt: number
  /** Who let them in; empty where that is not known. */
  approvedBy: string
}

/** Which bot of which account; offsets and delivery ids belong to a bot, so a new token starts afresh. */
export interface BotKey {
  channel: string
  account: string
  botId: string
}

export function readOffset(store: Store, bot: BotKey): number | undefined {
  const row = store.handle
    .prepare("select next_update from poll_offset where channel = ? and account = ? and bot_id = ?")
    .get(bot.channel, bot.account, bot.botId)
  return row?.next_update as number | undefined
}

export function saveOffset(write: Write, bot: BotKey, nextUpdate: number): void {
  write
    .prepare(
      `insert into poll_offset (channel, account, bot_id, next_update) values (?, ?, ?, ?)
       on conflict do update set next_update = excluded.next_update`,
    )
    .run(bot.channel, bot.account, bot.botId, nextUpdate)
}

/** Those of the delivery ids that are in the inbox already. */
export function knownDeliveries(store: Store, bot: BotKey, deliveryIds: readonly string[]): Set<string> {
  const rows = store.handle
    .prepare(
      `select delivery_id from inbox where source = ? and account = ?
         and delivery_id in (select value from json_each(?))`,
    )
    .all(bot.channel, bot.botId, JSON.stringify(deliveryIds)) as { delivery_id: string }[]
  return new Set(rows.map((row) => row.delivery_id))
}

/** Updates came by another way, in another order: the next poll begins with whatever the platform holds. */
export function deleteOffset(write: Write, bot: BotKey): void {
  write
    .prepare("delete from poll_offset where channel = ? and account = ? and bot_id = ?")
    .run(bot.channel, bot.account, bot.botId)
}

/** Groups and channels of a platform that a bot is, or was, in. */
export function readMemberships(
  store: Store,
  channel: string,
): { account: string; chatId: string; isMember: boolean }[] {
  const rows = store.handle
    .prepare("select account, chat_id as chatId, is_member from chat_membership where channel = ? order by chat_id")
    .all(channel) as unknown as { account: string; chatId: string; is_member: number }[]
  return rows.map(({ account, chatId, is_member }) => ({ account, chatId, isMember: is_member === 1 }))
}

export function readRequests(store: Store, channel: string, account: string): PairingRequest[] {
  const rows = store.handle
    .prepare(
      `select sender_id as senderId, code, label, chat_id as chatId, created_at as createdAt,
         last_seen_at as lastSeenAt, denied
       from pairing_request where channel = ? and account = ? order by created_at`,
    )
    .all(channel, account) as unknown as (Omit<PairingRequest, "denied"> & { denied: number })[]
  return rows.map((row) => ({ ...row, denied: row.denied === 1 }))
}

export function readPaired(store: Store, channel: string, account: string): PairedSender[] {
  return store.handle
    .prepare(
      `select sender_id as senderId, label, approved_at as approvedAt, approved_by as approvedBy
       from pairing_allow where channel = ? and account = ? order by approved_at`,
    )
    .all(channel, account) as unknown as PairedSender[]
}

export function isPairedSender(store: Store, channel: string, account: string, senderId: string): boolean {
  const row = store.handle
    .prepare("select 1 from pairing_allow where channel = ? and account = ? and sender_id = ?")
    .get(channel, account, senderId)
  return row !== undefined
}

/** Every account that has a request or somebody let in. */
export function readPairingAccounts(store: Store, channel: string): string[] {
  const rows = store.handle
    .prepare(
      "select account from pairing_request where channel = ? union select account from pairing_allow where channel = ?",
    )
    .all(channel, channel) as { account: string }[]
  return rows.map((row) => row.account)
}

export function saveRequest(write: Write, channel: string, account: string, request: PairingRequest): void {
  const { senderId, code, label, chatId, createdAt, lastSeenAt, denied } = request
  write
    .prepare(
      `insert into pairing_request (channel, account, sender_id, code, label, chat_id, created_at, last_seen_at, denied)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (channel, account, sender_id) do update set code = excluded.code, label = excluded.label,
         chat_id = excluded.chat_id, created_at = excluded.created_at, last_seen_at = excluded.last_seen_at,
         denied = excluded.denied`,
    )
    .run(channel, account, senderId, code, label, chatId, createdAt, lastSeenAt, denied ? 1 : 0)
}

export function deleteRequest(write: Write, channel: string, account: string, senderId: string): void {
  write
    .prepare("delete from pairing_request where channel = ? and account = ? and sender_id = ?")
    .run(channel, account, senderId)
  deleteMessage(write, channel, account, senderId)
}

/** Of all accounts together; beyond it the oldest give way, and their senders are asked to write again. */
const mostMessages = 1_000

export function saveMessage(write: Write, channel: string, account: string, senderId: string, body: string): void {
  write
    .prepare(
      `insert into pairing_message (channel, account, sender_id, body, kept_at) values (?, ?, ?, ?, ?)
       on conflict do update set body = excluded.body, kept_at = excluded.kept_at`,
    )
    .run(channel, account, senderId, body, write.now)
  write
    .prepare(
      `delete from pairing_message where rowid in
         (select rowid from pairing_message order by kept_at desc, rowid desc limit -1 offset ?)`,
    )
    .run(mostMessages)
}

export function deleteMessage(write: Write, channel: string, account: string, senderId: string): void {
  write
    .prepare("delete from pairing_message where channel = ? and account = ? and sender_id = ?")
    .run(channel, account, senderId)
}

export function readMessage(store: Store, channel: string, account: string, senderId: string): string | undefined {
  const row = store.handle
    .prepare("select body from pairing_message where channel = ? and account = ? and sender_id = ?")
    .get(channel, account, senderId)
  return row?.["body"] as string | undefined
}

/** Of whom something is kept. */
export function readMessageSenders(store: Store, channel: string, account: string): string[] {
  const rows = store.handle
    .prepare("select sender_id from pairing_message where channel = ? and account = ?")
    .all(channel, account) as { sender_id: string }[]
  return rows.map((row) => row.sender_id)
}

export function savePaired(write: Write, channel: string, account: string, sender: PairedSender): void {
  write
    .prepare(
      `insert into pairing_allow (channel, account, sender_id, label, approved_at, approved_by) values (?, ?, ?, ?, ?, ?)
       on conflict do update set label = excluded.label`,
    )
    .run(channel, account, sender.senderId, sender.label, sender.approvedAt, sender.approvedBy)
}

export function deletePaired(write: Write, channel: string, account: string, senderId: string): boolean {
  const { changes } = write
    .prepare("delete from pairing_allow where channel = ? and account = ? and sender_id = ?")
    .run(channel, account, senderId)
  markShutOut(write, { channel, account, senderId })
  return Number(changes) > 0
}

export function readPins(store: Store, channel: string, account: string): NamePin[] {
  return store.handle
    .prepare(
      `select name, sender_id as senderId, pinned_at as pinnedAt
       from name_pin where channel = ? and account = ? order by name`,
    )
    .all(channel, account) as unknown as NamePin[]
}

export function savePin(write: Write, channel: string, account: string, pin: NamePin): void {
  write
    .prepare(
      `insert into name_pin (channel, account, name, sender_id, pinned_at) values (?, ?, ?, ?, ?)
       on conflict do update set sender_id = excluded.sender_id, pinned_at = excluded.pinned_at`,
    )
    .run(channel, account, pin.name, pin.senderId, pin.pinnedAt)
}

export function deletePin(write: Write, channel: string, account: string, name: string): void {
  write.prepare("delete from name_pin where channel = ? and account = ? and name = ?").run(channel, account, name)
}

/** The lists of an account as they were last seen. */
export function readListed(store: Pick<Store, "handle">, { channel, account }: AccountKey): string | undefined {
  const row = store.handle.prepare("select value from meta where key = ?").get(`listed:${channel}:${account}`)
  return row?.["value"] as string | undefined
}

export function saveListed(write: Write, { channel, account }: AccountKey, listed: string): void {
  write.prepare(sqlSetMeta).run(`listed:${channel}:${account}`, listed)
}

interface AccountKey {
  channel: string
  account: string
}

interface Person extends AccountKey {
  senderId: string
}

/** In the place of a person's id: whoever could write because everybody could. */
export const everyoneElse = "*"

const sqlSetMeta = "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value"

/** What was begun for this person until now is not for them any more, even where nobody has asked for it. */
export function markShutOut(write: Write, person: Person): void {
  write.prepare(sqlSetMeta).run(shutOutKey(person), String(write.now))
}

/** When this person was shut out last, alone or with everybody; undefined for who never was. */
export function readShutOutAt(store: Pick<Store, "handle">): (person: Person) => number | undefined {
  const read = store.handle.prepare("select max(cast(value as integer)) as at from meta where key in (?, ?)")
  return (person) => {
    const at = read.get(shutOutKey(person), shutOutKey({ ...person, senderId: everyoneElse }))?.["at"]
    return typeof at === "number" ? at : undefined
  }
}

function shutOutKey({ channel, account, senderId }: Person): string {
  return `shut-out:${channel}:${account}:${senderId}`
}
