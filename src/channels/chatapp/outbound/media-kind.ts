// How a file is sent: by its media type, as the platform shows it; what it does not know goes as a file.

export type MediaKind = "photo" | "video" | "animation" | "audio" | "voice" | "document"

/** Others (HEIC, TIFF, SVG) are not taken as photos. */
const photoTypes = new Set(["image/jpeg", "image/png", "image/webp"])
/** What can be a voice message: OGG with Opus, MP3, M4A. */
const voiceTypes = new Set(["audio/ogg", "audio/opus", "audio/mpeg", "audio/mp4", "audio/x-m4a", "audio/m4a"])

export function mediaKind(mediaType: string, asVoice: boolean): MediaKind {
  const type = mediaType.toLowerCase().split(";")[0]?.trim() ?? ""
  if (type === "image/gif") return "animation"
  if (photoTypes.has(type)) return "photo"
  if (asVoice && voiceTypes.has(type)) return "voice"
  if (type === "video/mp4" || type === "video/quicktime") return "video"
  if (type.startsWith("audio/")) return "audio"
  return "document"
}
