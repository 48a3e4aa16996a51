// A turn: job -> prompt (waiting events first, journaled) -> loop -> one transaction with the transcript, the
// outbox rows, the summary for the main session and the end of the job.
import { AppError, describeError, withTimeout } from "../kernel/index.ts"
import { BudgetExceeded } from "../budget/index.ts"
import type { ModelMessage, ModelRequest, UsedFor } from "../models/contract.ts"
import { ModelFailure } from "../models/index.ts"
import { type Origin, type Session, estimateTokens, withoutImages } from "../sessions/index.ts"
import {
  type JobEnd,
  JobPostponed,
  type JobRow,
  type Step,
  type Write,
  giveBack,
  lowerProvenance,
  readSteps,
  settleEvents,
} from "../store/index.ts"
import { type AskingTurn, askOwner } from "./approval-turn.ts"
import { compactWhenFull, roomForPast } from "./compact/due.ts"
import { type EventsOf, endEvents, mayBeEvents } from "./events.ts"
import { fitRequests } from "./fit.ts"
import { type LoopOptions, type LoopResult, runLoop } from "./loop.ts"
import { offeredTools } from "./offered-tools.ts"
import { fillInstructions, systemPrompt, userMessage } from "./prompt.ts"
import { type SteeredStep, type WatchInterrupts, createInterrupts, prepareSteering } from "./queue/index.ts"
import { mayBeSilent } from "./silence.ts"
import { TurnStopped, stoppedLoop } from "./stopped.ts"
import { type PromptTrust, entriesOf, sessionSites } from "./taint.ts"
import type { ToolContext } from "./tool.ts"
import { producedMedia } from "./tool-runner.ts"
import { maxSummary, reportRun } from "./report.ts"
import { begin, selectModel } from "./turn-begin.ts"
import { type PromptStep, withFewerEvents } from "./turn-prompt.ts"
import { type TurnInput, type TurnObserver, type TurnView } from "./turn-input.ts"
import type { TurnDelivery, TurnOptions } from "./turn-options.ts"

export type * from "./turn-options.ts"

export interface TurnRun {
  /** `isSilent`: stopped by a command, which is answered itself. */
  result: LoopResult & { isStopped?: boolean; isSilent?: boolean }
  shownEvents: number
  session: Session
  prompt: ModelMessage
  trust: PromptTrust
  input: TurnInput
  /** Share of the room for the past that is filled with the turn; unset where it has ended early. */
  fullness?: number
}

type Running = TurnOptions & { watchInterrupts: WatchInterrupts }

async function runTurn(
  options: Running,
  job: JobRow,
  makeInput: () => TurnInput,
  signal: AbortSignal,
): Promise<TurnRun> {
  const journaled = await readSteps(options.store, job.id)
  const { session, step } = await begin(options, job, journaled, makeInput, signal)
  const { input } = step
  const view: TurnView = { reasoning: input.showsReasoning ? "on" : (session.settings.reasoning ?? "off") }
  const observer = watchWriting(options.observe(input, job.run_id, view))
  // Whatever becomes of the turn: one that typed for ever would be seen for ever.
  return await runSeen(options, job, { journaled, session, step, view, observer }, signal).finally(() => observer.end())
}

interface SeenTurn {
  journaled: Step[]
  session: Session
  step: PromptStep
  view: TurnView
  observer: ReturnType<typeof watchWriting>
}

