// The tool contract: what a feature must provide so that the agent can use it. Imported by features for its types.
import type { z } from "zod"
import type { Json, JsonObject } from "../kernel/index.ts"
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
  /**
   * Words of others (of a hook, a page, a file, a forward, another person) were part of what the model had read when it
   * made this call. True for every untrusted turn but that of a guest who is alone in a session.
   */
  tainted: boolean
  /**
   * What of the past may be brought up: all that is the owner's, where only people of standing read along; this session's,
   * which whoever reads along knows; or nothing, where words of others must not meet it.
   */
  recall: "owner" | "session" | "nothing"
  /** An owner was asked about exactly this call, and has allowed it. */
  approved: boolean
  /** What that owner was shown: the action of the gate. What it is about may have changed since the gate has looked. */
  allowed?: Json
  sites: SessionSites
  /** Whether a tool of this very turn has made the file. Set in turns. */
  made?(path: string): boolean
  /**
   * For a tool whose call is made of several: what the owner's rules (`tools.confirm`) ask about one of them, as about a
   * call of its own. Set in turns; who has none is asked nothing.
   */
  confirms?(input: unknown, more: Partial<ToolContext>): Promise<Gated | undefined>
  /** Where the turn's reply goes; null when it goes nowhere. */
  route: Route | null
  /** Aborted when the turn is stopped or runs out of time. */
  signal: AbortSignal
}

/** Where a tainted call may carry data by itself; see `siteOf` of the kernel. */
export interface SessionSites {
  /** The owner's own words of this session have named it, or it was opened before words of others were read. */
  has(site: string): boolean
  /** The address stands, whole, in what was sent by the one who asks, in a session that holds nothing of the owner's. */
  quotes(address: string): boolean
  /** All that `has` knows. */
  list(): readonly string[]
  /** Remembers sites that a call went to which was not tainted. */
  add(sites: readonly string[]): Promise<void>
}

/** Why a call is not made by itself, and what an owner would allow. */
export interface Gated {
  /** For the model: one sentence without its full stop. */
  reason: string
  /** For the owner: one line in our words above the action. */
  summary: string
  /** Everything that decides what the call does, in the form in which it is compared. */
  action: Json
  /** The owner wants to be asked (`tools.confirm`), whatever the turn has read. */
  byPolicy?: true
}

/** A call as rules and owners look at it. */
export interface Deed extends Pick<Gated, "summary" | "action"> {
  /** Names of what is done, from the broad one to the narrow: `act`, `click`. */
  actions: readonly string[]
  /** Sites that it has to do with; see `siteOf` of the kernel. */
  sites: readonly string[]
}

/** What decides which tools a turn is offered. It is the same in all steps of a turn: caches of prompts live by that. */
export type ToolPlace = Pick<ToolContext, "agentId" | "route" | "origin" | "trusted" | "recall">

export interface ToolResult {
  /** What the model reads. Text of an untrusted tool is put inside the untrusted boundary by the loop. */
  content: ContentPart[]
  /**
   * Words of our own about the result (a file's path, a hint), shown to the model outside the boundary.
   * Must hold nothing that came from a page or another party.
   */
  note?: string
  /** Words of others in the result of a tool whose words else are trusted: inside the boundary, they taint the turn. */
  foreign?: string
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
   * Looks at each call before it is made: undefined lets it be made, else an owner is asked. Throws AppError for what
   * can never be done. A tool without it reaches nothing that a tainted turn might not reach.
   */
  gate?(input: Input, context: ToolContext): Promise<Gated | undefined> | Gated | undefined
  /** What a call does, for rules of the owner (`tools.confirm`); without it, its input as it stands. */
  describe?(input: Input, context: ToolContext): Promise<Deed> | Deed
  /**
   * Throws AppError for what the model can mend (message and hint are shown to it as an error result);
   * rejects with the signal's reason on abort.
   */
  run(input: Input, context: ToolContext): Promise<ToolResult>
}
