// What an interface of the server is: how a reply is written on it, as a stream and whole. Types alone.
import type { Json, JsonObject } from "../../../../src/kernel/index.ts"
import type { IssuedPart, ProviderName } from "../../provider-rules/index.ts"

export interface ReplyUsage {
  /** All of the prompt, read from a cache or not. */
  input: number
  /** All of the reply, reasoning included. */
  output: number
  reasoning: number
  cacheRead: number
  cacheWrite: number
}

/** A reply with all ids and signatures given out. */
export interface WholeReply {
  id: string
  model: string
  parts: IssuedPart[]
  finishReason: string | undefined
  usage: ReplyUsage
  /** Whose ways the reply has; undefined is a server of which nothing is known. */
  provider: ProviderName | undefined
  request: JsonObject
}

export type Frame = string | Buffer

/** One stream being written; it knows what it has written so far. */
export interface WireStream {
  begin(): Frame
  text(piece: string): Frame
  /** A whole part that is not text. */
  part(index: number): Frame
  end(): Frame
  /** The wire's word for an error after it has begun. */
  error(type: string | undefined, message: string): Frame
}

export interface Wire {
  contentType: string
  stream(reply: WholeReply): WireStream
  /** Undefined: the interface has only streams. */
  whole?(reply: WholeReply): Json
  error(message: string, type: string, status: number): Json
}

export type CallPart = Extract<IssuedPart, { type: "call" }>

export const argumentsOf = (call: CallPart): string => call.rawInput ?? JSON.stringify(call.input)

export const data = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`

export const event = (value: JsonObject): string => `event: ${String(value.type)}\n${data(value)}`

export function hasCalls(reply: WholeReply): boolean {
  return reply.parts.some((part) => part.type === "call")
}

export function textOfParts(reply: WholeReply, type: "text" | "reasoning"): string {
  return reply.parts.map((part) => (part.type === type ? part.text : "")).join("")
}
