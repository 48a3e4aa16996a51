// A turn begins: job -> what has waited with it -> files -> prompt, in the journal. Of an earlier attempt that came so far,
// the journal alone counts; before that, what was taken in is known by its rows.
import { AppError, type Json } from "../kernel/index.ts"
import type { ModelSelection } from "../models/contract.ts"
import type { Session } from "../sessions/index.ts"
import {
  type JobRow,
  type Step,
  type Write,
  endJob,
  replaceJobPayload,
  takeIn,
  takeJoined,
  takenBy,
} from "../store/index.ts"
import { collectInputs, collectable, shutOut, takeDropped } from "./queue/index.ts"
import { readPictures } from "./prompt.ts"
import { keepNamedSites } from "./taint.ts"
import { type PromptStep, roomForEvents, takePrompt } from "./turn-prompt.ts"
import type { TurnContext, TurnInput, TurnPreparation } from "./turn-input.ts"
import type { TurnOptions } from "./turn-options.ts"

/** Joined parts of one turn at most: an album has ten, a long paste a dozen. */
const maxParts = 60

/** Opens the session and makes the prompt, or finds both in the journal of an earlier attempt. */
export async function begin(
  options: TurnOptions,
  job: JobRow,
  steps: Step[],
  makeInput: () => TurnInput,
  signal: AbortSignal,
): Promise<{ session: Session; step: PromptStep }> {
  const known = steps.find((step) => step.kind === "prompt")?.data as PromptStep | undefined
  const prepared = known?.input ?? (await prepare(options, job, makeInput(), signal))
  const pictures = known ? [] : await readPictures(prepared)
  const open = async (write: Write) => {
    const session = options.sessions.open(write, prepared.sessionKey, prepared.agentId)
    if (known) return { session, step: known }
    const input = withDropped(options.preparation(prepared)?.complete(write, prepared) ?? prepared, (whole) =>
      takeDropped(write, job.id, whole),
    )
    const step = takePrompt(options, write, job, {
      input,
      pictures,
      room: () => roomForEvents(options, input, promptTokensOf(options, session, input)),
    })
    keepNamedSites(write, session, input)
    // Its own insert: the events are held in this very transaction, or not at all.
    write
      .prepare("insert into step (job_id, n, kind, data, created_at) values (?, 0, 'prompt', ?, ?)")
      .run(job.id, JSON.stringify(step), write.now)
    return { session, step }
  }
  // A model may be asked twice after a loss of power; what is done or told after that is a row behind this one.
  return await options.store.write(open, { force: false })
}

/** A model that is not to be had is told of when it is asked. */
function promptTokensOf(options: TurnOptions, session: Session, input: TurnInput): number {
  try {
    return options.models.describe(selectModel(session, input)).promptTokens
  } catch (error) {
    if (error instanceof AppError) return 0
    throw error
  }
}

export function selectModel(session: Session, input: TurnInput): ModelSelection {
  return {
    agentId: input.agentId,
    model: input.model ?? session.settings.model,
    thinking: input.thinking ?? session.settings.thinking,
  }
}

function withDropped(input: TurnInput, take: (input: TurnInput) => TurnContext | undefined): TurnInput {
  const dropped = take(input)
  return dropped ? { ...input, context: [dropped, ...(input.context ?? [])] } : input
}

/** Takes in what was joined to the job and what waits with it, durably; then the channel brings what is still missing. */
async function prepare(options: TurnOptions, job: JobRow, input: TurnInput, signal: AbortSignal): Promise<TurnInput> {
  const preparation = options.preparation(input)
  const whole = input.join === undefined || !preparation ? input : await takeParts(options, preparation, job, input)
  const inputs: TurnInput[] = []
  for (const each of [whole, ...(await takeWaiting(options, job, whole))]) {
    inputs.push(each.pending === undefined || !preparation ? each : await preparation.fetch(each, signal))
  }
  return collectInputs(inputs)
}

/** What is answered by the same turn, each message whole. Of an earlier attempt, what that one had taken in comes first. */
async function takeWaiting(options: TurnOptions, job: JobRow, input: TurnInput): Promise<TurnInput[]> {
  const { store } = options
  const isAlone = takenBy(store, job).length === 0 && collectable(store, job, input).length === 0
  if (isAlone) return []
  const rows = await store.write(async (write) => {
    for (const message of collectable(store, job, input)) {
      const isHeard = message.inputs.every((each) => options.isHeard?.(each) ?? true)
      if (isHeard) takeIn(write, job, message.jobs)
      else for (const row of message.jobs) endJob(store, write, row, { state: "cancelled", error: shutOut })
    }
    return takenBy(store, job)
  })
  return wholeMessages(
    rows.map((row) => JSON.parse(row.payload) as TurnInput),
    options,
  )
}

function wholeMessages(inputs: readonly TurnInput[], options: TurnOptions): TurnInput[] {
  const groups: TurnInput[][] = []
  for (const input of inputs) {
    const last = groups.at(-1)
    const isPart = input.join !== undefined && last?.[0]?.join?.key === input.join.key
    if (last && isPart) last.push(input)
    else groups.push([input])
  }
  return groups.map((group) => {
    const [first] = group as [TurnInput]
    return (group.length > 1 && options.preparation(first)?.merge(group)) || first
  })
}

async function takeParts(
  options: TurnOptions,
  preparation: TurnPreparation,
  job: JobRow,
  input: TurnInput,
): Promise<TurnInput> {
  return await options.store.write(async (write) => {
    const adjacent = input.join?.kind !== "album"
    const parts = takeJoined(options.store, write, job, { adjacent, limit: maxParts })
    if (parts.length === 0) return input
    const whole = preparation.merge([input, ...parts.map((part) => JSON.parse(part.payload) as TurnInput)])
    replaceJobPayload(write, job, whole as unknown as Json)
    return whole
  })
}