async function runSeen(options: Running, job: JobRow, seen: SeenTurn, signal: AbortSignal): Promise<TurnRun> {
  const { journaled, session, view, observer } = seen
  let { step } = seen
  const { input } = step
  const seconds = input.timeoutSeconds ?? options.profile(input.agentId).timeoutSeconds
  const interrupts = options.watchInterrupts(job, input)
  const limit = withTimeout(seconds * 1000, "The turn", AbortSignal.any([signal, interrupts.signal]))
  let isForeign = false
  let fullness = (_added: readonly ModelMessage[]) => 0
  const loop = async (steps: Step[]) => {
    const context = toolContext(job, step, limit.signal)
    await options.toolsReady?.(context, limit.signal)
    const {
      foreign,
      fullness: before,
      ...talk
    } = conversation(options, session, step, { ...context, sites: sessionSites(options.store, session, input) })
    fullness = before
    isForeign = step.foreign !== undefined || foreign !== undefined
    // What goes out while the turn is still at work carries it, too.
    if (foreign !== undefined) await options.store.write(async (write) => lowerProvenance(write, job.id))
    return await runLoop({
      ...talk,
      isForeign,
      ...asking(options, { job, session, input, trust: step }),
      confirm: options.profile(input.agentId).confirm,
      ...steering(options, { job, session, input, signal: limit.signal }),
      store: options.store,
      jobId: job.id,
      steps,
      usedFor: usedFor(job, input),
      limits: options.profile(input.agentId).limits,
      mayBeSilent: () => mayBeSilent(options.store.handle, job.id, input),
      ids: options.ids,
      log: options.log,
      signal: limit.signal,
      keepReasoning: view.reasoning === "on",
      onStep: observer.onStep,
      onDelta: observer.onDelta,
      onRestart: observer.onRestart,
      crashPoint: options.crashPoint,
    })
  }
  try {
    for (let steps = journaled; ;) {
      try {
        const result = await loop(steps.length > 0 ? steps : [promptRow(step)])
        const turn = { result, session, prompt: step.message, trust: step, input, shownEvents: step.events }
        return { ...turn, fullness: fullness([step.message, ...result.messages]) }
      } catch (error) {
        const trouble = limit.signal.aborted || step.events === 0 ? undefined : mayBeEvents(error)
        // What a person was sent of an answer cannot be taken back: it is not begun anew.
        if (!trouble || observer.onRestart() !== "") throw error
        const fewer = await withFewerEvents(options, job, step, trouble)
        if (!fewer) throw error
        step = fewer
        steps = [promptRow(step)]
      }
    }
  } catch (error) {
    // The reason of an abort says more than whatever error it surfaced as.
    const reason: unknown = limit.signal.aborted ? limit.signal.reason : error
    if (!(reason instanceof TurnStopped) || !isKept(reason, input)) throw reason
    const left = { reason, writing: observer.writing(), isForeign }
    return { session, trust: step, ...(await stopped(options, job, step, left)) }
  } finally {
    limit.clear()
    interrupts.end()
  }
}

/** Whether what a stopped turn has said and done so far stays. Nobody watches a heartbeat being written, wherever it is stopped. */
function isKept({ wasSeen }: TurnStopped, { purpose }: TurnInput): boolean {
  return purpose === "chat" || (wasSeen && purpose !== "heartbeat")
}

function promptRow(step: PromptStep): Step {
  return { n: 0, kind: "prompt", data: step }
}

function asking({ approvals, timeText }: TurnOptions, turn: AskingTurn): Pick<LoopOptions, "approve"> {
  return approvals ? { approve: (call) => askOwner({ approvals, timeText }, turn, call) } : {}
}

/** Of what the model takes, for one message that comes while it works. */
const steeredShare = 0.2

function steering(
  options: TurnOptions,
  turn: { job: JobRow; session: Session; input: TurnInput; signal: AbortSignal },
): Pick<LoopOptions, "steer"> {
  const { info } = usableModel(options, turn.session, turn.input)
  const maxTokens = info.promptTokens * steeredShare
  return { steer: () => prepareSteering({ ...turn, options, maxTokens }) }
}

/** The observer of a turn, with the words of the step under way: what is left of it when somebody stops it. */
function watchWriting(observer: TurnObserver): Required<TurnObserver> & { writing: () => string } {
  let writing = ""
  return {
    writing: () => writing,
    onStep(step) {
      writing = ""
      observer.onStep?.(step)
    },
    onDelta(delta) {
      if (delta.kind === "text") writing += delta.text
      observer.onDelta?.(delta)
    },
    onRestart() {
      writing = observer.onRestart?.() ?? ""
      return writing
    },
    end: () => observer.end(),
  }
}

