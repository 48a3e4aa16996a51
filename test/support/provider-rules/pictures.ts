// What kind of picture bytes really are, by the marks at their beginning.

export const commonPictureTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])

/** Undefined: none of the four that every provider knows. */
export function pictureTypeOf(base64: string): string | undefined {
  // 24 characters are the first 18 bytes, which hold every mark.
  const bytes = Buffer.from(base64.slice(0, 24), "base64")
  const starts = (mark: string, from = 0) => bytes.subarray(from, from + mark.length).toString("latin1") === mark
  if (starts("\u0089PNG")) return "image/png"
  if (starts("\u00ff\u00d8\u00ff")) return "image/jpeg"
  if (starts("GIF8")) return "image/gif"
  if (starts("RIFF") && starts("WEBP", 8)) return "image/webp"
  return undefined
}

export function parseDataUrl(url: string): { mediaType: string; data: string } | undefined {
  if (!url.startsWith("data:")) return undefined
  const comma = url.indexOf(",")
  if (comma === -1) return undefined
  const [mediaType = "", ...parameters] = url.slice(5, comma).split(";")
  return parameters.includes("base64") ? { mediaType, data: url.slice(comma + 1) } : undefined
}
