// Which files a message carries and what the platform says about them: what is fetched when the turn begins. Data
// only, because it is part of the job.
import { maxPictureBytes } from "../../../shared/media/shown.ts"
import type { Document, Message, PhotoSize, Sticker } from "grammy/types"

export type FileKind = "photo" | "document" | "audio" | "voice" | "video" | "video_note" | "animation" | "sticker"

/** A type and not an interface: it is kept as JSON. */
export type RemoteFile = {
  kind: FileKind
  messageId: number
  /** The message that is answered carries it, not the message itself. */
  ofReply?: true
  fileId: string
  uniqueId: string
  /** As the platform says. */
  bytes?: number
  mediaType?: string
  /** Smaller forms of the same picture, or a still of a film: the largest first. */
  previews?: { fileId: string; uniqueId: string; bytes?: number }[]
  sticker?: StickerFacts
}

export type StickerFacts = { emoji: string; setName: string }

/** Models scale pictures down to less than that, and some take no more of several at once. */
const maxSide = 2_000

/** A sticker that moves cannot be shown to a model: it has no file here. */
export function filesOf(message: Message): RemoteFile[] {
  try {
    return carriedBy(message).filter(({ fileId, uniqueId }) => Boolean(fileId && uniqueId))
  } catch (error) {
    // A later version of the platform has changed the kind: its words are shown, its file is not.
    if (error instanceof TypeError) return []
    throw error
  }
}

function carriedBy(message: Message): RemoteFile[] {
  const { message_id: messageId } = message
  if (message.photo && message.photo.length > 0) return [photo(messageId, message.photo)]
  if (message.animation) return [file("animation", messageId, message.animation)]
  if (message.video) return [file("video", messageId, message.video)]
  if (message.video_note) return [file("video_note", messageId, message.video_note)]
  if (message.audio) return [file("audio", messageId, message.audio)]
  if (message.voice) return [file("voice", messageId, message.voice)]
  if (message.document) return [file("document", messageId, message.document)]
  if (message.sticker) return stickerFile(messageId, message.sticker)
  const paid = message.paid_media?.paid_media.flatMap((item) => {
    if (item.type === "photo") return [photo(messageId, item.photo)]
    return item.type === "video" ? [file("video", messageId, item.video)] : []
  })
  return paid ?? []
}

/** The largest size that a model takes as it is; the platform has made the smaller ones already. */
function photo(messageId: number, sizes: readonly PhotoSize[]): RemoteFile {
  const largestFirst = [...sizes].sort((a, b) => b.width * b.height - a.width * a.height)
  const fits = (size: PhotoSize) =>
    Math.max(size.width, size.height) <= maxSide && (size.file_size ?? 0) <= maxPictureBytes
  const first = Math.max(largestFirst.findIndex(fits), 0)
  const [chosen, ...smaller] = largestFirst.slice(first) as [PhotoSize, ...PhotoSize[]]
  return {
    ...file("photo", messageId, chosen),
    ...(smaller.length === 0 ? {} : { previews: smaller.map(preview) }),
  }
}

function stickerFile(messageId: number, sticker: Sticker): RemoteFile[] {
  if (sticker.is_animated || sticker.is_video) return []
  return [{ ...file("sticker", messageId, sticker), sticker: stickerFacts(sticker) }]
}

export function stickerFacts(sticker: Sticker): StickerFacts {
  return { emoji: sticker.emoji ?? "", setName: sticker.set_name ?? "" }
}

type Carried = Pick<Document, "file_id" | "file_unique_id" | "file_size" | "mime_type" | "thumbnail">

function file(kind: FileKind, messageId: number, carried: Carried): RemoteFile {
  return {
    kind,
    messageId,
    fileId: carried.file_id,
    uniqueId: carried.file_unique_id,
    ...(carried.file_size === undefined ? {} : { bytes: carried.file_size }),
    ...(carried.mime_type === undefined ? {} : { mediaType: carried.mime_type }),
    ...(carried.thumbnail && kind !== "sticker" ? { previews: [preview(carried.thumbnail)] } : {}),
  }
}

function preview(size: PhotoSize): NonNullable<RemoteFile["previews"]>[number] {
  return {
    fileId: size.file_id,
    uniqueId: size.file_unique_id,
    ...(size.file_size === undefined ? {} : { bytes: size.file_size }),
  }
}
