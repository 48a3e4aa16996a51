// What another server answers, as the model may see it: text and pictures, within limits. Everything of it is foreign.
import type { ToolResult } from "../../agent/tool.ts"
import { isJsonObject } from "../../kernel/index.ts"
import { gifSize, maxPictureSide, pictureKind, pictureSize } from "../../kernel/picture-size.ts"
import type { ContentPart } from "../../models/contract.ts"
import type { CallOutcome } from "./library.ts"

/** Base64 characters of one picture, and how many of one result. */
const maxPictureChars = 6 * 1024 * 1024
const maxPictures = 4
/** Of one picture, to see what it is. */
const headChars = 88_000

export function resultOf({ content, structured, isError }: CallOutcome, maxChars: number): ToolResult {
  const texts: string[] = []
  const pictures: ContentPart[] = []
  for (const part of content) {
    const read = readPart(part)
    if (typeof read === "string") texts.push(read)
    else if (pictures.length < maxPictures) pictures.push(read)
    else texts.push("[one more picture]")
  }
  // The same again for programs; read where there is nothing for people.
  if (texts.length === 0 && structured !== undefined) texts.push(JSON.stringify(structured))
  const whole = texts.filter((text) => text !== "").join("\n")
  const text =
    whole.length <= maxChars
      ? whole
      : `${whole.slice(0, maxChars)}\n[cut after ${maxChars} of ${whole.length} characters]`
  const parts: ContentPart[] = [...(text === "" ? [] : [{ type: "text" as const, text }]), ...pictures]
  return {
    content: parts.length > 0 ? parts : [{ type: "text", text: "(no content)" }],
    ...(isError ? { isError } : {}),
  }
}

function readPart(part: unknown): string | ContentPart {
  if (!isJsonObject(part)) return ""
  const { type, text, data, mimeType, uri, resource } = part
  if (type === "text") return String(text ?? "")
  if (type === "image" && typeof data === "string") return readPicture(data, String(mimeType))
  if (type === "resource_link") return `[resource ${String(part["name"] ?? "")} ${String(uri ?? "")}]`
  if (type === "resource" && isJsonObject(resource)) {
    return typeof resource["text"] === "string" ? resource["text"] : `[resource ${String(resource["uri"] ?? "")}]`
  }
  return `[${String(type ?? "unknown")} ${String(mimeType ?? "")}]`
}

/** What it is said to be decides nothing: a request with a picture that is none would be refused by the model's provider. */
function readPicture(data: string, claimed: string): string | ContentPart {
  const head = Buffer.from(data.slice(0, headChars), "base64")
  const mediaType = pictureKind(head)
  if (mediaType === undefined) return `[image ${claimed}, which is no picture that models take]`
  if (data.length > maxPictureChars) return `[a picture of ${data.length} characters, which is too large]`
  const { width, height } = pictureSize(head) ?? gifSize(head) ?? { width: 1, height: 1 }
  const isShown = Math.min(width, height) > 0 && Math.max(width, height) <= maxPictureSide
  return isShown ? { type: "image", mediaType, data } : `[a picture of ${width} x ${height} pixels, which is too large]`
}
