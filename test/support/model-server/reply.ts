// What the model server may be told to answer, healthy or broken. No runtime but the short forms.
import type { Json } from "../../../src/kernel/index.ts"

export interface ScriptedCall {
  name: string
  input: Json
  /** Sent instead of `input` as JSON, for arguments that are not valid. */
  rawInput?: string
}

/** Parts of a reply in the order in which the model wrote them. */
export type ScriptedPart =
  /** `redacted`: the text is not shown, only its proof. */
  | { type: "reasoning"; text: string; redacted?: boolean }
  | { type: "text"; text: string }
  | ({ type: "call"; id?: string } & ScriptedCall)

/** Tokens of a reply, for replies that are to cost something certain. */
export interface ScriptedUsage {
  /** All of the prompt, read from a cache or not. */
  input: number
  /** All of the reply, reasoning included. */
  output: number
  reasoning?: number
  cacheRead?: number
  cacheWrite?: number
}

export type ScriptedReply =
  /**
   * A whole reply: `parts`, or else reasoning, text and calls in this order. Each text goes out in `pieces` deltas
   * (default 3). `finishReason` is neutral (`length`, `refused`, `paused`) or the wire's own word.
   */
  | {
      kind: "reply"
      text?: string
      reasoning?: string
      calls?: ScriptedCall[]
      parts?: ScriptedPart[]
      pieces?: number
      finishReason?: string
      usage?: ScriptedUsage
    }
  /** `body` stands instead of the wire's own shape: text as it is, all else as JSON. */
  | {
      kind: "status"
      status: number
      headers?: Record<string, string>
      message?: string
      type?: string
      body?: Json
    }
  /** Accepts the request and never answers; with `afterHeaders` it sends the headers first. */
  | { kind: "hang"; afterHeaders?: boolean }
  /** The text a character at a time, with `after` once that has happened; the reasoning is sent at once. */
  | { kind: "drip"; text: string; everyMs: number; reasoning?: string; after?: Promise<unknown> }
  | { kind: "garbage"; body?: string }
  | { kind: "html" }
  /** Text without end, as fast as it is read. */
  | { kind: "endless" }
  /** Some text, then the connection is destroyed; with `politely` it is ended without the closing events. */
  | { kind: "cut"; text: string; politely?: boolean }
  /** Some text, then the wire's own event of an error. */
  | { kind: "broken-off"; text: string; error?: { type?: string; message?: string } }
  /** A stream with no content that ends well; with `events: false` one without a single event. */
  | { kind: "empty"; events?: boolean }
  /** These bytes as they are, a recorded stream for example, in one piece or cut at every byte or every n bytes. */
  | {
      kind: "raw"
      status?: number
      headers?: Record<string, string>
      body: string | Buffer
      chunks?: "bytes" | number
    }

export const text = (words: string): ScriptedReply => ({ kind: "reply", text: words })

export const toolCall = (name: string, input: Json): ScriptedReply => ({ kind: "reply", calls: [{ name, input }] })

export const busy = (retryAfter?: string): ScriptedReply => ({
  kind: "status",
  status: 429,
  message: "Too many requests",
  ...(retryAfter === undefined ? {} : { headers: { "retry-after": retryAfter } }),
})