/** What the model is asked with: the past that fits, the prompt, the tools, and whom to ask. */
function conversation(
  options: TurnOptions,
  session: Session,
  { input, message, withoutPast }: PromptStep,
  context: ToolContext,
): Pick<LoopOptions, "system" | "history" | "prompt" | "complete" | "tools" | "context"> & {
  foreign?: Origin
  fullness: (added: readonly ModelMessage[]) => number
} {
  const { selection, info } = usableModel(options, session, input)
  const { id: model, promptTokens } = info
  const budget = roomForPast(promptTokens)
  const room = Math.max(1_000, budget - estimateTokens(message))
  const maxTurns = withoutPast ? 0 : input.historyTurns
  const {
    messages: history,
    tokens,
    isCut,
    foreign,
  } = options.sessions.history(session.sessionId, { budget, room, maxTurns })
  const { tools, skills } = offeredTools(options, input, context)
  const ask = (request: ModelRequest) => options.models.complete(selection, request)
  return {
    system: systemPrompt({ ...promptProfile(options, input), tools, skills }),
    history,
    prompt: message,
    complete: fitRequests({ complete: ask, historyLength: history.length, model, promptTokens, log: options.log }),
    tools,
    context,
    fullness(added) {
      // The offline model writes no summaries.
      if (model.startsWith("offline/")) return 0
      return isCut ? 1 : added.reduce((sum, message) => sum + estimateTokens(message), tokens) / budget
    },
    ...(foreign === undefined ? {} : { foreign }),
  }
}

export function createTurns(options: TurnOptions) {
  const running: Running = { ...options, watchInterrupts: createInterrupts(options.store) }
  const run = (job: JobRow, makeInput: () => TurnInput, signal: AbortSignal) => runTurn(running, job, makeInput, signal)
  return {
    run,
    /** The handler of jobs of kind `turn`. */
    async handle(job: JobRow, signal: AbortSignal): Promise<JobEnd> {
      const input = JSON.parse(job.payload) as TurnInput
      options.log.info({ run: job.run_id, session: input.sessionKey, attempt: job.attempts }, "turn started")
      try {
        const turn = await run(job, () => input, signal)
        options.log.info({ run: job.run_id, steps: turn.result.modelSteps, model: turn.result.model }, "turn finished")
        return finish(options, job, turn)
      } catch (error) {
        return endFailed(options, job, input, error, (write, failure) =>
          tellFailure(options, write, job, input, failure),
        )
      }
    },
    /** After the last attempt of a turn that fails in ways we did not foresee. */
    async onDead(job: JobRow, error: string, write: Write): Promise<void> {
      const input = JSON.parse(job.payload) as TurnInput
      endEvents(options, write, job, input, { blame: true })
      giveBackSteered(write, job)
      tellFailure(options, write, job, input, new AppError("internal", error))
    },
  }
}

export type Turns = ReturnType<typeof createTurns>

/** What is left of a turn that was stopped; `writing` is what the step under way had written. */
async function stopped(
  options: TurnOptions,
  job: JobRow,
  { input, message, events }: PromptStep,
  { reason, writing, isForeign }: { reason: TurnStopped; writing: string; isForeign: boolean },
): Promise<Omit<TurnRun, "session" | "trust">> {
  const isSilent = !reason.wasSeen
  const result = await stoppedLoop({ store: options.store, jobId: job.id, isForeign }, writing, reason)
  // Events that no model has answered to are shown again by the next turn, so the conversation does not keep them here.
  const isUnread = isSilent && result.modelSteps === 1
  const prompt = isUnread ? userMessage(options, input, [], []) : message
  return { result: { ...result, isSilent }, prompt, input, shownEvents: events }
}

