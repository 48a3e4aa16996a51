// What a call of the chat tools does, in one form for both of them; and which of that a turn does by itself. A turn that
// has read words of others, or acts for somebody who is not trusted, touches its own chat and its own messages: whatever
// else it may do an owner has allowed.
import type { Gated, ToolContext } from "../../../agent/tool.ts"
import type { ReplyButton } from "../../../delivery/contract.ts"
import type { Json, JsonObject } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { Store } from "../../../store/index.ts"
import { isSameChat } from "./reach.ts"
import { isOfRun } from "./sends.ts"
import { isAddress } from "../media/take.ts"

export interface Place {
  to?: string | undefined
  threadId?: string | undefined
}

export interface SendInput extends Place {
  text: string
  media?: string | undefined
  asVoice?: boolean | undefined
  silent?: boolean | undefined
  replyTo?: string | undefined
  quote?: string | undefined
  buttons?: ReplyButton[][] | undefined
}

export interface StickerInput extends Place {
  fileId: string
  replyTo?: string | undefined
  silent?: boolean | undefined
}

export interface MessageInput extends Place {
  messageId: string
}

export interface EditInput extends MessageInput {
  text: string
  buttons?: ReplyButton[][] | undefined
}

export interface ReactInput extends MessageInput {
  emoji: string
  remove?: boolean | undefined
}

export type Deed =
  | { kind: "send"; input: SendInput }
  | { kind: "sticker"; input: StickerInput }
  | { kind: "edit"; input: EditInput }
  | { kind: "delete"; input: MessageInput }
  | { kind: "react"; input: ReactInput }

const verbs: Record<Deed["kind"], string> = {
  send: "Send a message to",
  sticker: "Send a sticker to",
  edit: "Edit a message in",
  delete: "Delete a message in",
  react: "React to a message in",
}

/** What it does, where. */
export function describeDeed(
  deed: Deed,
  { account, chatId, chatKind, threadId }: Route,
): Pick<Gated, "summary" | "action"> {
  const kind = chatKind === "private" ? "the private chat" : `the ${chatKind}`
  const topic = threadId === undefined ? "" : `, topic ${threadId}`
  const summary = `${verbs[deed.kind]} ${kind} ${chatId}${topic} of account ${account}`
  return { summary, action: { action: deed.kind, account, chatId, ...plain({ threadId, ...contentOf(deed) }) } }
}

/** Undefined when the turn does it by itself. `route` is where it happens. */
export function gateOf(store: Store, deed: Deed, route: Route, context: ToolContext): Gated | undefined {
  if (context.trusted && !context.tainted) return undefined
  const reason = reasonAgainst(store, deed, route, context)
  return reason === undefined ? undefined : { reason, ...describeDeed(deed, route) }
}

function reasonAgainst(store: Store, deed: Deed, route: Route, context: ToolContext): string | undefined {
  const { route: own, runId, sites, made } = context
  if (!own || !isSameChat(own, route)) return "This turn may only reach the chat that it answers"
  if (own.threadId !== route.threadId) return "This turn may only write to the topic that it answers"
  if (deed.kind === "send") {
    const { media } = deed.input
    if (media === undefined) return undefined
    // The address itself would carry words to whoever it names.
    if (isAddress(media))
      return sites.quotes(media)
        ? undefined
        : "This turn has read words of others and may not fetch files from the web to send them"
    // As with replies (`delivery/owners-file.ts`): others read along in a group.
    return own.chatKind === "private" || made?.(media)
      ? undefined
      : "This turn has read words of others and may not send files here that its tools have not made"
  }
  if (deed.kind === "sticker") return undefined
  const { messageId } = deed.input
  if (deed.kind === "react" && own.messageId === messageId) return undefined
  return isOfRun(store, runId, route, messageId)
    ? undefined
    : `This turn may only ${deed.kind === "react" ? "react to" : deed.kind} messages that it has sent itself`
}

function contentOf({ input }: Deed): Record<string, unknown> {
  const { to: _to, threadId: _threadId, ...content } = input
  return content
}

function plain(fields: Record<string, unknown>): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Record<string, Json>
}
