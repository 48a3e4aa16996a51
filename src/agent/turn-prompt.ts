// The prompt of a turn: its input with as many waiting events as have room, kept in the journal, and the same with fewer
// when no model took it. Whose words are in it is decided here, for the tools and for what the turn sends.
import type { Log } from "../kernel/index.ts"
import type { ContentPart, ModelMessage } from "../models/contract.ts"
import { estimateTokens, mainKey } from "../sessions/index.ts"
import {
  type JobRow,
  type Store,
  type Write,
  leaveOutEvents,
  markProvenance,
  readSteps,
  settleEvents,
} from "../store/index.ts"
import { eventRoom, sizeOfEvents, smallerRoom, takeEvents } from "./events.ts"
import { type PromptOptions, userMessage } from "./prompt.ts"
import { type PromptTrust, trustOf } from "./taint.ts"
import type { TurnInput } from "./turn-input.ts"

export interface PromptParts extends PromptOptions {
  store: Store
  log: Log
}

export interface PromptStep extends PromptTrust {
  input: TurnInput
  message: ModelMessage
  /** How many waiting events were shown. */
  events: number
  /** Characters that they could have. */
  eventRoom?: number
}

/** The prompt with as many events as have room; undefined is a prompt without any. Holds them for the job. */
export function takePrompt(
  options: PromptParts,
  write: Write,
  job: JobRow,
  { input, pictures, room }: { input: TurnInput; pictures: ContentPart[]; room: (() => number) | undefined },
): PromptStep {
  const { sessionKey, purpose } = input
  // The main session has heartbeats to try them in, where nobody waits for an answer.
  const takesRefused = purpose !== "chat" || sessionKey !== mainKey(input.agentId)
  const wanted = { sessionKey, jobId: job.id, takesRefused }
  const events = room === undefined ? [] : takeEvents(options.store, write, { ...wanted, room })
  const trust = trustOf(
    input,
    events.map(({ event }) => event),
  )
  const step: PromptStep = {
    input,
    message: userMessage(options, input, events, pictures),
    ...trust,
    events: events.length,
    ...(events.length === 0 ? {} : { eventRoom: sizeOfEvents(events) }),
  }
  markProvenance(write, job.id, { origin: trust.foreign ?? trust.origin, trusted: trust.trusted && !trust.foreign })
  return step
}

/** Characters that the events of a prompt may have, beside the words of its input. */
export function roomForEvents(options: PromptParts, input: TurnInput, promptTokens: number): number {
  return eventRoom(promptTokens, estimateTokens(userMessage(options, input, [])))
}

/** The prompt made anew after no model took it, with fewer events or with none; undefined once a model has answered. */
export async function withFewerEvents(
  options: PromptParts,
  job: JobRow,
  { input, message, eventRoom: room = 0 }: PromptStep,
  trouble: "too-long" | "refused",
): Promise<PromptStep | undefined> {
  const steps = await readSteps(options.store, job.id)
  if (steps.some((step) => step.kind === "assistant")) return undefined
  const pictures = message.role === "user" ? message.content.filter((part) => part.type === "image") : []
  const smaller = trouble === "too-long" ? smallerRoom(room) : undefined
  options.log.warn(
    { run: job.run_id, trouble, room: smaller ?? 0 },
    "no model took the prompt, asked with fewer events",
  )
  return await options.store.write(async (write) => {
    if (smaller === undefined) leaveOutEvents(write, job.id)
    else settleEvents(write, job.id, { isAnswered: false })
    const step = takePrompt(options, write, job, {
      input,
      pictures,
      room: smaller === undefined ? undefined : () => smaller,
    })
    write.prepare("update step set data = ? where job_id = ? and n = 0").run(JSON.stringify(step), job.id)
    return step
  })
}
