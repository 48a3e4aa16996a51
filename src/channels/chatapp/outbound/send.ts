// One outbox row -> one call -> what came of it. Never decides to send twice: that is the outbox's part.
import type { SendOutcome } from "../../../delivery/contract.ts"
import type { Route } from "../../../sessions/route.ts"
import type { OutboxRow } from "../../../store/index.ts"
import type { AlbumItem, CallResult } from "../client.ts"
import { sendAction } from "./action.ts"
import { inlineKeyboard } from "./buttons.ts"
import { callTimeoutMs } from "./limits.ts"
import { type OpenUpload, openUpload } from "./media.ts"
import { type MediaKind, mediaKind } from "./media-kind.ts"
import { type SentPayload, floodWaitMs, judgeMedia, judgeSend, wordsAlone } from "./outcome.ts"
import { type AlbumPayload, type FormattedText, isAction, type MediaPayload, type TextPayload } from "./payload.ts"
import type { SendContext } from "./send-context.ts"

export async function sendRow(row: OutboxRow, context: SendContext): Promise<SendOutcome> {
  if (isAction(row.kind)) return await sendAction(row, row.kind, context)
  const payload = JSON.parse(row.payload) as SentPayload
  const route = JSON.parse(row.route) as Route
  const chatId = payload.movedTo ?? row.chat_id
  if (payload.buttons) await context.keepLongValues(payload.buttons)
  const result = await send(row, payload, chatId, context)
  if (!("ok" in result)) return result
  if (result.ok) return { kind: "sent", remoteId: String(messageIdOf(result.value)) }
  const { failure } = result
  const waitMs = floodWaitMs(failure)
  if (waitMs !== undefined) context.onFlood(waitMs)
  const { retry } = context.settings
  const isReply = context.isReply(row)
  return judgeSend(failure, {
    payload,
    rowKind: row.kind,
    attempt: row.attempts,
    retry,
    chatKind: route.chatKind,
    isReply,
  })
}

/** What it counts for the platform's limits: an album each of its items. */
export function messageCount(row: OutboxRow): number {
  if (row.kind === "delete" || row.kind === "react") return 0
  return row.kind === "album" ? ((JSON.parse(row.payload) as Partial<AlbumPayload>).items?.length ?? 1) : 1
}

/** Its words went alone. */
export function lacksFile(row: Pick<OutboxRow, "kind" | "payload">): boolean {
  return row.kind !== "text" && !isAction(row.kind) && "text" in (JSON.parse(row.payload) as object)
}

interface SentMessage {
  message_id: number
}
type Sent = CallResult<SentMessage | SentMessage[]>

/** Of an album the first: it carries the caption, and is the one that people answer. */
function messageIdOf(sent: SentMessage | SentMessage[]): number | undefined {
  return (Array.isArray(sent) ? sent[0] : sent)?.message_id
}

async function send(
  row: OutboxRow,
  payload: SentPayload,
  chatId: string,
  context: SendContext,
): Promise<Sent | SendOutcome> {
  if ("text" in payload) {
    context.begin()
    return await sendText(payload, chatId, context)
  }
  if ("fileId" in payload) {
    context.begin()
    const sticker = { chat_id: chatId, sticker: payload.fileId, ...addressing(payload) }
    return await context.client.call("sendSticker", sticker, limits(context))
  }
  const open: OpenUpload[] = []
  try {
    for (const { path } of "items" in payload ? payload.items : [payload]) {
      open.push(await openUpload({ path, root: context.mediaRoot, maxMb: context.settings.mediaMaxMb }))
    }
    context.begin()
    return await ("items" in payload
      ? sendAlbum(payload, open, chatId, context)
      : sendMedia(row, payload, open[0] as OpenUpload, chatId, context))
  } catch (error) {
    const outcome = judgeMedia(error, { attempt: row.attempts, retry: context.settings.retry })
    if (outcome?.kind === "rejected")
      return wordsAlone(payload, { error: outcome.error, why: outcome.error, isReply: context.isReply(row) }) ?? outcome
    if (outcome) return outcome
    throw error
  } finally {
    await Promise.all(open.map((media) => media.close()))
  }
}

