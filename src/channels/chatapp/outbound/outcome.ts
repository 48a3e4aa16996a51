// What a failed send means for its outbox row. The one question: can it have arrived? Only what cannot is sent again.
import type { SendOutcome } from "../../../delivery/contract.ts"
import {
  AppError,
  type Json,
  type RetryPolicy,
  backoffMs,
  describeError,
  isDiskFailure,
  isOutOfHandles,
} from "../../../kernel/index.ts"
import { type CallFailure, describeFailure } from "../failure.ts"
import type { AlbumPayload, FormattedText, MediaPayload, StickerPayload, TextPayload } from "./payload.ts"
import { escapeText } from "./spans.ts"

/** With a refused token nothing will arrive until a person has changed it. */
export const tokenRefusedDelayMs = 5 * 60 * 1000

const handlesDelayMs = 2_000

/** How long the platform asks to wait; undefined when it is not too many requests that it complains of. */
export function floodWaitMs(failure: CallFailure): number | undefined {
  if (failure.kind !== "refused" || (failure.code !== 429 && failure.retryAfterSeconds === undefined)) return undefined
  return Math.max(1, failure.retryAfterSeconds ?? 1) * 1000
}

export function isUnreadable(description: string): boolean {
  return /can't parse entities|entit(?:y|ies).{0,200}(?:invalid|too long)/i.test(description)
}

/** The next try; `attempt` is the one that failed. Without a number of tries the outbox decides how long it goes on. */
export function tryAgain(error: string, attempt: number, retry: RetryPolicy): SendOutcome {
  if (attempt >= retry.attempts) return { kind: "rejected", error: `${error} (given up after ${attempt} tries)` }
  return { kind: "retry", error, delayMs: backoffMs(retry, Math.min(attempt, 30)) }
}

/** Without handles nothing can be tried: that is no try, and lasts as long as it lasts. */
export function waitForHandles(error: string): SendOutcome {
  return { kind: "retry", error, delayMs: handlesDelayMs }
}

/** What it means that a file cannot be opened or read; undefined for what nobody expects. */
export function judgeMedia(
  error: unknown,
  { attempt, retry }: { attempt: number; retry: RetryPolicy },
): SendOutcome | undefined {
  if (isOutOfHandles(error)) return waitForHandles(describeError(error))
  // The file may be there again when the disk is; one that lies where the disk is broken must not hold its chat up.
  if (isDiskFailure(error)) return tryAgain(describeError(error), attempt, retry)
  return error instanceof AppError ? { kind: "rejected", error: error.message } : undefined
}

export type SentPayload = TextPayload | MediaPayload | AlbumPayload | StickerPayload

interface Judged {
  payload: SentPayload
  rowKind: string
  chatKind: string
  isReply: boolean
}

export function judgeSend(
  failure: CallFailure,
  context: Judged & { attempt: number; retry: RetryPolicy },
): SendOutcome {
  const error = describeFailure(failure)
  const again = () => tryAgain(error, context.attempt, context.retry)
  switch (failure.kind) {
    case "unsent":
      return failure.isOutOfHandles ? waitForHandles(error) : again()
    case "lost":
      return { kind: "uncertain", error }
    case "page":
      return (
        (failure.status === 413 && wordsAlone(context.payload, { ...context, error, why: tooLargeText })) ||
        judgePage(failure.status, error, again)
      )
    case "refused":
      return judgeRefusal(failure, context, again)
  }
}

/**
 * A page instead of an answer comes from a proxy before the platform. With 502 and 503 it could not hand the call on;
 * with 504 it did, and waited in vain. A refusal (4xx) or a redirect (3xx) was not carried out either; 413 and the like
 * will not change by asking again, 403 and 407 may (a network that wants a login first).
 */
function judgePage(status: number, error: string, again: () => SendOutcome): SendOutcome {
  if (status === 502 || status === 503 || (status >= 300 && status < 400)) return again()
  if (status === 403 || status === 407 || status === 429) return again()
  if (status >= 400 && status < 500) return { kind: "rejected", error }
  return { kind: "uncertain", error }
}

