// Which waiting events a prompt shows, and how much of them: oldest first, as much as the model has room for, the rest
// next time. What no model takes is shown alone, then in short, then set aside; nothing else waits for that.
import { AppError, type Ids, type Log } from "../kernel/index.ts"
import { ModelFailure, isContextTooLong, isModelAway } from "../models/index.ts"
import { charactersPerToken, mainKey } from "../sessions/index.ts"
import {
  type EventRow,
  type JobRow,
  type Store,
  type Write,
  freeStrayEvents,
  freshEvents,
  hasEvents,
  holdEvents,
  refusedEvent,
  settleEvents,
} from "../store/index.ts"
import type { PromptSegment } from "./prompt/segments.ts"
import { type TurnInput, heartbeatJob } from "./turn-input.ts"

/** An event in a prompt: these of its characters. */
export interface ShownEvent {
  event: EventRow
  /** In the order of the text; one piece where all of it is of one kind. */
  pieces: PromptSegment[]
  from: number
  to: number
  length: number
  /** What is left out is left out for good. */
  isInShort: boolean
}

/** Of what the model takes; the rest is for the words that it is asked with, the past and the tools. */
const eventShare = 0.4
/** Fifty wakes of the greatest length would fill a million tokens, and cost as much. */
const maxRoomTokens = 50_000
/** Fewer characters than this are not worth a prompt. */
const minRoom = 1_000
/** Our estimate of tokens is rough: what did not fit is made a good deal smaller. */
const smallerBy = 3
/** What stands round an event: its time, a boundary, a note. */
const frame = 200
/** Of an event that a model has refused even alone. */
const shortLength = 500

/** Characters that the events of a prompt may have. */
export function eventRoom(promptTokens: number, otherTokens: number): number {
  const tokens = Math.min(maxRoomTokens, promptTokens * eventShare - otherTokens)
  return Math.max(minRoom, Math.floor(tokens * charactersPerToken))
}

/** What they take up in a prompt. */
export function sizeOfEvents(events: readonly ShownEvent[]): number {
  return events.reduce((sum, { from, to }) => sum + to - from + frame, 0)
}

/** The room of the next try after a prompt that was too long; undefined when only a prompt without events is left. */
export function smallerRoom(room: number): number | undefined {
  const next = Math.floor(room / smallerBy)
  return next < minRoom ? undefined : next
}

/**
 * Picks the events of a prompt and holds them for its job; inside the transaction that keeps the prompt. Those that a
 * model has refused come when no others wait, and only where `takesRefused`.
 */
export function takeEvents(
  store: Store,
  write: Write,
  {
    sessionKey,
    jobId,
    room,
    takesRefused,
  }: { sessionKey: string; jobId: number; room: () => number; takesRefused: boolean },
): ShownEvent[] {
  freeStrayEvents(write, sessionKey)
  const fresh = freshEvents(store, sessionKey)
  const shown = fresh.length === 0 ? [] : fitEvents(fresh, room())
  const refused = shown.length === 0 && takesRefused ? refusedEvent(store, sessionKey) : undefined
  if (refused) shown.push(showRefused(refused, room()))
  const holds = shown.map(({ event, to, length, isInShort }) => ({
    id: event.id,
    to: to === length || isInShort ? null : to,
  }))
  holdEvents(write, jobId, holds)
  return shown
}

function fitEvents(rows: readonly EventRow[], room: number): ShownEvent[] {
  const shown: ShownEvent[] = []
  let left = room
  for (const row of rows) {
    const whole = wholeEvent(row)
    const size = whole.to - whole.from + frame
    // One that is too long for any prompt goes on in the next; others wait until they fit.
    if (size > left && shown.length > 0) break
    shown.push(size > left ? cut(whole, left - frame) : whole)
    left -= size
  }
  return shown
}

function showRefused(row: EventRow, room: number): ShownEvent {
  const whole = wholeEvent(row)
  if (row.refusals < 2) return cut(whole, room - frame)
  return { ...cut(whole, shortLength), isInShort: true }
}

/** All of it that no answered prompt has shown. */
export function wholeEvent(event: EventRow): ShownEvent {
  const kind = event.trusted === 0 ? "value" : "operator"
  const pieces = event.segments === null ? undefined : (JSON.parse(event.segments) as PromptSegment[])
  const all: PromptSegment[] = pieces ?? [{ kind, text: event.text }]
  const length = all.reduce((sum, { text }) => sum + text.length, 0)
  const from = Math.min(event.shown_to, length)
  return { event, pieces: slice(all, from, length), from, to: length, length, isInShort: false }
}

function cut(shown: ShownEvent, characters: number): ShownEvent {
  if (shown.to - shown.from <= characters) return shown
  const pieces = slice(shown.pieces, 0, characters)
  const taken = pieces.reduce((sum, { text }) => sum + text.length, 0)
  return { ...shown, pieces, to: shown.from + taken }
}

/** Never between the halves of a character. */
function slice(pieces: readonly PromptSegment[], from: number, to: number): PromptSegment[] {
  let at = 0
  return pieces.flatMap(({ kind, text }) => {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at))
    const isCut = at + text.length > to
    at += text.length
    const whole = isCut ? part.replace(/[\ud800-\udbff]$/, "") : part
    return whole === "" ? [] : [{ kind, text: whole }]
  })
}

/** Failures that say nothing about what was asked. */
const unrelated = new Set<ModelFailure["kind"]>(["network", "busy", "silent", "key", "credit", "unknown-model"])

/** Whether asking with fewer events, or with none, may be answered. */
export function mayBeEvents(error: unknown): "too-long" | "refused" | undefined {
  if (!(error instanceof AppError) || error.code !== "model-failed") return undefined
  if (isContextTooLong(error)) return "too-long"
  const isUnrelated = error instanceof ModelFailure ? unrelated.has(error.kind) : isModelAway(error)
  return isUnrelated ? undefined : "refused"
}

export type EventsOf = Pick<TurnInput, "purpose" | "sessionKey" | "agentId">

/**
 * What becomes of the events that a turn held, in the transaction that ends it. Where heartbeats look after a session,
 * they follow each other until nothing waits.
 */
export function endEvents(
  { store, ids, log }: { store: Store; ids: Ids; log: Log },
  write: Write,
  job: JobRow,
  { purpose, sessionKey, agentId }: EventsOf,
  how: { blame?: boolean; isAnswered?: boolean },
): void {
  const { refused, setAside } = settleEvents(write, job.id, how)
  if (refused > 0) log.warn({ run: job.run_id, session: sessionKey, refused, setAside }, "events refused by the model")
  const isLookedAfter = purpose === "heartbeat" || sessionKey === mainKey(agentId)
  const goesOn = refused > 0 || (purpose === "heartbeat" && how.isAnswered === true)
  if (isLookedAfter && goesOn && hasEvents(store, sessionKey)) {
    write.addJob(heartbeatJob(ids.uuid(), sessionKey, "wake"))
  }
}