function sendText(payload: TextPayload, chatId: string, context: SendContext): Promise<Sent> {
  return context.client.call(
    "sendMessage",
    {
      chat_id: chatId,
      text: payload.text,
      ...(payload.parseMode ? { parse_mode: payload.parseMode } : {}),
      ...(payload.linkPreview ? {} : { link_preview_options: { is_disabled: true } }),
      ...addressing(payload),
    },
    limits(context),
  )
}

function sendMedia(
  row: OutboxRow,
  payload: MediaPayload,
  media: OpenUpload,
  chatId: string,
  context: SendContext,
): Promise<Sent> {
  const { client } = context
  const { upload } = media
  const common = { chat_id: chatId, ...captionOf(payload.caption), ...addressing(payload) }
  const wanted = payload.sendAs ?? (row.kind as MediaKind)
  switch (wanted === "photo" && !media.fitsPhoto ? "document" : wanted) {
    case "photo":
      return client.call("sendPhoto", { ...common, photo: upload }, limits(context, [media]))
    case "video":
      return client.call("sendVideo", { ...common, video: upload }, limits(context, [media]))
    case "animation":
      return client.call("sendAnimation", { ...common, animation: upload }, limits(context, [media]))
    case "audio":
      return client.call("sendAudio", { ...common, audio: upload }, limits(context, [media]))
    case "voice":
      return client.call("sendVoice", { ...common, voice: upload }, limits(context, [media]))
    case "document":
      return client.call("sendDocument", { ...common, document: upload }, limits(context, [media]))
  }
}

function sendAlbum(
  payload: AlbumPayload,
  open: readonly OpenUpload[],
  chatId: string,
  context: SendContext,
): Promise<Sent> {
  const kinds = payload.items.map(({ mediaType }) => (mediaKind(mediaType, false) === "video" ? "video" : "photo"))
  // Files do not mix with pictures: one that is no photo makes files of all.
  const asFiles =
    payload.sendAs === "document" || open.some(({ fitsPhoto }, index) => kinds[index] === "photo" && !fitsPhoto)
  const media: AlbumItem[] = open.map(({ upload }, index) => ({
    type: asFiles ? "document" : (kinds[index] ?? "photo"),
    media: upload,
    ...(index === 0 ? captionOf(payload.caption) : {}),
  }))
  return context.client.call(
    "sendMediaGroup",
    { chat_id: chatId, media, ...addressing(payload) },
    limits(context, open),
  )
}

function captionOf(caption: FormattedText | undefined) {
  if (!caption) return {}
  return { caption: caption.text, ...(caption.parseMode ? { parse_mode: caption.parseMode } : {}) }
}

function addressing(payload: SentPayload) {
  return {
    ...(payload.threadId === undefined ? {} : { message_thread_id: Number(payload.threadId) }),
    ...(payload.replyTo === undefined ? {} : { reply_parameters: replyParameters(payload.replyTo, payload.quote) }),
    ...(payload.silent ? { disable_notification: true } : {}),
    ...(payload.buttons ? { reply_markup: inlineKeyboard(payload.buttons) } : {}),
  }
}

/** The message may have been deleted meanwhile: the answer is worth more than the reference. */
function replyParameters(messageId: string, quote: string | undefined) {
  const reference = { message_id: Number(messageId), allow_sending_without_reply: true }
  return quote === undefined ? reference : { ...reference, quote }
}

function limits({ settings, signal }: SendContext, uploads: readonly OpenUpload[] = []) {
  const bytes = uploads.reduce((sum, { bytes: own }) => sum + own, 0)
  return { timeoutMs: callTimeoutMs(settings.timeoutSeconds, bytes), signal }
}
