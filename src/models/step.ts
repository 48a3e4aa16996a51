// One request to one model: conversation -> prepared form -> the provider's events -> deltas -> reply. No loop, no retry.
import { createHash } from "node:crypto"
import { AppError, type Json, type Secret, isJsonObject, raceAbort } from "../kernel/index.ts"
import type { ModelReply, ModelRequest, ReplayPart, ThinkingLevel, ToolCall } from "./contract.ts"
import { needsReplay, prepareConversation } from "./conversation/index.ts"
import { type ProviderInterface, type StepCall, type StepEvent, StreamCut } from "./providers/contract.ts"
import { type ReasoningFilter, cleanToolName, createReasoningFilter } from "./reply/index.ts"
import type { ModelTarget } from "./resolve.ts"
import type { ProviderSettings } from "./view.ts"
import type { Ways } from "./ways.ts"

export interface StepParts {
  interfaceOf: (settings: ProviderSettings) => ProviderInterface
  /** Characters of text, reasoning and tool input together. */
  maxOutputCharacters: number
}

export interface StepOptions {
  target: ModelTarget
  settings: ProviderSettings
  ways: Ways
  key: Secret | undefined
  thinking: ThinkingLevel | undefined
  request: ModelRequest
  /** Asks with the conversation told in words: its form was refused. */
  plain: boolean
  fetch: typeof fetch
}

/** Throws what the provider's interface threw; on abort the signal's reason. */
export async function runStep(parts: StepParts, options: StepOptions): Promise<ModelReply> {
  const { target, settings, request } = options
  // Ends the stream when this step fails for a reason of ours; the caller's signal ends it as well.
  const own = new AbortController()
  const signal = AbortSignal.any([request.signal, own.signal])
  const source = sourceOf(target, settings)
  const call: StepCall = {
    target,
    settings,
    key: options.key,
    system: request.system,
    messages: prepareConversation(request.messages, {
      source,
      vision: target.vision,
      callIds: options.ways.callIds,
      plain: options.plain,
    }),
    tools: request.tools,
    thinking: options.thinking,
    maxOutputTokens: request.maxOutputTokens ?? longestReply(target, settings),
    cacheKey: cacheKeyOf(request),
    fetch: options.fetch,
    signal,
  }
  try {
    const collected = collect(parts.interfaceOf(settings)(call), parts.maxOutputCharacters, options, source)
    return await raceAbort(collected, request.signal)
  } finally {
    own.abort(stepEnded)
  }
}

/** One for all: without a reason a new error with a stack is made for each. */
const stepEnded = new Error("the step has ended")

/**
 * Only where it must be said: the others take the model's own limit by themselves, and some count a longer reply than
 * there is room for, or credit for, as an error.
 */
function longestReply(target: ModelTarget, { kind }: ProviderSettings): number | undefined {
  const mustBeSaid = kind === "anthropic" || kind === "bedrock" || kind === "vertex"
  return target.entry.maxOutputTokens ?? (mustBeSaid ? target.maxOutputTokens : undefined)
}

/** What the model says goes back in full only to the same model over the same interface. */
function sourceOf(target: ModelTarget, settings: ProviderSettings): string {
  return `${settings.kind}:${target.modelId}`
}

/** Names the conversation to the provider without telling it whose it is. */
function cacheKeyOf({ usedFor }: ModelRequest): string | undefined {
  if (usedFor.sessionKey === undefined) return undefined
  return `svc-${createHash("sha256").update(usedFor.sessionKey).digest("hex").slice(0, 32)}`
}

async function collect(
  events: AsyncIterable<StepEvent>,
  maxCharacters: number,
  options: StepOptions,
  source: string,
): Promise<ModelReply> {
  const reply = new ReplyBuilder(options.request, options.ways.reasoningTags)
  let size = 0
  for await (const event of events) {
    if (event.type === "finish") return reply.finish(event, options.target, source)
    if (event.type !== "call") size += event.text.length
    if (size > maxCharacters) throw endlessReply()
    reply.add(event)
  }
  throw new StreamCut()
}

function endlessReply(): AppError {
  return new AppError("model-failed", "The reply had no end and was cut off")
}

/** Calls of one reply; models make a dozen at most. */
const maxCalls = 256

type BlockPart = { kind: "reasoning" | "text"; pieces: string[]; meta: object | undefined; key: string }
type CallPart = { kind: "call"; call: ToolCall; meta: object | undefined }
type Piece = ReturnType<ReasoningFilter["push"]>[number]
type FinishEvent = Extract<StepEvent, { type: "finish" }>

/** Parts of a reply in their order, with what the provider wants back beside each. */
class ReplyBuilder {
  readonly #request: ModelRequest
  readonly #tags: Ways["reasoningTags"]
  #filter: ReasoningFilter
  readonly #known: readonly string[]
  readonly #parts: (BlockPart | CallPart)[] = []
  readonly #ids = new Set<string>()
  readonly #times = new Map<string, number>()

  constructor(request: ModelRequest, tags: Ways["reasoningTags"]) {
    this.#request = request
    this.#tags = tags
    this.#filter = createReasoningFilter(tags)
    this.#known = request.tools.map((tool) => tool.name)
  }

