// What starts a turn: the payload of a job of kind `turn`, written by whoever lets something in.
import type { Json } from "../kernel/index.ts"
import type { NewJob, Write } from "../store/index.ts"
import type { Origin, Route } from "../sessions/route.ts"
import type { ThinkingLevel } from "../models/contract.ts"
import type { PromptSegment } from "./prompt/segments.ts"
import type { QueueRule } from "./queue/contract.ts"
import type { ToolPolicy } from "./tool-policy.ts"

export type { PromptSegment }

export interface TurnMedia {
  /** Absolute path below the media root. */
  path: string
  mediaType: string
}

/** What was said before or around a message: the message it answers, what a group said meanwhile. */
export interface TurnContext {
  /** Ours, one line: it stands outside the boundary. */
  label: string
  /** Foreign words about it (a name); shown inside the boundary. */
  about?: Record<string, string>
  text: string
  /** The words are the sender's own, or the agent's from a turn that held nobody else's: they taint nothing. */
  isOwn?: true
}

/** Who has asked, with the standing that the words were taken in with. */
export interface Asker {
  id: string
  username?: string
  origin: Origin
  /** Listed or let in by name, not only because everybody is. */
  isAuthorised: boolean
}

export interface TurnInput {
  agentId: string
  sessionKey: string
  purpose: "chat" | "hook" | "heartbeat" | "schedule"
  /** Who wrote the text, set where it entered. */
  origin: Origin
  /** False: the text goes to the model inside the untrusted boundary. */
  trusted: boolean
  /** False: the text is shown without that boundary though it is not trusted. It gives its turn no authority. */
  wrap?: boolean
  /** The sender is a guest, and in this session there is nobody else: nothing in it is somebody else's secret. */
  guestSession?: true
  /** Sites and whole addresses in the words that the sender has typed himself; see `sites.ts` of the kernel. */
  sites?: readonly string[]
  /** Asked again before it runs: whoever was shut out meanwhile loses what waits. Unset: no person of a chat asks. */
  askedBy?: Asker
  /** One line of our own about sender, chat and time; outside the boundary, so free of foreign words. */
  header?: string
  /** Foreign words about the text (sender's name, hook name); shown inside the boundary or escaped. */
  about?: Record<string, string>
  text: string
  /**
   * The same text in pieces, where a template of the operator's made it: which words are the operator's and which came
   * with the payload. Unset: all of it is of one kind.
   */
  segments?: readonly PromptSegment[]
  /** Shown in front of the text, each inside a boundary of its own. */
  context?: TurnContext[]
  /** Instructions of the place (a group's `systemPrompt`): the operator's words, part of the system prompt. */
  instructions?: string
  /** Names of the skills that may be used; unset: all of the agent's, empty: none. */
  skills?: readonly string[]
  /** Which of the agent's tools may be used; unset: all. */
  tools?: ToolPolicy
  media?: TurnMedia[]
  /** Marked values stand in the text: a contact, a place, a name of a file. The sender has sent them and not typed them. */
  names?: true
  /** The sticker that the message is. */
  sticker?: { emoji: string; setName: string; fileId: string; fileUniqueId: string; cachedDescription?: string }
  /** What the channel still has to fetch before the prompt is made, in a shape of its own. */
  pending?: Json
  /** How messages that wait together become one turn; the key is that of their jobs, `part` counts those of a paste. */
  join?: { key: string; kind: "album" | "paste" | "burst"; part?: number }
  /** It came while a turn of its session ran or waited; unset: there was none. */
  queue?: QueueRule
  /** The turn before has been shown it already, and it has one of its own nevertheless. */
  steered?: true
  /** It repeats this run, from this step or from its start. */
  again?: { runId: string; step?: number }
  /** Several messages that waited, oldest first: the prompt shows these, each for itself. */
  parts?: readonly TurnInput[]
  /** When it was written, in milliseconds since the epoch. */
  sentAt?: number
  /** The message that it came from, in the words of its channel; an edit of it is found by that. */
  ref?: string
  /** The bot was addressed: by name, by a reply or by a click. */
  mentioned?: boolean
  /** A group in which everything said comes to the agent: it may have nothing to say to it. */
  hearsAll?: true
  /** How many turns of the past the model is shown at most; unset: as many as fit. */
  historyTurns?: number
  /** Where the reply goes; null when it goes nowhere. Fixed here, changed by nobody. */
  route: Route | null
  /** Why `route` is null although a delivery was asked for; told in the run's result. */
  routeProblem?: string
  /** For webhooks: name in the summary, and whether the main session is woken at once. */
  hook?: {
    name: string
    wakeMode: "now" | "next-heartbeat"
    /** A heartbeat that shows the summary may be given the main session's history. */
    shareHistory?: boolean
    /** Where the result is posted, and the mapping that says so. */
    callback?: { url: string; mapping: string }
    /** The token of its own scope that has asked for it: others of that kind are not told the result. */
    tokenId?: string
  }
  /** A schedule in a session apart: its name in the summary, and whether the main session is woken at once. */
  schedule?: { name: string; wakeMode: "now" | "next-heartbeat" }
  /** The model's thinking is kept to be shown, whatever the session says. */
  showsReasoning?: true
  model?: string
  thinking?: ThinkingLevel
  timeoutSeconds?: number
}

