// Chunks of a completion -> events of the step. One of these reads one reply: it takes chunks, whole completions and
// everything between, keeps what the server will want back as `meta`, and knows whether the reply is complete.
import { isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"
import { ProviderReport, type StepEvent, StreamCut } from "../providers/contract.ts"
import { createCallCollector, type CallParts } from "./calls.ts"
import { endOf, finishReason } from "./finish.ts"
import { createReasoningDetails } from "./reasoning-details.ts"
import { reportIn } from "./report.ts"
import { createUsageReader } from "./usage.ts"

export interface ReplyReader {
  /** Throws ProviderReport. */
  push(chunk: Json): StepEvent[]
  /** The server has said how the reply ends; only counts of tokens can still come. */
  readonly ended: boolean
  /** `done`: the stream said `[DONE]`. Throws StreamCut or ProviderReport. */
  end(done: boolean): StepEvent[]
}

export function createReplyReader(parts: {
  toolNames: CallParts["toolNames"]
  newCallId?: (() => string) | undefined
}): ReplyReader {
  let replyId = ""
  const newId = (place: number) =>
    parts.newCallId?.() ?? `call_${[replyId, place].filter((each) => each !== "").join("_")}`
  const calls = createCallCollector({ toolNames: parts.toolNames, newId })
  const words = createWords()
  const usage = createUsageReader()
  let rawReason: string | undefined
  let chunks = 0
  let whole = false
  let deltas = false
  let unknown: Json | undefined

  const readChoice = (choice: JsonObject): StepEvent[] => {
    const report = isJsonObject(choice["error"]) ? choice["error"] : undefined
    if (report !== undefined) throw new ProviderReport(report)
    usage.read(choice)
    const reason = choice["finish_reason"]
    // "" and "null" stand in every chunk of some servers.
    if (typeof reason === "string" && reason !== "" && reason !== "null") rawReason = reason
    const { delta, message, text } = choice
    if (isJsonObject(message)) whole = true
    if (isJsonObject(delta) && Object.keys(delta).length > 0) deltas = true
    // A message at the end of deltas says everything once more.
    const source = deltas ? delta : message
    if (!isJsonObject(source)) return typeof text === "string" ? words.text(text) : []
    const pieces = callPieces(source)
    const inputs = pieces.length === 0 ? [] : calls.add(pieces)
    return [
      ...words.read(source),
      ...inputs.filter((each) => each !== "").map((each): StepEvent => ({ type: "call-input", text: each })),
    ]
  }
  const push = (chunk: Json): StepEvent[] => {
    if (Array.isArray(chunk)) return chunk.flatMap(push)
    if (!isJsonObject(chunk)) return []
    const report = reportIn(chunk)
    if (report !== undefined) throw new ProviderReport(report)
    chunks += 1
    if (replyId === "" && typeof chunk["id"] === "string") replyId = idPart(chunk["id"])
    usage.read(chunk)
    const { choices } = chunk
    if (!Array.isArray(choices)) unknown ??= (chunk["usage"] ?? undefined) === undefined ? chunk : undefined
    else if (choices.length === 1 && isJsonObject(choices[0])) return readChoice(choices[0])
    // More than one was never asked for; Copilot puts text and calls of one reply into two.
    return Array.isArray(choices) ? choices.filter(isJsonObject).flatMap(readChoice) : []
  }
  return {
    push,
    get ended() {
      return rawReason !== undefined
    },
    end(done) {
      const hasWords = words.any || calls.size > 0
      if (rawReason === undefined && !(done && hasWords) && !(whole && chunks === 1)) {
        if (!hasWords && unknown !== undefined) throw new ProviderReport(unknown)
        throw new StreamCut()
      }
      const end = rawReason === undefined ? "stop" : endOf(rawReason)
      if (end === "failed") {
        const message = `The provider ended the reply early: ${rawReason}`
        // The reply had begun: it is the server that failed, not the request.
        throw new ProviderReport({ message, type: "server_error", code: rawReason ?? null })
      }
      const finished = calls.finish().map((call): StepEvent => ({ type: "call", ...call }))
      const reason = finishReason(end, finished.length > 0, words.refused)
      return [...words.end(), ...finished, { type: "finish", reason, rawReason, usage: usage.usage() }]
    },
  }
}

/** Letters and digits from the end of a reply's id: what makes ids of our own differ from reply to reply. */
function idPart(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9]/g, "").slice(-16)
}

function callPieces(source: JsonObject): Json[] {
  const list = source["tool_calls"]
  const legacy = source["function_call"]
  if (Array.isArray(list)) return list
  if (isJsonObject(list)) return [list]
  // The older interface knew one call a reply, without id or number.
  return isJsonObject(legacy) ? [{ index: 0, function: legacy }] : []
}

const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text"] as const

