// OpenRouter's `reasoning_details` and LiteLLM's `thinking_blocks`: pieces in, the array out that they want back. Pieces of one text become one entry;
// signatures and encrypted entries stay as they are, in their order.
import { isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"

const wordsKeys = ["text", "summary", "thinking"] as const
type WordsKey = (typeof wordsKeys)[number]

interface Entry {
  fields: JsonObject
  key: WordsKey | undefined
  pieces: string[]
}

export function createReasoningDetails() {
  const entries: Entry[] = []
  return {
    /** Returns the words among them. */
    add(details: readonly Json[]): string {
      return details
        .filter(isJsonObject)
        .map((each) => addEntry(entries, each))
        .join("")
    },
    get size() {
      return entries.length
    },
    whole: (): JsonObject[] =>
      entries.map(({ fields, key, pieces }) => (key === undefined ? fields : { ...fields, [key]: pieces.join("") })),
  }
}

function addEntry(entries: Entry[], detail: JsonObject): string {
  const key = wordsKeys.find((name) => typeof detail[name] === "string")
  const words = key === undefined ? "" : String(detail[key])
  const last = entries.at(-1)
  if (last && goesOn(last, detail, key)) {
    const said = Object.entries(detail).filter(([name, value]) => name !== key && value !== null)
    Object.assign(last.fields, Object.fromEntries(said))
    last.key ??= key
    if (key !== undefined) last.pieces.push(words)
  } else entries.push({ fields: { ...detail }, key, pieces: key === undefined ? [] : [words] })
  return words
}

/** Encrypted entries are whole; of the others, those of one kind and place in a row are one. */
function goesOn(last: Entry, detail: JsonObject, key: Entry["key"]): boolean {
  const { type, index, id } = detail
  if (typeof detail["data"] === "string" || last.fields["data"] !== undefined) return false
  if (type !== last.fields["type"] || index !== last.fields["index"]) return false
  // A block of Anthropic's ends with its signature.
  if (type === "thinking" && Boolean(last.fields["signature"])) return false
  const lastId = last.fields["id"]
  if (typeof id === "string" && typeof lastId === "string" && id !== lastId) return false
  return key === undefined || last.key === undefined || key === last.key
}
