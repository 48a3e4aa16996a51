// What another server answers, as the model may see it: text and pictures, within limits. Everything of it is foreign.
import type { ToolResult } from "../../agent/tool.ts"
import { isJsonObject } from "../../kernel/index.ts"
import type { ContentPart } from "../../models/contract.ts"
import type { CallOutcome } from "./library.ts"

/** Base64 characters of one picture, and how many of one result. */
const maxPictureChars = 6 * 1024 * 1024
const maxPictures = 4
const pictureTypes = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"])

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
  if (type === "image" && typeof data === "string" && pictureTypes.has(String(mimeType))) {
    return data.length <= maxPictureChars
      ? { type: "image", mediaType: String(mimeType), data }
      : `[a picture of ${data.length} characters, which is too large]`
  }
  if (type === "resource_link") return `[resource ${String(part["name"] ?? "")} ${String(uri ?? "")}]`
  if (type === "resource" && isJsonObject(resource)) {
    return typeof resource["text"] === "string" ? resource["text"] : `[resource ${String(resource["uri"] ?? "")}]`
  }
  return `[${String(type ?? "unknown")} ${String(mimeType ?? "")}]`
}