/** Text and reasoning of a reply, in blocks: a block ends where the other kind begins. */
function createWords() {
  const replayed = createReplayed()
  let kind: "text" | "reasoning" | undefined
  let blocks = 0
  let anyText = false
  let refused = false
  /** Where reasoning was shown from: the same words often come under two names. */
  let shownFrom: "field" | "details" | undefined

  const block = (wanted: "text" | "reasoning"): { name: string; isNew: boolean } => {
    const isNew = kind !== wanted
    if (isNew) blocks += 1
    kind = wanted
    return { name: `${wanted}-${blocks}`, isNew }
  }
  const text = (piece: string, meta?: JsonObject): StepEvent[] => {
    if (piece === "" && meta === undefined) return []
    anyText ||= piece !== ""
    const event: StepEvent = { type: "text", block: block("text").name, text: piece }
    return [meta === undefined ? event : { ...event, meta }]
  }
  const reasoning = (piece: string, field: string, meta?: JsonObject): StepEvent[] => {
    if (piece === "" && meta === undefined) return []
    const { name, isNew } = block("reasoning")
    const event: StepEvent = { type: "reasoning", block: name, text: piece }
    return [isNew || meta !== undefined ? { ...event, meta: { field, ...meta } } : event]
  }
  const readReasoning = (source: JsonObject): StepEvent[] => {
    const inDetails = replayed.add(source)
    const field = reasoningFields.find((name) => typeof source[name] === "string" && source[name] !== "")
    const inField = field === undefined ? undefined : source[field]
    if (field !== undefined && typeof inField === "string" && shownFrom !== "details") {
      shownFrom = "field"
      return reasoning(inField, field)
    }
    if (inDetails === "" || shownFrom === "field") return []
    shownFrom = "details"
    return reasoning(inDetails, "reasoning_details")
  }
  const readPart = (part: Json): StepEvent[] => {
    if (typeof part === "string") return text(part)
    if (!isJsonObject(part)) return []
    if (part["type"] === "thinking") {
      const signature = part["signature"]
      const words = textsOf(part["thinking"] ?? null)
      return reasoning(words, "content", typeof signature === "string" ? { signature } : undefined)
    }
    if (typeof part["refusal"] === "string") return refuse(part["refusal"])
    return typeof part["text"] === "string" ? text(part["text"]) : []
  }
  const refuse = (piece: string): StepEvent[] => {
    refused ||= piece !== ""
    return text(piece)
  }
  return {
    text,
    /** What a delta or a message says, reasoning first. */
    read(source: JsonObject): StepEvent[] {
      const { content, refusal } = source
      const extra = source["extra_content"]
      const thought = readReasoning(source)
      const parts = Array.isArray(content) ? content : isJsonObject(content) ? [content] : []
      const said = typeof content === "string" ? text(content) : parts.flatMap(readPart)
      const declined = typeof refusal === "string" ? refuse(refusal) : []
      // Gemini signs text as well as calls; the signature may come with the last, empty piece.
      const signed = isJsonObject(extra) ? text("", { extra_content: extra }) : []
      return [...thought, ...said, ...declined, ...signed]
    },
    /** What must go back unchanged is known as a whole at the end only; it is a block of its own, without words. */
    end: () => replayed.end(),
    get any() {
      return anyText
    },
    get refused() {
      return refused
    },
  }
}

function textsOf(value: Json): string {
  if (typeof value === "string") return value
  const list = Array.isArray(value) ? value : [value]
  return list.map((each) => (isJsonObject(each) && typeof each["text"] === "string" ? each["text"] : "")).join("")
}

/** What must go back unchanged, and is known as a whole at the end of the reply only. */
function createReplayed() {
  const details = createReasoningDetails()
  const thinking = createReasoningDetails()
  return {
    /** Returns the words that stand in no other field. */
    add(source: JsonObject): string {
      const { reasoning_details: list, thinking_blocks: blocks } = source
      // LiteLLM: the same words as in `reasoning_content`, with the signatures that Claude wants back.
      if (Array.isArray(blocks)) thinking.add(blocks)
      return Array.isArray(list) ? details.add(list) : ""
    },
    /** Blocks of their own, without words. */
    end(): StepEvent[] {
      const signed = thinking.whole().filter((block) => Boolean(block["signature"]) || Boolean(block["data"]))
      const wholes: { block: string; meta: JsonObject }[] = []
      if (details.size > 0) {
        const meta = { field: "reasoning_details", reasoning_details: details.whole() }
        wholes.push({ block: "reasoning-details", meta })
      }
      if (signed.length > 0) wholes.push({ block: "thinking-blocks", meta: { thinking_blocks: signed } })
      return wholes.map((whole) => ({ type: "reasoning", text: "", ...whole }))
    },
  }
}
