// What an interface to providers (Messages, Responses, Chat Completions, Gemini, Converse) must do: one prepared
// request -> a stream of events. It mends nothing, retries nothing and runs no tool. Types, and the errors.
import { AppError, type Json, type JsonObject, type Secret } from "../../kernel/index.ts"
import type { ContentPart, FinishReason, ThinkingLevel, ToolResultPart, ToolSchema, Usage } from "../contract.ts"
import type { ModelTarget } from "../resolve.ts"
import type { ProviderSettings } from "../view.ts"

/** A part of a reply, with what its provider wants back beside it when it was written by this very model. */
export type AssistantPart =
  | { type: "text"; text: string; meta?: JsonObject }
  | { type: "reasoning"; text: string; meta?: JsonObject }
  | { type: "call"; id: string; name: string; input: JsonObject; meta?: JsonObject }

/**
 * The conversation in a form that no provider refuses: it begins with a user's message, no text is blank, each call has
 * its result right behind it, ids and names are in the target's form, pictures stand only where the model takes them.
 */
export type PreparedMessage =
  | { role: "user"; content: ContentPart[] }
  | { role: "assistant"; parts: AssistantPart[] }
  | { role: "tool"; results: ToolResultPart[] }

export interface StepCall {
  target: ModelTarget
  settings: ProviderSettings
  key: Secret | undefined
  system: string
  messages: PreparedMessage[]
  tools: ToolSchema[]
  /** Undefined: the model's own default. */
  thinking: ThinkingLevel | undefined
  maxOutputTokens: number | undefined
  /** Names the conversation to caches of prompts; the same for all steps of one session. */
  cacheKey: string | undefined
  /** The guarded one: ends silence, endless bodies and redirects. */
  fetch: typeof fetch
  signal: AbortSignal
}

export type StepEvent =
  /** Text of one block; a block ends where another begins. `meta` of later events is laid over that of earlier ones. */
  | { type: "text"; block: string; text: string; meta?: JsonObject }
  | { type: "reasoning"; block: string; text: string; meta?: JsonObject }
  /** Part of a call's input, for limits alone; the whole call follows. */
  | { type: "call-input"; text: string }
  /** `input` is what the model wrote: parsed where it is JSON, else the text. */
  | { type: "call"; id: string; name: string; input: Json; meta?: JsonObject }
  /** The last event. A stream that ends without one was cut. */
  | { type: "finish"; reason: FinishReason; rawReason: string | undefined; usage: Usage }

/** Throws what went wrong as it came: `ProviderRefusal`, `ProviderReport`, `StreamCut`, an AppError, or a network error. */
export type ProviderInterface = (call: StepCall) => AsyncIterable<StepEvent>

/** An HTTP status other than 2xx, with all that is needed to say why. */
export class ProviderRefusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** At most 64 KB of it. */
  readonly body: string

  constructor(parts: { status: number; headers: Readonly<Record<string, string>>; body: string; cause?: unknown }) {
    super(`The provider answered HTTP ${parts.status}`, { cause: parts.cause })
    this.name = "ProviderRefusal"
    this.status = parts.status
    this.headers = parts.headers
    this.body = parts.body
  }
}

/** An error that the provider reported inside a reply of status 200: an error object instead of a reply or in its stream. */
export class ProviderReport extends Error {
  /** The error as it stood there: an object of any shape, or text. */
  readonly report: Json

  constructor(report: Json, cause?: unknown) {
    super("The provider reported an error", { cause })
    this.name = "ProviderReport"
    this.report = report
  }
}

/** A web page came instead of a reply: there is no model at the address, and nobody has read what was asked. */
export class ProviderPage extends AppError {
  constructor(what = "a page") {
    super("model-failed", `The provider answered with ${what} instead of a model's reply`, {
      hint: "Check the provider's baseUrl; for most servers it ends in /v1.",
    })
    this.name = "ProviderPage"
  }
}

/** The connection closed in good form, but before the reply was complete. As good as a connection that broke. */
export class StreamCut extends Error {
  readonly code = "STREAM_CUT"

  constructor() {
    super("The stream ended before the reply was complete")
    this.name = "StreamCut"
  }
}
