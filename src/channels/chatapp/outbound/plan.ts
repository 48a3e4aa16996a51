// Reply -> outbox rows: media first with the beginning of the text as caption, then the rest in chunks. Pure and quick.
import type { Reply, ReplyButton, ReplyMedia } from "../../../delivery/contract.ts"
import { AppError, type Json } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { NewOutbox } from "../../../store/index.ts"
import { type AccountSettings, maxTextChars } from "../settings.ts"
import { addressOf } from "./address.ts"
import { type Chunk, chunkPieces, chunkWithCaption } from "./chunk.ts"
import { type MediaKind, mediaKind } from "./media-kind.ts"
import type {
  AlbumPayload,
  EditPayload,
  FormattedText,
  MediaPayload,
  RowKind,
  StickerPayload,
  TextPayload,
} from "./payload.ts"
import type { Renderer } from "./render.ts"
import type { Piece } from "./spans.ts"

/** The platform's limit of a caption. */
const maxCaptionChars = 1024

const maxQuoteChars = 1024
/** Of one album. */
const maxAlbumItems = 10

export function planReply(account: AccountSettings, render: Renderer, route: Route, reply: Reply): NewOutbox[] {
  const settings = reply.noPreview ? { ...account, linkPreview: false } : account
  const pieces = [...thinking(reply.reasoning), ...render(reply.text, settings.markdown?.tables)]
  const { textChunkLimit: text, chunkMode: mode } = settings
  const { caption, rest } =
    reply.media.length > 0
      ? chunkWithCaption(pieces, { caption: maxCaptionChars, text, mode })
      : { caption: undefined, rest: chunkPieces(pieces, text, mode) }
  const rows = [
    ...mediaGroups(reply).map((group, index) => mediaRow(group, index === 0 ? caption : undefined)),
    ...rest.map((chunk) => textRow(chunk, settings)),
  ]
  return rows.map(({ kind, payload }, index) => ({
    ...addressOf(route),
    kind,
    payload: {
      ...payload,
      ...addressing(settings, route, reply, index),
      // Albums take none: their text, if any, comes after them.
      ...(reply.buttons && index === rows.length - 1 && kind !== "album" ? { buttons: reply.buttons } : {}),
    } as unknown as Json,
  }))
}

/** As much as a person will read in front of an answer. */
const maxThinkingChars = 3_000

/** Folded away: it is there for whoever wants it. */
function thinking(reasoning = ""): Piece[] {
  const thought = reasoning.trim()
  if (thought === "") return []
  const shown =
    thought.length <= maxThinkingChars
      ? thought
      : `${thought
          .slice(0, maxThinkingChars)
          .replace(/[\ud800-\udbff]$/, "")
          .trimEnd()}…`
  return [
    { text: `🤔 ${shown}`, spans: [{ style: "longQuote", detail: "" }] },
    { text: "\n\n", spans: [] },
  ]
}

/** Of files that the platform has. It takes addresses in their place, and would fetch what they name. */
const fileIdPattern = /^[\w-]+$/

/** The row of a sticker that the platform knows already. Throws `bad-request`. */
export function planSticker(
  settings: AccountSettings,
  route: Route,
  { fileId, replyTo, silent }: { fileId: string; replyTo?: string | undefined; silent?: boolean | undefined },
): NewOutbox {
  if (!fileIdPattern.test(fileId)) {
    throw new AppError("bad-request", "fileId is not the id of a sticker", { hint: "sticker-search gives them" })
  }
  const wanted = { ...settings, replyToMode: "first" as const }
  const reply: Reply = {
    text: "",
    media: [],
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(silent ? { silent } : {}),
  }
  const payload: StickerPayload = { fileId, ...addressing(wanted, route, reply, 0) }
  return { ...addressOf(route), kind: "sticker", payload: payload as unknown as Json }
}

/** The row that puts another text into a message; a text that needs more than one is not accepted. */
export function planEdit(
  settings: AccountSettings,
  render: Renderer,
  route: Route,
  edit: { messageId: string; text: string; buttons?: ReplyButton[][] },
): NewOutbox {
  const [chunk, ...more] = chunkPieces(render(edit.text, settings.markdown?.tables), maxTextChars)
  if (!chunk || more.length > 0) throw new AppError("bad-request", chunk ? "The text is too long" : "The text is empty")
  const { messageId, buttons } = edit
  const payload: EditPayload = {
    ...formatted(chunk),
    messageId,
    linkPreview: settings.linkPreview,
    ...(buttons ? { buttons } : {}),
  }
  return { ...addressOf(route), kind: "edit", payload: payload as unknown as Json }
}

/** The general topic of a forum has this id, and sends that name it are refused. In private chats it is a topic like others. */
const generalTopic = "1"

function addressing(settings: AccountSettings, route: Route, reply: Reply, index: number) {
  const isFirst = index === 0 && !reply.isReferred
  const refers = settings.replyToMode === "all" || (settings.replyToMode === "first" && isFirst)
  const namesThread = route.threadId !== undefined && (route.chatKind === "private" || route.threadId !== generalTopic)
  // Nothing else puts a message below a post.
  const replyTo = refers ? (reply.replyTo ?? route.commentsOf) : route.commentsOf
  return {
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(refers && reply.replyTo !== undefined && reply.quote ? { quote: reply.quote.slice(0, maxQuoteChars) } : {}),
    ...(namesThread ? { threadId: route.threadId } : {}),
    ...(reply.silent ? { silent: true } : {}),
  }
}

interface Row {
  kind: RowKind
  payload: TextPayload | MediaPayload | AlbumPayload
}

function textRow(chunk: Chunk, settings: AccountSettings): Row {
  return { kind: "text", payload: { ...formatted(chunk), linkPreview: settings.linkPreview } }
}

interface MediaGroup {
  kind: MediaKind
  files: ReplyMedia[]
}

/** Pictures and videos that follow each other go together, everything else alone; the order stays. */
function mediaGroups(reply: Reply): MediaGroup[] {
  const groups: MediaGroup[] = []
  for (const file of reply.media) {
    const kind = mediaKind(file.mediaType, reply.asVoice === true)
    const last = groups.at(-1)
    const joins = last && isPictorial(kind) && isPictorial(last.kind) && last.files.length < maxAlbumItems
    if (joins) last.files.push(file)
    else groups.push({ kind, files: [file] })
  }
  return groups
}

function isPictorial(kind: MediaKind): boolean {
  return kind === "photo" || kind === "video"
}

function mediaRow({ kind, files }: MediaGroup, chunk: Chunk | undefined): Row {
  const caption = chunk ? { caption: formatted(chunk) } : {}
  const items = files.map(({ path, mediaType }) => ({ path, mediaType }))
  const [only] = items
  return only && items.length === 1
    ? { kind, payload: { ...only, ...caption } }
    : { kind: "album", payload: { items, ...caption } }
}

function formatted({ html, plain }: Chunk): FormattedText {
  // Without any markup there is nothing that could be refused.
  return html === plain ? { text: plain, plain } : { text: html, plain, parseMode: "HTML" }
}