function judgeRefusal(
  failure: Extract<CallFailure, { kind: "refused" }>,
  { payload, rowKind, chatKind, isReply }: Judged,
  again: () => SendOutcome,
): SendOutcome {
  const error = describeFailure(failure)
  const { code, description } = failure
  const waitMs = floodWaitMs(failure)
  if (waitMs !== undefined) return { kind: "retry", delayMs: waitMs, error }
  if (failure.migratedTo !== undefined && failure.migratedTo !== payload.movedTo) {
    // Messages of the old chat have other numbers in the new one.
    const { replyTo: _old, quote: _words, ...rest } = payload
    return replace({ ...rest, movedTo: failure.migratedTo }, error)
  }
  if (code === 401) return { kind: "retry", delayMs: tokenRefusedDelayMs, error }
  if (code >= 500) return again()
  if (isUnreadable(description)) {
    const plain = toPlainPayload(payload)
    if (plain) return replace(plain, error)
  }
  // The words that were to be shown beside the reference are not in that message (any more).
  if (payload.quote !== undefined && /quote/i.test(description)) {
    const { quote: _gone, ...rest } = payload
    return replace(rest, error)
  }
  const other = sentOtherwise(payload, rowKind, description)
  if (other) return replace(other, error)
  const words = isFileRefused(description)
    ? wordsAlone(payload, { error, why: refusedText(description), isReply })
    : undefined
  if (words) return words
  // The topic of a private chat is gone; the same person still reads the chat itself.
  if (chatKind === "private" && payload.threadId !== undefined && /thread not found|topic_/i.test(description)) {
    const { threadId: _gone, ...rest } = payload
    return replace(rest, error)
  }
  return { kind: "rejected", error }
}

function replace(payload: SentPayload, error: string): SendOutcome {
  return { kind: "replace", payload: payload as unknown as Json, error }
}

/** The chat, or the platform, takes no such file; words it may take. */
function isFileRefused(description: string): boolean {
  return /not enough rights to send (?!text)|chat_send_[a-z]{1,30}_forbidden|entity too large|file is too big/i.test(
    description,
  )
}

const tooLargeText = "The file cannot be sent: it is too large"

function refusedText(description: string): string {
  return `The file cannot be sent: ${description.replace(/^[A-Z][\w ]{0,40}: /, "")}`
}

/** The words that a file would have had below it, and why it is missing; of an answer that has none why alone. */
export function wordsAlone(
  payload: SentPayload,
  { error, why, isReply }: { error: string; why: string; isReply: boolean },
): SendOutcome | undefined {
  if ("text" in payload || "fileId" in payload) return undefined
  const { caption, path: _path, mediaType: _type, items: _items, sendAs: _as, ...rest } = payload as Captioned
  if (!caption) return isReply ? replace({ ...rest, ...plainText(`(${why})`) }, error) : undefined
  const note = `\n\n(${why})`
  const text = caption.text + (caption.parseMode ? escapeText(note) : note)
  // Below a file no link shows a preview.
  return replace({ ...rest, ...caption, text, plain: caption.plain + note, linkPreview: false }, error)
}

function plainText(text: string): TextPayload {
  return { text, plain: text, linkPreview: false }
}

type Captioned = Partial<MediaPayload & AlbumPayload>

/** A file that the platform does not take as what it was sent as; each goes on as something simpler. */
function sentOtherwise(payload: SentPayload, rowKind: string, description: string): SentPayload | undefined {
  if ("text" in payload || "fileId" in payload || payload.sendAs === "document" || rowKind === "document")
    return undefined
  if ("items" in payload) {
    return /photo_|video_|image_process|wrong type/i.test(description) ? { ...payload, sendAs: "document" } : undefined
  }
  const kind = payload.sendAs ?? rowKind
  if (kind === "voice" && /voice_messages_forbidden/i.test(description)) return { ...payload, sendAs: "audio" }
  const unfit = /photo_|video_|audio_|voice_|image_process|wrong type|file_content_type/i.test(description)
  return unfit ? { ...payload, sendAs: "document" } : undefined
}

/** Undefined when it is plain already. */
function toPlainPayload(payload: SentPayload): SentPayload | undefined {
  if ("text" in payload) return payload.parseMode ? unformatted(payload) : undefined
  if ("fileId" in payload) return undefined
  const { caption } = payload
  return caption?.parseMode ? { ...payload, caption: unformatted(caption) } : undefined
}

function unformatted<T extends FormattedText>(formatted: T): T {
  const { parseMode: _mode, ...rest } = formatted
  return { ...rest, text: rest.plain } as T
}
