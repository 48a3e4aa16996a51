// The tool contract: what a feature must provide so that the agent can use it. Imported by features for its types.
import type { z } from "zod"
import type { JsonObject } from "../kernel/index.ts"
import type { ContentPart } from "../models/contract.ts"
import type { Origin, Route } from "../sessions/route.ts"

export interface ToolContext {
  agentId: string
  sessionKey: string
  runId: string
  /** Least trusted source of what the turn acts on. */
  origin: Origin
  /** False for turns that act on untrusted input (webhooks, group members). */
  trusted: boolean
  /** Where the turn's reply goes; null when it goes nowhere. */
  route: Route | null
  /** Aborted when the turn is stopped or runs out of time. */
  signal: AbortSignal
}

/** What decides which tools a turn is offered. It is the same in all steps of a turn: caches of prompts live by that. */
export type ToolPlace = Pick<ToolContext, "agentId" | "route" | "origin" | "trusted">

export interface ToolResult {
  /** What the model reads. Text of an untrusted tool is put inside the untrusted boundary by the loop. */
  content: ContentPart[]
  /**
   * Words of our own about the result (a file's path, a hint), shown to the model outside the boundary.
   * Must hold nothing that came from a page or another party.
   */
  note?: string
  isError?: boolean
}

export interface Tool<Input = unknown> {
  name: string
  /** For the model: what it does and when to use it, short. */
  description: string
  input: z.ZodType<Input>
  /**
   * Hand-tuned JSON schema shown to the model instead of the one made from `input`, in the form of `flatSchema`. It is
   * also what loosely written arguments are read by, so `input` must accept what it describes.
   */
  inputSchema?: JsonObject
  /** `untrusted` when the text of results may hold words of another party (pages, files, messages). */
  output: "trusted" | "untrusted"
  /** True when a call that was cut by a crash may simply be made again (reads); else the model is told. */
  repeatable(input: Input): boolean
  /**
   * Throws AppError for what the model can mend (message and hint are shown to it as an error result);
   * rejects with the signal's reason on abort.
   */
  run(input: Input, context: ToolContext): Promise<ToolResult>
}
