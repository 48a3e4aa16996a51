// What a file looks like inside of a message: photo sizes, document, sticker and so on.
import type { Animation, Audio, Document, PhotoSize, Sticker, Video, VideoNote, Voice } from "grammy/types"
import type { FileKind, StoredFile } from "../files.ts"
import { imageSize } from "../image-size.ts"
import type { MessageFields } from "./deliver.ts"
import type { World } from "./world.ts"

export type MediaKind = Exclude<FileKind, "thumbnail">

/** What a sender may say about a file; the platform would find out most of it by itself. */
export interface MediaDetails {
  width?: number
  height?: number
  duration?: number
  title?: string
  performer?: string
  emoji?: string
  setName?: string
  isAnimated?: boolean
  isVideo?: boolean
}

/** Longest sides of the sizes that the platform makes of a photo. */
const photoSides = [90, 320, 800, 1280, 2560]

/** Fields of a message that shows this file. */
export function mediaFields(
  world: World,
  kind: MediaKind,
  file: StoredFile,
  details: MediaDetails = {},
): MessageFields {
  switch (kind) {
    case "photo":
      return { photo: photoSizes(world, file) }
    case "document":
      return { document: documentOf(file) }
    case "audio":
      return { audio: audioOf(file, details) }
    case "voice":
      return { voice: voiceOf(file, details) }
    case "video":
      return { video: { ...frameOf(file, details), ...documentOf(file) } as Video }
    case "animation":
      return { animation: { ...frameOf(file, details), ...documentOf(file) } as Animation, document: documentOf(file) }
    case "video_note":
      return {
        video_note: { ...ids(file), length: details.width ?? 240, duration: details.duration ?? 0 } as VideoNote,
      }
    case "sticker":
      return { sticker: stickerOf(file, details) }
  }
}

function ids(file: StoredFile): { file_id: string; file_unique_id: string; file_size: number } {
  return { file_id: file.fileId, file_unique_id: file.uniqueId, file_size: file.bytes.length }
}

function documentOf(file: StoredFile): Document {
  return { ...ids(file), file_name: file.name, mime_type: file.mimeType }
}

function audioOf(file: StoredFile, { duration = 0, title, performer }: MediaDetails): Audio {
  const tags = { ...(title === undefined ? {} : { title }), ...(performer === undefined ? {} : { performer }) }
  return { ...documentOf(file), duration, ...tags }
}

function voiceOf(file: StoredFile, { duration = 0 }: MediaDetails): Voice {
  return { ...ids(file), duration, mime_type: file.mimeType }
}

function frameOf(file: StoredFile, { width, height, duration = 0 }: MediaDetails) {
  const size = imageSize(file.bytes)
  return { width: width ?? size?.width ?? 0, height: height ?? size?.height ?? 0, duration }
}

function stickerOf(file: StoredFile, details: MediaDetails): Sticker {
  const size = imageSize(file.bytes)
  return {
    ...ids(file),
    type: "regular",
    width: details.width ?? size?.width ?? 512,
    height: details.height ?? size?.height ?? 512,
    is_animated: details.isAnimated ?? file.mimeType === "application/x-tgsticker",
    is_video: details.isVideo ?? file.mimeType === "video/webm",
    ...(details.emoji === undefined ? {} : { emoji: details.emoji }),
    ...(details.setName === undefined ? {} : { set_name: details.setName }),
  }
}

/** The photo in all its sizes, smallest first. Every size holds the original bytes: the emulator does not scale. */
function photoSizes(world: World, original: StoredFile): PhotoSize[] {
  const { width, height } = imageSize(original.bytes) ?? { width: 1, height: 1 }
  const longest = Math.max(width, height)
  const smaller = photoSides.filter((side) => side < longest)
  const sizes = smaller.map((side) => {
    const { bytes, name, mimeType } = original
    const copy = world.files.add({ kind: "photo", bytes, name: `${side}-${name}`, mimeType })
    const scale = side / longest
    return {
      ...ids(copy),
      width: Math.max(1, Math.round(width * scale)),
      height: Math.max(1, Math.round(height * scale)),
    }
  })
  return [...sizes, { ...ids(original), width, height }]
}
