// sendPhoto, sendDocument and the like: one method a kind of file, all of one shape; and the ones without a file.
import type { Message } from "grammy/types"
import { badRequest } from "../errors.ts"
import { mediaFields, type MediaDetails, type MediaKind } from "../world/media.ts"
import type { Arguments } from "../wire/arguments.ts"
import { readInputFile } from "./input-file.ts"
import type { Method, MethodTable } from "./method.ts"
import { readDestination, sendMessage } from "./send-options.ts"
import { readCaption } from "./send-text.ts"

export const mediaMethods: MethodTable = {
  sendPhoto: sendMedia("photo", "photos"),
  sendDocument: sendMedia("document", "documents"),
  sendAudio: sendMedia("audio", "audios"),
  sendVoice: sendMedia("voice", "voice messages"),
  sendVideo: sendMedia("video", "videos"),
  sendVideoNote: sendMedia("video_note", "video notes"),
  sendAnimation: sendMedia("animation", "animations"),
  sendSticker: sendMedia("sticker", "stickers"),
  sendLocation: (call) => {
    const [latitude, longitude] = ["latitude", "longitude"].map((name) =>
      Number(call.arguments.text(name) || Number.NaN),
    )
    if (!Number.isFinite(latitude)) throw badRequest("Latitude is empty")
    if (!Number.isFinite(longitude)) throw badRequest("Longitude is empty")
    const location = { latitude: latitude ?? 0, longitude: longitude ?? 0 }
    return sendMessage(call, readDestination(call, "locations"), { location })
  },
  sendDice: (call) => {
    const emoji = call.arguments.text("emoji") || "🎲"
    const highest = { "🎲": 6, "🎯": 6, "🎳": 6, "🏀": 5, "⚽": 5, "🎰": 64 }[emoji]
    if (highest === undefined) throw badRequest("Wrong dice emoji specified")
    return sendMessage(call, readDestination(call, "dice"), {
      dice: { emoji, value: call.world.random.integer(1, highest) },
    })
  },
}

/** Kinds that carry no caption. */
const withoutCaption: ReadonlySet<MediaKind> = new Set(["sticker", "video_note"])

function sendMedia(kind: MediaKind, what: string): Method {
  return async (call): Promise<Message> => {
    const file = await readInputFile(call, kind, kind, call.arguments.text(kind))
    const caption = withoutCaption.has(kind) ? {} : readCaption(call)
    const destination = readDestination(call, what)
    const content = mediaFields(call.world, kind, file, readDetails(call.arguments))
    return sendMessage(call, destination, { ...content, ...caption, ...flags(call.arguments, kind) })
  }
}

function readDetails(source: Arguments): MediaDetails {
  return {
    ...(source.has("width") ? { width: source.integer("width") } : {}),
    ...(source.has("height") ? { height: source.integer("height") } : {}),
    ...(source.has("duration") ? { duration: source.integer("duration") } : {}),
    ...(source.has("title") ? { title: source.text("title") } : {}),
    ...(source.has("performer") ? { performer: source.text("performer") } : {}),
    ...(source.has("emoji") ? { emoji: source.text("emoji") } : {}),
  }
}

function flags(source: Arguments, kind: MediaKind): { has_media_spoiler?: true; show_caption_above_media?: true } {
  if (!["photo", "video", "animation"].includes(kind)) return {}
  return {
    ...(source.boolean("has_spoiler") ? { has_media_spoiler: true as const } : {}),
    ...(source.boolean("show_caption_above_media") ? { show_caption_above_media: true as const } : {}),
  }
}