  add(event: Exclude<StepEvent, { type: "finish" }>): void {
    if (event.type === "call-input") return
    if (event.type === "text") return this.#written(this.#filter.push(event.text), event.block, event.meta)
    if (event.type === "reasoning") {
      // Reasoning that comes by itself is not in the text as well, whatever the template of the model opens.
      if (this.#tags === "open" && this.#parts.length === 0) this.#filter = createReasoningFilter("auto")
      this.#append("reasoning", `r:${event.block}`, event.text, event.meta)
      return
    }
    this.#written(this.#filter.end(), "", undefined)
    const call = { id: this.#uniqueId(event.id), name: cleanToolName(event.name, this.#known), input: event.input }
    this.#parts.push({ kind: "call", call, meta: event.meta })
  }

  finish({ reason, usage }: FinishEvent, target: ModelTarget, source: string): ModelReply {
    const last = this.#filter.end()
    // A model that begins inside its thinking and was cut before it had ended that has said nothing yet.
    const isThinking = this.#tags === "open" && reason === "length" && this.#parts.every((part) => part.kind !== "text")
    this.#written(isThinking ? last.map(asReasoning) : last, "", undefined)
    const blocks = this.#parts.filter((part) => part.kind !== "call")
    if (reason === "length") markCut(this.#parts.at(-1))
    const toolCalls = this.#parts.flatMap((part) => (part.kind === "call" ? [part.call] : []))
    const text = blocks.flatMap((part) => (part.kind === "text" ? part.pieces : [])).join("")
    const reasoning = blocks
      .flatMap((part) => (part.kind === "reasoning" ? [part.pieces.join("")] : []))
      .filter((block) => block.trim() !== "")
    const replay = this.#parts.map(toReplayPart)
    return {
      text,
      reasoning: reasoning.join("\n"),
      toolCalls,
      ...(needsReplay(replay, toolCalls) ? { replay: { source, parts: replay } } : {}),
      // Some servers say `stop` although they ask for tools; what counts is whether they ask.
      finishReason: toolCalls.length > 0 && (reason === "stop" || reason === "other") ? "tool-calls" : reason,
      usage,
      model: target.id,
    }
  }

  #written(pieces: readonly Piece[], block: string, meta: object | undefined): void {
    let left = meta
    for (const piece of pieces) {
      if (piece.kind === "reclassify") this.#reclassify()
      else if (piece.kind === "reasoning") this.#append("reasoning", `t:${block}`, piece.text, { tagged: true })
      else {
        this.#append("text", block, piece.text, left)
        left = undefined
      }
    }
    if (left) this.#append("text", block, "", left)
  }

  /** A closing tag alone: all that was text until now was thought. What was shown of it is void. */
  #reclassify(): void {
    let hasText = false
    for (const part of this.#parts) {
      if (part.kind !== "text") continue
      hasText ||= part.pieces.length > 0
      part.kind = "reasoning"
      part.meta = { tagged: true }
      part.key = "t:"
    }
    // What a person has been sent of it stands in front of what follows; `Progress` sees to that.
    if (hasText) this.#request.onRestart?.()
  }

  #append(kind: BlockPart["kind"], key: string, text: string, meta: object | undefined): void {
    const last = this.#parts.at(-1)
    const isSame = last !== undefined && last.kind === kind && (key === "" || last.key === key)
    if (!isSame) {
      if (text === "" && meta === undefined) return
      this.#parts.push({ kind, key, pieces: text === "" ? [] : [text], meta })
    } else {
      if (text !== "") last.pieces.push(text)
      if (meta) last.meta = { ...last.meta, ...meta }
    }
    if (text !== "") this.#request.onDelta?.({ kind, text })
  }

  /** Two calls of one reply with one id could not be told apart by their results. */
  #uniqueId(id: string): string {
    let unique = id === "" ? `call_${this.#ids.size + 1}` : id
    for (let n = (this.#times.get(id) ?? 1) + 1; this.#ids.has(unique); n += 1) {
      this.#times.set(id, n)
      unique = `${id === "" ? "call" : id}_${n}`
    }
    if (this.#ids.size >= maxCalls) throw endlessReply()
    this.#ids.add(unique)
    return unique
  }
}

function asReasoning(piece: Piece): Piece {
  return piece.kind === "text" ? { kind: "reasoning", text: piece.text } : piece
}

/** The limit has cut it before any of its input: interfaces tell that like a call that has none. */
function markCut(last: BlockPart | CallPart | undefined): void {
  if (last?.kind !== "call") return
  const { input } = last.call
  if (isJsonObject(input) && Object.keys(input).length === 0) last.call.input = ""
}

function toReplayPart(part: BlockPart | CallPart): ReplayPart {
  const meta = part.meta === undefined ? {} : { meta: part.meta as { [key: string]: Json } }
  if (part.kind === "call") return { type: "call", id: part.call.id, ...meta }
  const text = part.pieces.join("")
  return part.kind === "text" ? { type: "text", length: text.length, ...meta } : { type: "reasoning", text, ...meta }
}