function promptProfile(options: TurnOptions, input: TurnInput) {
  const { name: agentName, manner } = options.profile(input.agentId)
  const workspace = options.workspaceFiles?.(input.agentId, { isPrivate: isOwnersPlace(input) }) ?? []
  return { agentName, manner, instructions: fillInstructions(input), purpose: input.purpose, workspace }
}

/** Where nobody else reads along. The same for all turns of a session, or its prompt would not stay the same. */
function isOwnersPlace({ purpose, route, guestSession, askedBy, origin, trusted }: TurnInput): boolean {
  if (purpose === "schedule") return trusted && (route === null || route.chatKind === "private")
  if (purpose !== "chat") return purpose === "heartbeat"
  const isOfStanding = askedBy?.isAuthorised ?? origin === "owner"
  return route?.chatKind === "private" && !guestSession && isOfStanding
}

/** The origin is that of who asked, whatever else the turn was shown. */
function usedFor(job: JobRow, { purpose, sessionKey, origin }: TurnInput): UsedFor {
  return { purpose, sessionKey, runId: job.run_id, origin }
}

/** A model that a conversation has chosen and that the configuration has lost since is given up for the agent's own. */
function usableModel(options: TurnOptions, session: Session, input: TurnInput) {
  const selection = selectModel(session, input)
  try {
    return { selection, info: options.models.describe(selection) }
  } catch (error) {
    const isChosen = input.model === undefined && session.settings.model !== undefined
    if (!isChosen || !(error instanceof AppError) || !error.code.startsWith("model-")) throw error
    const own = { ...selection, model: undefined }
    const info = options.models.describe(own)
    options.log.warn(
      { session: session.key, model: selection.model, instead: info.id, reason: error.message },
      "chosen model not usable",
    )
    return { selection: own, info }
  }
}

/** The loop says of each call whether it is tainted; until then all are. */
function toolContext(job: JobRow, step: PromptStep, signal: AbortSignal): Omit<ToolContext, "sites"> {
  const { agentId, sessionKey, route } = step.input
  const { origin, trusted } = step
  const recall = recallOf(step)
  return {
    agentId,
    sessionKey,
    runId: job.run_id,
    origin,
    trusted,
    recall,
    route,
    signal,
    tainted: true,
    approved: false,
  }
}

/** Webhooks have no past, and nobody has asked for a heartbeat that shows words of others. */
function recallOf({ input, trusted }: PromptStep): ToolContext["recall"] {
  if (input.purpose === "hook" || (input.purpose === "heartbeat" && !trusted)) return "nothing"
  return isOwnersPlace(input) ? "owner" : "session"
}

function finish(options: TurnOptions, job: JobRow, turn: TurnRun): JobEnd {
  const { input, session, result } = turn
  const { text, reasoning, modelSteps, isStopped = false, isSilent = false } = result
  const end: JobEnd = { state: isStopped ? "cancelled" : "done" }
  end.commit = async (write) => {
    keepTranscript(options, write, job, turn)
    options.sessions.touch(write, session)
    endEvents(options, write, job, input, isSilent ? {} : { isAnswered: true })
    compactWhenFull(options, write, turn)
    if (isSilent) {
      end.result = "stopped"
      return
    }
    const media = producedMedia(result.toolResults)
    const { isTainted } = result
    const outgoing: TurnDelivery = {
      input,
      jobId: job.id,
      text,
      media,
      isError: false,
      modelSteps,
      isStopped,
      isTainted,
    }
    if (reasoning !== "") outgoing.reasoning = reasoning
    const delivered = options.deliver(write, outgoing)
    reportRun(options, write, input, { text, delivered, isError: false, isTainted })
    end.result = describeResult(text, delivered)
  }
  return end
}

export function keepTranscript(options: TurnOptions, write: Write, job: JobRow, turn: TurnRun): void {
  const entries = entriesOf({ message: turn.prompt, trust: turn.trust }, turn.result)
  const kept = entries.map((entry) => ({ ...entry, message: withoutImages(entry.message) }))
  options.sessions.append(write, turn.session, job.id, kept)
}