/** What a hook is called that has no name. */
export const unnamedHook = "Hook"

export const turnJobKind = "turn"
export const heartbeatJobKind = "heartbeat"

/** The job of a turn, in the lane of its session. */
export function turnJob(
  runId: string,
  input: TurnInput,
  hold?: { holdMs: number; maxHoldMs: number; key?: string },
): NewJob {
  const job: NewJob = { runId, kind: turnJobKind, laneKey: input.sessionKey, payload: input as unknown as Json }
  if (input.purpose === "hook" || input.purpose === "schedule") job.class = "hooks"
  const key = input.join?.key ?? hold?.key
  if (key !== undefined && hold) job.join = { ...hold, key }
  if (input.ref !== undefined) job.ref = input.ref
  // What nobody in a chat has said belongs to no message that waits.
  job.sender = input.purpose === "chat" ? senderKey(input) : ""
  return job
}

/** Who speaks where. Neither a name nor a text is part of it: they may change from message to message. */
export function senderKey({ route, askedBy }: Pick<TurnInput, "route" | "askedBy">): string {
  const place: Partial<Route> = route ?? {}
  const { channel = "", account = "", chatId = "", threadId = "", commentsOf } = place
  const { id, origin, isAuthorised } = askedBy ?? { id: "", origin: "", isAuthorised: false }
  const comments = commentsOf === undefined ? [] : [commentsOf]
  return JSON.stringify([channel, account, chatId, threadId, id, origin, isAuthorised, ...comments])
}

/** A wake of a session: several that wait become one. */
export function heartbeatJob(
  runId: string,
  sessionKey: string,
  reason: "wake" | "interval" | "hook" | "manual",
): NewJob {
  return { runId, kind: heartbeatJobKind, laneKey: sessionKey, payload: { reason }, class: "timers", coalesce: true }
}

/** What a channel does with the input of a turn of its own before the prompt is made. */
export interface TurnPreparation {
  /** Makes one input of several that were joined, oldest first. Pure. */
  merge(inputs: readonly TurnInput[]): TurnInput
  /** Brings what `pending` asks for. Outside any transaction; one bad file is a note in the text, not an error. */
  fetch(input: TurnInput, signal: AbortSignal): Promise<TurnInput>
  /** In the transaction that keeps the prompt: adds what is used up by being shown (a group's history). */
  complete(write: Write, input: TurnInput): TurnInput
}

/** One question to the model. */
export interface TurnStep {
  /** From 0; a turn that goes on after a crash begins with its next. */
  number: number
  /** Words of others are part of what it is written from. */
  isTainted?: boolean
  /** What the step before it has said, when there was one. */
  before?: string
}

/** How a turn wants to be seen. */
export interface TurnView {
  /** `stream`: the model's thinking is shown while it thinks; `on`: also in front of the answer. */
  reasoning: "off" | "on" | "stream"
}

/** Sees a turn while it runs (typing indicator, drafts). Must never throw and never delay the turn. */
export interface TurnObserver {
  onStep?(step: TurnStep): void
  onDelta?(delta: { kind: "text" | "reasoning"; text: string }): void
  /** The deltas of the present step are void. Returns what of them has been sent for good: that is gone on from. */
  onRestart?(): string
  /** Called once, whatever the end was. */
  end(): void
}
