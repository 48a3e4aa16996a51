// May whoever speaks here be heard? The account's settings, pairing and pins put to the rules of access. Messages, clicks
// and reactions ask the same question.
import type { Chat } from "grammy/types"
import type { Asker } from "../../../agent/turn-input.ts"
import type { Origin, Route } from "../../../sessions/route.ts"
import {
  type AccessDecision,
  type DirectQuestion,
  type GroupQuestion,
  type NamesOfId,
  type PlaceSettings,
  type Sender,
  directRules,
  firstDecision,
  groupRules,
} from "../../access.ts"
import type { AccountSettings } from "../settings.ts"
import { isDirect } from "./place.ts"
import type { PlanContext } from "./planned.ts"

export interface Asked {
  chat: Pick<Chat, "type"> & { id: number | string }
  /** Topic of a forum; the general one is "1". */
  topicId?: string | undefined
  sender: Sender
}

export interface AccessFacts {
  settings: AccountSettings
  paired: ReadonlySet<string>
  namesOf: NamesOfId
}

/** Before it judges, whoever writes under a listed name is seen: the first of them is who the name stands for. */
export function decideAccess(asked: Asked, context: Pick<PlanContext, "settings" | "book" | "pins">): AccessDecision {
  const { settings, book, pins } = context
  pins.see(asked.sender)
  const facts: AccessFacts = { settings, paired: book.paired, namesOf: (id) => pins.namesOf(id) }
  return isDirect(asked.chat)
    ? firstDecision(directRules, directQuestion(asked, facts))
    : firstDecision(groupRules, groupQuestion(asked, facts))
}

/** Who a decision lets speak, in the words of whatever comes of it. */
export function askerOf({ id, username }: Sender, { origin, trusted }: { origin: Origin; trusted: boolean }): Asker {
  return { id, ...(username === undefined ? {} : { username }), origin, isAuthorised: trusted }
}

/** Judged by what holds now; nobody is seen or pinned by it. */
export function isStillHeard({ chatId, chatKind, threadId }: Route, asker: Asker, facts: AccessFacts): boolean {
  const { id, username, origin, isAuthorised } = asker
  const asked: Asked = { chat: { id: chatId, type: chatKind }, topicId: threadId, sender: { id, username } }
  const decision = isDirect(asked.chat)
    ? firstDecision(directRules, directQuestion(asked, facts))
    : firstDecision(groupRules, groupQuestion(asked, facts))
  return decision.kind === "accept" && rankOf(decision) >= rankOf({ origin, trusted: isAuthorised })
}

function rankOf({ origin, trusted }: { origin: Origin; trusted: boolean }): number {
  if (!trusted) return 0
  return origin === "owner" ? 2 : 1
}

export function directQuestion({ sender }: Asked, { settings, paired, namesOf }: AccessFacts): DirectQuestion {
  return { policy: settings.dmPolicy, allow: settings.allow, paired, sender, namesOf }
}

export function groupQuestion(asked: Asked, { settings, paired, namesOf }: AccessFacts): GroupQuestion {
  return {
    policy: settings.groupPolicy,
    isChannel: asked.chat.type === "channel",
    group: settings.groupBook.of(String(asked.chat.id)),
    place: placeSettings(settings, asked),
    groupAllow: settings.groupAllow,
    directAllow: settings.allow,
    paired,
    sender: asked.sender,
    namesOf,
  }
}

/** What is configured for a group or its topic; undefined in direct chats and for groups that are not listed. */
export function placeSettings(settings: AccountSettings, asked: Omit<Asked, "sender">): PlaceSettings | undefined {
  if (isDirect(asked.chat)) return undefined
  const group = settings.groupBook.of(String(asked.chat.id))
  return (asked.topicId === undefined ? undefined : group?.topics.get(asked.topicId)) ?? group
}
