// sendMediaGroup: several photos, videos, documents or audios as one album.
import type { Message } from "grammy/types"
import { badRequest } from "../errors.ts"
import { mediaFields, type MediaKind } from "../world/media.ts"
import { postMessage, type MessageFields } from "../world/deliver.ts"
import { Arguments, parseJson } from "../wire/arguments.ts"
import { readInputFile } from "./input-file.ts"
import type { MethodCall, MethodTable } from "./method.ts"
import { readDestination } from "./send-options.ts"
import { readCaption } from "./send-text.ts"

const maxItems = 10
const albumKinds: ReadonlySet<string> = new Set(["photo", "video", "document", "audio"])

export const albumMethods: MethodTable = { sendMediaGroup }

interface AlbumItem {
  kind: MediaKind
  fields: MessageFields
}

async function sendMediaGroup(call: MethodCall): Promise<Message[]> {
  const items: AlbumItem[] = []
  for (const value of readMediaList(call.arguments.text("media"))) items.push(await readItem(call, value))
  checkMix(items)
  const { room, fields } = readDestination(call, "photos")
  const isPrivate = room.kind() === "private"
  call.bot.flood.countMessage(room.chat.id, isPrivate, items.length)
  const album = items.length > 1 ? { media_group_id: call.world.takeAlbumId() } : {}
  return items.map((item) => postMessage(call.world, room, { ...fields, ...album, ...item.fields }, call.bot))
}

function readMediaList(json: string): Record<string, unknown>[] {
  if (json === "") throw badRequest("There are no messages to send")
  const value = parseJson(json, () => badRequest("Can't parse media JSON object"))
  if (!Array.isArray(value)) throw badRequest("Expected an Array of InputMedia")
  if (value.length === 0) throw badRequest("There are no messages to send")
  if (value.length > maxItems) throw badRequest("Too many messages to send as an album")
  return value.map((item: unknown) => {
    if (typeof item !== "object" || item === null) throw badRequest("Can't parse InputMedia: expected an Object")
    return item as Record<string, unknown>
  })
}

async function readItem(call: MethodCall, value: Record<string, unknown>): Promise<AlbumItem> {
  const kind = String(value["type"])
  if (!albumKinds.has(kind)) throw badRequest(`Can't parse InputMedia: type "${kind}" can't be used in sendMediaGroup`)
  return { kind: kind as MediaKind, fields: await readInputMedia(call, kind as MediaKind, value) }
}

/** Message fields of an InputMedia object: its file and its caption. */
export async function readInputMedia(
  call: MethodCall,
  kind: MediaKind,
  value: Record<string, unknown>,
): Promise<MessageFields> {
  const media = typeof value["media"] === "string" ? value["media"] : ""
  if (media === "") throw badRequest("Can't parse InputMedia: media not found")
  const file = await readInputFile(call, kind, "media", media)
  const captionFields = new Map(
    ["caption", "parse_mode", "caption_entities"].flatMap((name) => {
      const field = value[name]
      if (field === undefined) return []
      return [[name, typeof field === "string" ? field : JSON.stringify(field)] as [string, string]]
    }),
  )
  const caption = readCaption({ ...call, arguments: new Arguments(captionFields) })
  return { ...mediaFields(call.world, kind, file), ...caption }
}

/** Documents and audios keep to themselves; photos and videos mix. */
function checkMix(items: AlbumItem[]): void {
  const kinds = new Set(items.map((item) => item.kind))
  for (const kind of ["document", "audio"] as const) {
    if (kinds.has(kind) && kinds.size > 1)
      throw badRequest(`${kind === "audio" ? "Audio" : "Document"} can't be mixed with other media types`)
  }
}
