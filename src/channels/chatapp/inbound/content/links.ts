// Formatting that carries words of its own: a link behind a text is written as a Markdown link, so that the model sees
// where it leads. Everything else of the formatting is left out.
import type { MessageEntity } from "grammy/types"

/** Offsets are in UTF-16 code units, as those of the language are. Links never overlap. */
export function withLinks(text: string, entities: readonly MessageEntity[] | undefined): string {
  if (!entities?.some((entity) => entity.type === "text_link")) return text
  let result = ""
  let copied = 0
  for (const entity of entities) {
    if (entity.type !== "text_link" || entity.offset < copied) continue
    const end = entity.offset + entity.length
    const label = text.slice(entity.offset, end)
    // An address that stands there anyway is not said twice.
    const link = sameAddress(label, entity.url) ? label : `[${label}](${entity.url})`
    result += text.slice(copied, entity.offset) + link
    copied = end
  }
  return result + text.slice(copied)
}

function sameAddress(label: string, url: string): boolean {
  const plain = (address: string) =>
    address
      .trim()
      .replace(/^https?:\/\//i, "")
      .replace(/\/$/, "")
      .toLowerCase()
  return plain(label) === plain(url)
}
