// One question to the agent: taken in once, then followed until its run has ended, across restarts of the gateway.
import type {
  TerminalAccepted,
  TerminalMessage,
  TerminalProgress,
  TerminalWait,
} from "../../src/channels/terminal/contract.ts"
import { AppError, describeError } from "../../src/kernel/errors.ts"
import { shellWord } from "../../src/kernel/shell-word.ts"
import type { CliContext } from "../context.ts"
import { connectGateway, type GatewayClient } from "../gateway/client.ts"
import { isAway } from "../gateway/follow.ts"
import type { GatewayOptions } from "../options.ts"

export interface Followed {
  progress: TerminalProgress
  /** All that was told while it was written; undefined when that was void in between. */
  streamed: string | undefined
}

export interface AskOptions {
  context: CliContext
  gateway: GatewayOptions
  onText: (text: string) => void
  onNote: (line: string) => void
}

/** How long one question for news is held open by the gateway. */
const waitSeconds = 20
/** The first one: whoever has to wait is told for what while it still looks like an answer that takes its time. */
const firstWaitSeconds = 1
const reasons: Record<TerminalWait, string> = {
  pause: "everything is paused; the answer follows after: svc resume",
  turn: "another message of this conversation is answered first",
}
/** A restart takes some seconds, an update up to half a minute. */
const awayMs = 60_000
const betweenMs = 500
/** Whoever presses Ctrl-C does not want to wait; a second one ends the program at once. */
const stopMs = 5_000

export async function sendQuestion(options: AskOptions, message: TerminalMessage): Promise<TerminalAccepted> {
  const client = connectGateway(options.context, options.gateway)
  try {
    return (await client.call("POST", "/api/agent", { body: message })) as TerminalAccepted
  } catch (error) {
    if (!isAway(error)) throw error
    // Nobody knows whether it was taken in; under its id it may be sent again.
    return (await persist(options, 5_000, (again) =>
      again.call("POST", "/api/agent", { body: message }),
    )) as TerminalAccepted
  }
}

export async function followRun(options: AskOptions, runId: string): Promise<Followed> {
  let stream: string | undefined
  let after = 0
  let streamed: string | undefined = ""
  let waitsFor: TerminalWait | undefined
  for (let seconds = firstWaitSeconds; ; seconds = waitSeconds) {
    const progress = await nextProgress(options, runId, { stream, after, waitSeconds: seconds })
    if (progress.waitsFor !== undefined && progress.waitsFor !== waitsFor) options.onNote(reasons[progress.waitsFor])
    waitsFor = progress.waitsFor
    if (progress.stream !== "") {
      if (stream !== undefined && progress.stream !== stream) streamed = undefined
      stream = progress.stream
      after = progress.after
      if (streamed !== undefined && progress.text !== "") {
        streamed += progress.text
        options.onText(progress.text)
      }
    }
    if (progress.state !== "waiting" && progress.state !== "running") return { progress, streamed }
  }
}

/** Ends the run, and says what became of it; the signal of the terminal has been used up by then. */
export async function stopRun(
  { context, gateway, onNote }: AskOptions,
  { runId, session }: TerminalAccepted,
): Promise<void> {
  const signal = AbortSignal.timeout(stopMs)
  try {
    const client = connectGateway({ ...context, interrupted: () => signal }, gateway)
    const path = `/api/agent/${encodeURIComponent(runId)}/stop`
    const { state } = (await client.call("POST", path, { body: {} })) as Partial<TerminalProgress>
    onNote(state === "done" || state === "failed" ? `\nit had ended already: svc runs show ${runId}` : "\nstopped")
  } catch (error) {
    const reason = signal.aborted ? `the gateway did not answer within ${stopMs / 1000} s` : describeError(error)
    const again = ["svc", "agent", "--session", session, "/stop"].map(shellWord).join(" ")
    onNote(`\nthe run may go on, as it could not be stopped: ${reason}\nstop it with: ${again}`)
  }
}

async function nextProgress(
  options: AskOptions,
  runId: string,
  known: { stream: string | undefined; after: number; waitSeconds: number },
): Promise<TerminalProgress> {
  const ask = (client: GatewayClient) =>
    client.call("GET", `/api/agent/${encodeURIComponent(runId)}`, {
      query: known,
      timeoutMs: options.gateway.timeout + known.waitSeconds * 1000,
    })
  try {
    return (await ask(connectGateway(options.context, options.gateway))) as TerminalProgress
  } catch (error) {
    if (!isAway(error)) throw error
    options.onNote("the gateway is away; the answer follows when it is back")
    return (await persist(options, awayMs, ask)) as TerminalProgress
  }
}

/** Tries until the gateway answers, or has been away for too long. */
async function persist<T>(
  options: AskOptions,
  forMs: number,
  attempt: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const until = performance.now() + forMs
  for (;;) {
    await pause(options.context.interrupted())
    try {
      return await attempt(connectGateway(options.context, options.gateway))
    } catch (error) {
      if (!isAway(error) || performance.now() > until) throw error
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopped = () => {
      clearTimeout(timer)
      reject(new AppError("aborted", "Stopped"))
    }
    if (signal.aborted) return reject(new AppError("aborted", "Stopped"))
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stopped)
      resolve()
    }, betweenMs)
    signal.addEventListener("abort", stopped, { once: true })
  })
}

/** What of the answer has not been told yet, when `streamed` was: the beginning of its last part, as a rule. */
export function restOf(answer: string, streamed: string): string {
  if (streamed === "") return answer
  for (let start = 0; start >= 0; start = nextLine(streamed, start)) {
    if (answer.startsWith(streamed.slice(start))) return answer.slice(streamed.length - start)
  }
  return streamed.trimEnd().endsWith(answer.trimEnd()) ? "" : `\n\n${answer}`
}

function nextLine(text: string, start: number): number {
  const end = text.indexOf("\n", start)
  return end === -1 || end + 1 >= text.length ? -1 : end + 1
}
