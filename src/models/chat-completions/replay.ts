// Reasoning of earlier replies -> the fields under which this server wants it back. What a part's `meta` holds was put
// there by `reply.ts` when the reply was read: `{field}`, `{field, reasoning_details}` or `{field, signature}`.
import type { Json, JsonObject } from "../../kernel/index.ts"
import type { AssistantPart } from "../providers/contract.ts"
import type { Ways } from "./presets.ts"

const plainFields = ["reasoning_content", "reasoning", "reasoning_text"] as const
type PlainField = (typeof plainFields)[number]

/** Fields to lay over the message; `content` is among them where reasoning is part of it. */
export function replayedReasoning(parts: readonly AssistantPart[], ways: Ways): JsonObject {
  const fields = reasoningFields(parts, ways)
  const { reasoningFiller: filler } = ways
  if (filler === undefined || (filler.on === "calls" && !parts.some(({ type }) => type === "call"))) return fields
  return Object.keys(fields).length > 0 ? fields : { reasoning_content: filler.text }
}

function reasoningFields(parts: readonly AssistantPart[], ways: Ways): JsonObject {
  const thoughts = parts.filter((part) => part.type === "reasoning")
  if (thoughts.length === 0 || ways.reasoningField === "none") return {}
  const details = thoughts.flatMap(({ meta }) => asList(meta?.["reasoning_details"]))
  const text = thoughts
    .map((part) => part.text.toWellFormed())
    .filter((each) => each !== "")
    .join("\n")
  const blocks = thoughts.flatMap(({ meta }) => asList(meta?.["thinking_blocks"]))
  const signed: JsonObject = blocks.length === 0 ? {} : { thinking_blocks: blocks }
  const plain = (field: PlainField): JsonObject => (text === "" ? signed : { [field]: text, ...signed })
  switch (ways.reasoningField) {
    case "reasoning_content":
    case "reasoning":
      return plain(ways.reasoningField)
    case "reasoning_details":
      return details.length > 0 ? { reasoning_details: details } : plain("reasoning")
    case "content":
      return thinkingContent(parts)
    case "as-received": {
      if (details.length > 0) return { reasoning_details: details }
      const names = thoughts.map(({ meta }) => meta?.["field"])
      if (names.includes("content")) return thinkingContent(parts)
      const field = plainFields.find((name) => names.includes(name))
      // Reasoning that came inside the text has no field, and a name that a server does not know can be refused.
      return field === undefined ? {} : plain(field)
    }
  }
}

function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

/** mistralai/client-python ThinkChunk: `thinking` is a list of texts, `signature` replays a block. */
function thinkingContent(parts: readonly AssistantPart[]): JsonObject {
  const content = parts.flatMap((part): JsonObject[] => {
    if (part.type === "call" || part.text === "") return []
    const text = part.text.toWellFormed()
    if (part.type === "text") return [{ type: "text", text }]
    const signature = part.meta?.["signature"]
    return [{ type: "thinking", thinking: [{ type: "text", text }], ...(signature === undefined ? {} : { signature }) }]
  })
  return content.length === 0 ? {} : { content }
}
