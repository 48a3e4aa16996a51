// What the model server may be told to answer, healthy or broken. No runtime but the short forms.
import type { Json } from "../../../src/kernel/index.ts"

export interface ScriptedCall {
  name: string
  input: Json
  /** Sent instead of `input` as JSON, for arguments that are not valid. */
  rawInput?: string
}

export type ScriptedReply =
  /** A whole reply; the text goes out in `pieces` deltas (default 3). */
  | { kind: "reply"; text?: string; reasoning?: string; calls?: ScriptedCall[]; pieces?: number; finishReason?: string }
  | { kind: "status"; status: number; headers?: Record<string, string>; message?: string; type?: string }
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

export const text = (words: string): ScriptedReply => ({ kind: "reply", text: words })

export const toolCall = (name: string, input: Json): ScriptedReply => ({ kind: "reply", calls: [{ name, input }] })

export const busy = (retryAfter?: string): ScriptedReply => ({
  kind: "status",
  status: 429,
  message: "Too many requests",
  ...(retryAfter === undefined ? {} : { headers: { "retry-after": retryAfter } }),
})
