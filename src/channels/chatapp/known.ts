// Which chats the bot knows: people whom the operator has listed or paired, groups and channels that the configuration
// names, and groups where it is a member and somebody who may be heard there was. Having been told a pairing code, or
// having added the bot to a group, makes nobody known.
import type { Route } from "../../sessions/route.ts"
import type { Store, Write } from "../../store/index.ts"
import { isPairedSender, readPins } from "../store.ts"
import type { AccountSettings } from "./settings.ts"

type Chat = Pick<Route, "channel" | "account" | "chatId">

export function knowsChat(store: Store, settings: AccountSettings, chat: Chat): boolean {
  const { chatId } = chat
  if (chatId.startsWith("-")) return knowsGroup(store, settings, chat)
  if (chatId.startsWith("@")) return settings.groups?.[chatId] !== undefined
  if (settings.listedIds.has(chatId)) return true
  if (isPairedSender(store, chat.channel, chat.account, chatId)) return true
  // A listed @name is whoever it was pinned to.
  const pins = settings.listedNames.size === 0 ? [] : readPins(store, chat.channel, chat.account)
  return pins.some(({ name, senderId }) => senderId === chatId && settings.listedNames.has(name))
}

function knowsGroup(store: Store, settings: AccountSettings, chat: Chat): boolean {
  const group = settings.groupBook.of(chat.chatId)
  if (!group?.enabled) return false
  if (group.listed === "own") return true
  return settings.groupPolicy !== "disabled" && isMember(store, chat)
}

function isMember(store: Store, { channel, account, chatId }: Chat): boolean {
  const row = store.handle
    .prepare("select is_member from chat_membership where channel = ? and account = ? and chat_id = ?")
    .get(channel, account, chatId)
  return row?.["is_member"] === 1
}

export function noteMembership(write: Write, { channel, account, chatId }: Chat, isIn: boolean): void {
  write
    .prepare(
      `insert into chat_membership (channel, account, chat_id, is_member, changed_at) values (?, ?, ?, ?, ?)
       on conflict do update set is_member = excluded.is_member, changed_at = excluded.changed_at
       where is_member <> excluded.is_member`,
    )
    .run(channel, account, chatId, isIn ? 1 : 0, write.now)
}
