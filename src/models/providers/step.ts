// One step of a real model: request -> the library's stream -> deltas -> reply. No loop, no retry, no tool is run here.
import type * as Library from "ai"
import type { Json, Secret } from "../../kernel/index.ts"
import { raceAbort } from "../../kernel/index.ts"
import type { FinishReason, ModelReply, ModelRequest, ThinkingLevel, ToolCall } from "../contract.ts"
import type { ModelTarget } from "../resolve.ts"
import type { ProviderSettings } from "../view.ts"
import type { ProviderClients } from "./clients.ts"
import type { ReasoningMemory, ReasoningPart } from "./continuation.ts"
import { endlessError } from "./guarded-fetch.ts"
import { toLibraryMessages } from "./messages.ts"
import { thinkingOptions } from "./thinking.ts"

export interface StepParts {
  clients: ProviderClients
  reasoning: ReasoningMemory
  /** Characters of text, reasoning and tool input together. */
  maxOutputCharacters: number
}

export interface StepCall {
  target: ModelTarget
  settings: ProviderSettings
  key: Secret | undefined
  thinking: ThinkingLevel
  request: ModelRequest
}

/** Throws what the provider or the library threw; on abort the signal's reason. */
export async function runStep(parts: StepParts, call: StepCall): Promise<ModelReply> {
  const { target, settings, request } = call
  const library = await loadLibrary()
  const client = await parts.clients.client(target, settings, call.key)
  // Ends the stream when this step fails for a reason of ours; the caller's signal ends it as well.
  const own = new AbortController()
  const stream = library.streamText({
    model: client,
    ...(request.system === "" ? {} : { instructions: cacheable(request.system, settings.kind) }),
    messages: toLibraryMessages(request.messages, {
      model: target.id,
      vision: target.vision,
      toolPictures: settings.kind === "openai-compatible" ? "after-result" : "in-result",
      reasoning: parts.reasoning,
    }),
    ...(request.tools.length === 0 ? {} : { tools: toLibraryTools(library, request) }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...thinkingOptions(settings.kind, effectiveThinking(parts, call)),
    maxRetries: 0,
    abortSignal: AbortSignal.any([request.signal, own.signal]),
    // Errors arrive as parts of the stream; the default would print them, prompt included.
    onError: () => undefined,
  })
  try {
    const reply = await raceAbort(collect(stream.stream, parts, call), request.signal)
    return reply
  } finally {
    own.abort()
  }
}

async function loadLibrary(): Promise<typeof Library> {
  const library = await import("ai")
  // The library prints warnings to the console unless told otherwise, and can be told only here.
  globalThis.AI_SDK_LOG_WARNINGS = false
  return library
}

function toLibraryTools(library: typeof Library, request: ModelRequest): Library.ToolSet {
  return Object.fromEntries(
    request.tools.map((each) => [
      each.name,
      library.tool({ description: each.description, inputSchema: library.jsonSchema(each.inputSchema) }),
    ]),
  )
}

/** One provider charges a tenth for a prompt that it has seen, but only where it is told to keep it. */
function cacheable(system: string, kind: ProviderSettings["kind"]): string | Library.SystemModelMessage {
  if (kind !== "anthropic") return system
  return { role: "system", content: system, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
}

/** With thinking on, this provider refuses a tool loop whose signed reasoning is missing (after a restart of ours). */
function effectiveThinking(parts: StepParts, { settings, target, thinking, request }: StepCall): ThinkingLevel {
  const last = request.messages.findLast((message) => message.role === "assistant")
  const inToolLoop = last?.role === "assistant" && last.toolCalls.length > 0
  if (settings.kind !== "anthropic" || !inToolLoop) return thinking
  return parts.reasoning.recall(target.id, last.toolCalls).length > 0 ? thinking : "off"
}

type StreamPart = Library.TextStreamPart<Library.ToolSet>

async function collect(stream: AsyncIterable<StreamPart>, parts: StepParts, call: StepCall): Promise<ModelReply> {
  const { request, target } = call
  const text: string[] = []
  const thought = createThought()
  const toolCalls: ToolCall[] = []
  let size = 0
  const count = (piece: string) => {
    size += piece.length
    if (size > parts.maxOutputCharacters) throw endlessError()
  }
  for await (const part of stream) {
    if (part.type === "text-delta") {
      count(part.text)
      text.push(part.text)
      if (part.text !== "") request.onDelta?.({ kind: "text", text: part.text })
    } else if (part.type === "reasoning-start" || part.type === "reasoning-delta" || part.type === "reasoning-end") {
      const piece = part.type === "reasoning-delta" ? part.text : ""
      count(piece)
      thought.add(part.id, piece, part.providerMetadata)
      if (piece !== "") request.onDelta?.({ kind: "reasoning", text: piece })
    } else if (part.type === "tool-input-delta") count(part.delta)
    else if (part.type === "tool-call") {
      // Invalid input comes through as the model wrote it; the tool's schema refuses it, and the model can mend it.
      toolCalls.push({ id: part.toolCallId, name: part.toolName, input: part.input as Json })
    } else if (part.type === "error") throw part.error
    else if (part.type === "abort") request.signal.throwIfAborted()
    else if (part.type === "finish") {
      const { finishReason, rawFinishReason } = part
      if (finishReason === "error" || finishReason === "interrupted") break
      // No reason of the provider's own: the stream closed in good form, but before the reply was whole.
      if (finishReason === "other" && rawFinishReason === undefined) break
      parts.reasoning.remember(target.id, toolCalls, thought.parts())
      return {
        text: text.join(""),
        reasoning: thought.text(),
        toolCalls,
        finishReason: toFinishReason(finishReason, toolCalls),
        usage: { inputTokens: part.totalUsage.inputTokens ?? 0, outputTokens: part.totalUsage.outputTokens ?? 0 },
        model: target.id,
      }
    }
  }
  throw new Error("The stream ended before the reply was complete")
}

/** Some servers say `stop` although they ask for tools; what counts is whether they ask. */
function toFinishReason(reason: FinishReason, toolCalls: readonly ToolCall[]): FinishReason {
  return toolCalls.length > 0 && (reason === "stop" || reason === "other") ? "tool-calls" : reason
}

interface Thought {
  add(id: string, piece: string, metadata: unknown): void
  parts(): ReasoningPart[]
  text(): string
}

/** Blocks of reasoning by id, each with the last metadata seen: the signature comes with the end of a block. */
function createThought(): Thought {
  const blocks = new Map<string, { pieces: string[]; metadata: unknown }>()
  return {
    add(id, piece, metadata) {
      const block = blocks.get(id) ?? { pieces: [], metadata: undefined }
      block.pieces.push(piece)
      block.metadata = metadata ?? block.metadata
      blocks.set(id, block)
    },
    parts: () =>
      [...blocks.values()].map(({ pieces, metadata }) => {
        const part: ReasoningPart = { type: "reasoning", text: pieces.join("") }
        return metadata === undefined
          ? part
          : { ...part, providerOptions: metadata as NonNullable<ReasoningPart["providerOptions"]> }
      }),
    text: () =>
      [...blocks.values()]
        .map(({ pieces }) => pieces.join(""))
        .filter((block) => block !== "")
        .join("\n"),
  }
}
