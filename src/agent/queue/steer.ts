// Messages that came while a turn runs -> part of that turn, between a tool call and the next question to the model: what
// is shown and the end of its waiting are one transaction with the journal, so that a crash neither loses nor repeats it.
import type { ContentPart } from "../../models/contract.ts"
import { type Origin, type Session, estimateTokens } from "../../sessions/index.ts"
import { type JobRow, type Store, type Write, endJob, replaceJobPayload, takeIn } from "../../store/index.ts"
import type { Json, Log } from "../../kernel/index.ts"
import { type PromptOptions, readPictures, userMessage } from "../prompt.ts"
import { keepNamedSites, trustOf } from "../taint.ts"
import type { TurnInput, TurnPreparation } from "../turn-input.ts"
import type { SteeredStep } from "./contract.ts"
import { type WaitingMessage, waitingBehind } from "./waiting.ts"

export interface SteerOptions extends PromptOptions {
  store: Store
  log: Log
  preparation: (input: TurnInput) => TurnPreparation | undefined
  /** Whether its sender may still be heard with the standing that it was taken in with. */
  isHeard?: (input: TurnInput) => boolean
}

export interface Steering {
  options: SteerOptions
  job: JobRow
  session: Session
  input: TurnInput
  /** More than this does not fit into a prompt: what is longer waits for a turn of its own. */
  maxTokens: number
  signal: AbortSignal
}

interface Ready extends WaitingMessage {
  input: TurnInput
  pictures: ContentPart[]
}

/** What the turn is to be shown now; undefined when nothing waits for it. To be called inside the journal's transaction. */
export async function prepareSteering(
  steering: Steering,
): Promise<((write: Write) => SteeredStep | undefined) | undefined> {
  const { options, job, input, signal } = steering
  if (input.purpose !== "chat") return undefined
  const ready: Ready[] = []
  for (const message of steerable(options.store, job, input)) {
    ready.push({ ...message, ...(await prepareMessage(options, message, signal)) })
  }
  return ready.length === 0 ? undefined : (write) => take(steering, write, ready)
}

function steerable(store: Store, job: JobRow, input: TurnInput): WaitingMessage[] {
  const waiting = waitingBehind(store, job, input)
  const isSteered = ({ queue, steered }: TurnInput) =>
    queue?.mode === "steer" || (queue?.mode === "steer-backlog" && !steered)
  // Those behind one that still waits for its parts wait with it: nothing overtakes what was said before.
  const end = waiting.findIndex(
    ({ isDue, inputs }) => !isDue || !inputs.every((each) => isSteered(each) || each.steered),
  )
  return (end === -1 ? waiting : waiting.slice(0, end)).filter(({ inputs }) => inputs.every(isSteered))
}

async function prepareMessage(options: SteerOptions, { inputs }: WaitingMessage, signal: AbortSignal) {
  const first = inputs[0] as TurnInput
  const preparation = options.preparation(first)
  const whole = inputs.length > 1 && preparation ? preparation.merge(inputs) : first
  const input = whole.pending !== undefined && preparation ? await preparation.fetch(whole, signal) : whole
  return { input, pictures: await readPictures(input) }
}

function take(steering: Steering, write: Write, ready: readonly Ready[]): SteeredStep | undefined {
  const { options, job, session, maxTokens } = steering
  const content: ContentPart[] = []
  const jobs: number[] = []
  let foreign: Origin | undefined
  let origin = steering.input.origin
  let left = maxTokens
  for (const { jobs: rows, input, pictures } of ready) {
    if (!stillWait(write, rows)) break
    if (options.isHeard?.(input) === false) {
      for (const row of rows) endJob(options.store, write, row, { state: "cancelled", error: shutOut })
      continue
    }
    const message = userMessage(options, input, [], pictures)
    left -= estimateTokens(message)
    if (left < 0) break
    const trust = trustOf(input, [])
    foreign ??= trust.foreign
    origin = foreign ?? trust.origin
    content.push({ type: "text", text: ourLine }, ...message.content)
    keepNamedSites(write, session, input)
    if (input.queue?.mode === "steer-backlog") markSteered(write, rows)
    else {
      takeIn(write, job, rows)
      jobs.push(...rows.map((row) => row.id))
    }
  }
  if (content.length === 0) return undefined
  options.log.info({ run: job.run_id, messages: ready.length }, "messages put into the running turn")
  return { message: { role: "user", content }, origin, jobs, ...(foreign === undefined ? {} : { foreign: true }) }
}

export const shutOut = "its sender is not let in any more"

const ourLine = "[This came while you were at work on the above. Take it in, and go on.]"

/** Stopped, dropped or edited away since it was looked at. */
function stillWait(write: Write, rows: readonly JobRow[]): boolean {
  const statement = write.prepare("select 1 from job where id = ? and state = 'ready' and taken_by is null")
  return rows.every(({ id }) => statement.get(id) !== undefined)
}

/** It keeps its turn; that turn says what the one before was shown. */
function markSteered(write: Write, rows: readonly JobRow[]): void {
  for (const row of rows) {
    const input = { ...(JSON.parse(row.payload) as TurnInput), steered: true as const }
    replaceJobPayload(write, row, input as unknown as Json)
  }
}
