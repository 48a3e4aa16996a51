// Where words of others are in a turn. They come with the prompt (the input, events, what stands around it), with the past
// that is shown, or with the result of a tool; from then on the turn is tainted, and what it says is kept as such.
// The table of what that means for tools stands in docs/architecture.md.
import { addressesIn, plainAddress, siteOf, sitesIn } from "../kernel/index.ts"
import type { ModelMessage } from "../models/contract.ts"
import { type Origin, type Session, type TranscriptEntry, addSites, hasSite, listSites } from "../sessions/index.ts"
import type { EventRow, Store, Write } from "../store/index.ts"
import type { LoopResult } from "./loop.ts"
import type { SessionSites } from "./tool.ts"
import type { TurnInput } from "./turn-input.ts"

/** Whose words a prompt holds. */
export interface PromptTrust {
  /** The least trusted source of what was shown. */
  origin: Origin
  /** True when everything shown to the model came from people who may command it. */
  trusted: boolean
  /** Source of the first words of others in it; unset: there are none. */
  foreign?: Origin
  /** The past is not shown: words of others must not meet it. */
  withoutPast?: true
}

export function trustOf(input: TurnInput, events: readonly EventRow[]): PromptTrust {
  const event = events.find((each) => each.trusted === 0)
  const eventOrigin = event?.origin as Origin | undefined
  const foreign = eventOrigin ?? (hasForeignWords(input) ? input.origin : undefined)
  const isShared = events.every((each) => each.trusted !== 0 || each.share_history !== 0)
  return {
    origin: input.trusted && eventOrigin ? eventOrigin : input.origin,
    trusted: input.trusted && event === undefined,
    ...(foreign === undefined ? {} : { foreign }),
    // Nobody has asked: without the event there would be no heartbeat, so it decides what is done with the past.
    ...(input.purpose === "heartbeat" && event !== undefined && !isShared ? { withoutPast: true } : {}),
  }
}

/** A guest's own words are not foreign in a session that holds no others; files, names and what is quoted always are. */
function hasForeignWords(input: TurnInput): boolean {
  if (input.parts) return input.parts.some(hasForeignWords) || (input.context ?? []).some((around) => !around.isOwn)
  const { trusted, guestSession, context = [], media = [], about, sticker, names } = input
  if (context.some((around) => !around.isOwn) || media.length > 0 || sticker !== undefined || names) return true
  if (trusted) return false
  const { forwardedFrom, viaBot, buttonBy } = about ?? {}
  return !guestSession || forwardedFrom !== undefined || viaBot !== undefined || buttonBy !== undefined
}

/** Keeps which sites the one whose session it is, or the operator, has named. In the transaction of the prompt. */
export function keepNamedSites(write: Write, session: Session, input: TurnInput): void {
  for (const part of input.parts ?? []) keepNamedSites(write, session, part)
  const ofOperator = [
    input.instructions ?? "",
    ...(input.segments ?? []).filter((segment) => segment.kind === "operator").map((segment) => segment.text),
    // The prompt of a heartbeat is the configuration's, and the owner's file.
    ...(input.purpose === "heartbeat" && input.trusted ? [input.text] : []),
  ]
  // What stands beside the words of somebody who is trusted takes nothing from what he has typed.
  const bySender = mayName(input) && !input.parts ? (input.sites ?? []) : []
  const byOperator = ofOperator.flatMap((text) => [...sitesIn(text), ...addressesIn(text)])
  addSites(write, session.sessionId, [...bySender, ...byOperator])
}

function mayName({ trusted, wrap, guestSession, purpose }: TurnInput): boolean {
  return trusted || guestSession === true || (purpose === "chat" && wrap === false)
}

export function sessionSites(store: Store, session: Session, input: TurnInput): SessionSites {
  let quoted: Set<string> | undefined
  return {
    has: (site) => hasSite(store, session.sessionId, site),
    quotes(address) {
      if (!isApart(input)) return false
      quoted ??= addressesIn([input.text, ...(input.segments ?? []).map((segment) => segment.text)].join("\n"))
      return siteOf(address) !== undefined && quoted.has(plainAddress(address))
    },
    list: () => listSites(store, session.sessionId),
    async add(sites) {
      const fresh = sites.filter((site) => !hasSite(store, session.sessionId, site))
      if (fresh.length > 0) await store.write(async (write) => addSites(write, session.sessionId, fresh))
    },
  }
}

/** Its session holds nothing that an owner has said to the agent alone. */
function isApart({ trusted, purpose, origin, guestSession }: TurnInput): boolean {
  return !trusted && (purpose === "hook" || origin === "group-member" || guestSession === true)
}

/** What a turn leaves in the transcript, each entry with its provenance. */
export function entriesOf(
  prompt: { message: ModelMessage; trust: PromptTrust },
  {
    messages,
    taintedFrom = messages.length,
    steeredFrom,
  }: Pick<LoopResult, "messages" | "taintedFrom" | "steeredFrom">,
): TranscriptEntry[] {
  const { foreign, origin } = prompt.trust
  return [
    { message: prompt.message, origin: foreign ?? origin, trusted: foreign === undefined },
    ...messages.map((message, index): TranscriptEntry => {
      const trusted = index < taintedFrom
      const ofTool = trusted ? "system" : "web-page"
      const steered = steeredFrom.get(index)
      // Said before anything of others was read, or after it: its own words are its sender's either way.
      if (steered !== undefined) return { message, origin: steered, trusted }
      return { message, origin: message.role === "tool" ? ofTool : "model", trusted }
    }),
  ]
}