/** Failures that another try would only repeat: the sender gets one short message and the lane goes on. */
function isFinal(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false
  if (error.code === "budget-exceeded" || error.code === "turn-limit") return true
  return error.code.startsWith("model-") || error.code === "timeout" || error.code === "bad-request"
}

/** How a turn ends that was stopped or failed for good, with the writes of `tell`; rethrows what may be tried again. */
export function endFailed(
  options: Pick<TurnOptions, "store" | "ids" | "log">,
  job: JobRow,
  input: EventsOf,
  error: unknown,
  tell?: (write: Write, failure: AppError) => void,
): JobEnd {
  if (error instanceof TurnStopped) {
    return { state: "cancelled", result: "stopped", commit: async (write) => void settleEvents(write, job.id) }
  }
  if (!isFinal(error)) throw error
  options.log.warn({ run: job.run_id, err: error }, "turn failed")
  return {
    // Bounds that its owner has set are no failure that anybody has to look into.
    state: error instanceof BudgetExceeded ? "cancelled" : "dead",
    error: describeError(error),
    async commit(write) {
      // More was allowed between the refusal and this end: nobody takes the run up again if it ends now.
      if (error instanceof BudgetExceeded && error.wasLifted()) throw new JobPostponed(write.now, "more was allowed")
      // A prompt that no model ends is not asked anew within its own turn, and must not use up every turn after it.
      endEvents(options, write, job, input, { blame: error.code === "timeout" })
      giveBackSteered(write, job)
      tell?.(write, error)
    },
  }
}

/** What was put into a turn that came to nothing was never asked by itself: each of it gets a turn of its own. */
function giveBackSteered(write: Write, job: JobRow): void {
  const rows = write.prepare("select data from step where job_id = ? and kind = 'steered'").all(job.id)
  for (const row of rows) giveBack(write, job, (JSON.parse(String(row["data"])) as SteeredStep).jobs)
}

function tellFailure(options: TurnOptions, write: Write, job: JobRow, input: TurnInput, error: AppError): void {
  const text = apology(error, input)
  // The owner who waits for the answer has just been told by the budget itself, with buttons.
  const isTold = error instanceof BudgetExceeded && error.toldAt === placeOf(input)
  const delivered = isTold
    ? "told with the cap that is used"
    : options.deliver(write, { input, jobId: job.id, text, media: new Set(), isError: true })
  // A provider's words about its failure are for the operator: they stand in the run.
  const told = input.hook ? error.message : text
  reportRun(options, write, input, { text: told, delivered, isError: true, isTainted: false })
}

function placeOf({ route }: TurnInput): string | undefined {
  return route === null ? undefined : `${route.channel} ${route.account} ${route.chatId}`
}

const setUpCodes = new Set<string>(["model-unknown", "model-not-allowed", "model-key-missing"])

/** For a person in a chat: short, without inner details. */
function apology(error: AppError, input: TurnInput): string {
  if (error.code === "turn-limit") return `I have stopped: ${error.message}.`
  if (error.code === "budget-exceeded") {
    const isOwners = input.origin === "owner" && input.route?.chatKind === "private"
    return isOwners
      ? `Not answered. ${error.message}. See /usage, where you can allow more.`
      : "Sorry, I cannot answer now: a limit on spending is reached."
  }

  if (error.code === "timeout") return "Sorry, this took too long and was stopped. Please try again."
  if (error.code === "internal") return "Sorry, something went wrong on my side. Please try again."
  // Causes, addresses and next steps are for the operator: they stand in the run and in the log.
  if (error instanceof ModelFailure) return `Sorry, I could not answer: ${error.chatMessage}`
  if (setUpCodes.has(error.code)) return "Sorry, I could not answer: my model is not set up as it should be."
  const hint = error.hint === undefined ? "" : ` (${error.hint})`
  return `Sorry, I could not answer: ${error.message}${hint}`
}

function describeResult(text: string, delivered: string): string {
  return JSON.stringify({ text: text.slice(0, maxSummary), delivered })
}
