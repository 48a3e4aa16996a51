// What is done to a message that is there already: edit, delete, react. Rows of the outbox like sends; edits and deletions
// keep their place in the chat, reactions are decoration and have a lane of their own. Doing them twice changes nothing, so whatever went wrong on the way is tried again.
import type { SendOutcome } from "../../../delivery/contract.ts"
import type { Json } from "../../../kernel/index.ts"
import type { OutboxRow } from "../../../store/index.ts"
import type { CallResult } from "../client.ts"
import { type CallFailure, describeFailure } from "../failure.ts"
import { inlineKeyboard } from "./buttons.ts"
import { callTimeoutMs, decorationTimeoutMs } from "./limits.ts"
import { floodWaitMs, isUnreadable, tokenRefusedDelayMs, tryAgain, waitForHandles } from "./outcome.ts"
import type { ActionKind, DeletePayload, EditPayload, ReactPayload } from "./payload.ts"
import type { SendContext } from "./send-context.ts"

export type ActionContext = Omit<SendContext, "mediaRoot">

export async function sendAction(row: OutboxRow, kind: ActionKind, context: ActionContext): Promise<SendOutcome> {
  const payload = JSON.parse(row.payload) as EditPayload | DeletePayload | ReactPayload
  if ("buttons" in payload && payload.buttons) await context.keepLongValues(payload.buttons)
  context.begin()
  const result = await call(row, kind, payload, context)
  // An edit is a further row of the message: whose words it holds now, and which buttons it has, is known by that.
  const done = kind === "edit" ? { kind: "sent" as const, remoteId: payload.messageId } : { kind: "sent" as const }
  if (result.ok) return done
  const { failure } = result
  if (failure.kind === "refused" && isDone(kind, payload, failure.description)) return done
  const waitMs = floodWaitMs(failure)
  if (waitMs !== undefined) context.onFlood(waitMs)
  return judge(row, payload, failure, context)
}

function call(
  row: OutboxRow,
  kind: ActionKind,
  payload: EditPayload | DeletePayload | ReactPayload,
  { client, settings, signal }: ActionContext,
): Promise<CallResult<unknown>> {
  const longestMs = callTimeoutMs(settings.timeoutSeconds)
  const timeoutMs = kind === "react" ? Math.min(decorationTimeoutMs, longestMs) : longestMs
  const limits = { timeoutMs, signal }
  const message = { chat_id: row.chat_id, message_id: Number(payload.messageId) }
  if (kind === "delete") return client.call("deleteMessage", message, limits)
  if (kind === "react") {
    const { emoji } = payload as ReactPayload
    const reaction = emoji === null ? [] : [{ type: "emoji" as const, emoji }]
    return client.call("setMessageReaction", { ...message, reaction }, limits)
  }
  const { text, parseMode, linkPreview, buttons, isCaption } = payload as EditPayload
  const edited = {
    ...message,
    ...(parseMode ? { parse_mode: parseMode } : {}),
    ...(buttons && buttons.length > 0 ? { reply_markup: inlineKeyboard(buttons) } : {}),
  }
  if (isCaption) return client.call("editMessageCaption", { ...edited, caption: text }, limits)
  const preview = linkPreview ? {} : { link_preview_options: { is_disabled: true } }
  return client.call("editMessageText", { ...edited, text, ...preview }, limits)
}

/** It is as it was meant to be. */
function isDone(kind: ActionKind, payload: object, description: string): boolean {
  if (kind === "edit") return /message is not modified/i.test(description)
  const isTakenBack = kind === "react" && (payload as ReactPayload).emoji === null
  if (isTakenBack) return /message to react not found/i.test(description)
  return kind === "delete" && /message to delete not found/i.test(description)
}

function judge(
  row: OutboxRow,
  payload: EditPayload | DeletePayload | ReactPayload,
  failure: CallFailure,
  { settings: { retry } }: ActionContext,
): SendOutcome {
  const error = describeFailure(failure)
  const waitMs = floodWaitMs(failure)
  if (waitMs !== undefined) return { kind: "retry", delayMs: waitMs, error }
  if (failure.kind === "unsent" && failure.isOutOfHandles) return waitForHandles(error)
  if (failure.kind === "refused") {
    if (failure.code === 401) return { kind: "retry", delayMs: tokenRefusedDelayMs, error }
    if ("parseMode" in payload && isUnreadable(failure.description)) {
      const { parseMode: _mode, ...rest } = payload
      return { kind: "replace", payload: { ...rest, text: rest.plain } as unknown as Json, error }
    }
    if ("linkPreview" in payload && !payload.isCaption && /no text in the message to edit/i.test(failure.description))
      return { kind: "replace", payload: { ...payload, isCaption: true } as unknown as Json, error }
    if (failure.code < 500) return { kind: "rejected", error }
  }
  return tryAgain(error, row.attempts, retry)
}
