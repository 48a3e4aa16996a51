// Content blocks of the Messages interface as the package demands them: each begun once, empty, with an index, changed
// only by deltas of its kind, and ended. Blocks of kinds that nobody asked for are left out.
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/index.ts"

interface Block {
  type: "text" | "thinking" | "tool_use"
  /** What stood in the block's beginning, for a call whose input does not come in pieces. */
  input: string | undefined
}

export interface Blocks {
  start(value: JsonObject): JsonObject[]
  change(value: JsonObject): JsonObject[]
  stop(value: JsonObject): JsonObject[]
  /** Ends what has not been ended. */
  stopAll(): JsonObject[]
}

const deltaFields: Readonly<Record<string, { field: string; of: Block["type"] } | undefined>> = {
  text_delta: { field: "text", of: "text" },
  thinking_delta: { field: "thinking", of: "thinking" },
  signature_delta: { field: "signature", of: "thinking" },
  input_json_delta: { field: "partial_json", of: "tool_use" },
}

export function createBlocks(): Blocks {
  const open = new Map<number, Block>()
  let started = 0
  let current = 0
  /** Some proxies leave the index out: then the block is the last one. */
  const indexOf = (value: JsonObject) => {
    current = typeof value.index === "number" ? value.index : current
    return current
  }

  function start(value: JsonObject): JsonObject[] {
    current = typeof value.index === "number" ? value.index : started
    started += 1
    const block = isJsonObject(value.content_block) ? value.content_block : {}
    const begun = beginBlock(block, current)
    if (begun === undefined) return []
    open.set(current, begun.block)
    const first = { type: "content_block_start", index: current, content_block: begun.empty }
    const index = current
    return [first, ...begun.deltas.map((delta) => ({ type: "content_block_delta", index, delta }))]
  }

  function change(value: JsonObject): JsonObject[] {
    const index = indexOf(value)
    const delta = isJsonObject(value.delta) ? value.delta : {}
    const kind = typeof delta.type === "string" ? delta.type : ""
    const expected = Object.hasOwn(deltaFields, kind) ? deltaFields[kind] : undefined
    if (expected === undefined) return []
    // A proxy that begins no blocks.
    const isUnbegun = !open.has(index) && (kind === "text_delta" || kind === "thinking_delta")
    const begun = isUnbegun ? start({ index, content_block: { type: expected.of } }) : []
    const block = open.get(index)
    if (block?.type !== expected.of) return begun
    const piece = textOf(delta[expected.field]) ?? ""
    // Pieces of input take the place of what stood in the beginning.
    if (piece !== "") block.input = undefined
    return [...begun, { type: "content_block_delta", index, delta: { type: kind, [expected.field]: piece } }]
  }

  function stop(value: JsonObject): JsonObject[] {
    const index = indexOf(value)
    const block = open.get(index)
    if (block === undefined) return []
    open.delete(index)
    const end = { type: "content_block_stop", index }
    if (block.input === undefined || block.input === "{}") return [end]
    const delta = { type: "input_json_delta", partial_json: block.input }
    return [{ type: "content_block_delta", index, delta }, end]
  }

  return { start, change, stop, stopAll: () => [...open.keys()].flatMap((index) => stop({ index })) }
}

interface BegunBlock {
  block: Block
  /** As the block begins. */
  empty: JsonObject
  /** What stood in its beginning already. */
  deltas: JsonObject[]
}

function beginBlock(block: JsonObject, index: number): BegunBlock | undefined {
  const words = (field: string) => textOf(block[field]) ?? ""
  const deltas = (...types: string[]) =>
    types.flatMap((type): JsonObject[] => {
      const field = deltaFields[type]?.field ?? ""
      return words(field) === "" ? [] : [{ type, [field]: words(field) }]
    })
  switch (block.type) {
    case "text":
      return {
        block: { type: "text", input: undefined },
        empty: { type: "text", text: "" },
        deltas: deltas("text_delta"),
      }
    case "thinking":
      return {
        block: { type: "thinking", input: undefined },
        empty: { type: "thinking", thinking: "" },
        deltas: deltas("thinking_delta", "signature_delta"),
      }
    case "redacted_thinking": {
      const empty = { type: "redacted_thinking", data: words("data") }
      return { block: { type: "thinking", input: undefined }, empty, deltas: [] }
    }
    case "tool_use": {
      const empty = { type: "tool_use", id: words("id") || `call-${index}`, name: words("name"), input: {} }
      return { block: { type: "tool_use", input: JSON.stringify(block.input ?? {}) }, empty, deltas: [] }
    }
    default:
      return undefined
  }
}

export const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)
