// Several messages that waited -> one turn: each stays a message of its own in the prompt, in the order in which they
// came; the turn is trusted no more than the least trusted of them, and answers the last.
import type { Store } from "../../store/index.ts"
import { type TurnInput, senderKey } from "../turn-input.ts"
import { type WaitingMessage, waitingOf } from "./waiting.ts"

/** Beyond what any cap in use lets wait. */
const maxCollected = 200

/** What the turn of this message takes in with it. */
export function collectable(
  store: Store,
  job: { id: number; lane_key: string; run_at: number },
  input: TurnInput,
): WaitingMessage[] {
  if (!joins(input, true)) return []
  const waiting = waitingOf(store, job.lane_key, { sender: senderKey(input), after: job.id, passesOthers: false })
  const isPaused = (message: WaitingMessage) => message.jobs.every((row) => row.run_at <= store.clock.now())
  const end = waiting.findIndex((message) => !isPaused(message) || !message.inputs.every((each) => joins(each, false)))
  return waiting.slice(0, end === -1 ? maxCollected : Math.min(end, maxCollected))
}

/** One that came while nothing ran can only be the first. */
function joins({ queue, purpose }: TurnInput, isFirst: boolean): boolean {
  if (queue === undefined) return isFirst && purpose === "chat"
  return queue.mode === "collect" || queue.mode === "interrupt"
}

/** Oldest first. */
export function collectInputs(inputs: readonly TurnInput[]): TurnInput {
  const last = inputs.at(-1) as TurnInput
  if (inputs.length === 1) return last
  const { header: _header, context: _context, about: _about, sticker: _sticker, wrap: _wrap, ...rest } = last
  const trusted = inputs.every((input) => input.trusted)
  const sites = [...new Set(inputs.flatMap((input) => input.sites ?? []))]
  const media = inputs.flatMap((input) => input.media ?? [])
  return {
    ...rest,
    trusted,
    ...(!trusted && inputs.every((input) => input.trusted || input.wrap === false) ? { wrap: false } : {}),
    ...(inputs.some((input) => input.mentioned) ? { mentioned: true } : {}),
    ...(sites.length === 0 ? {} : { sites }),
    ...(media.length === 0 ? {} : { media }),
    text: inputs.map((input) => input.text).join("\n\n"),
    parts: [...inputs],
  }
}
