// How the parts do now, for `/readyz` and the status: what is in this process is asked at once, what takes the network or
// the disk in the background, when what is known is older than a few seconds. Whoever asks never waits for either.
import { statfs } from "node:fs/promises"
import type { Channel, ChannelAccountStatus } from "../channels/contract.ts"
import type { PartState, Problem } from "../gateway/index.ts"
import { AppError, describeError } from "../kernel/index.ts"
import { type FailureWindow, countJobs, countOutbox, readLostLog } from "../store/index.ts"
import type { AgentParts } from "./agent.ts"
import { capProblems } from "./budget.ts"
import type { Core } from "./core.ts"
import { pauseProblems } from "./pause.ts"
import { mainAgentId } from "./main-agent.ts"
import { storeHealth } from "./store-health.ts"

export interface HealthOptions {
  core: Core
  agent: Pick<AgentParts, "models" | "modelTrouble" | "budget" | "pause">
  channels: () => Iterable<Channel>
  browser: { problem(): Promise<AppError | undefined> }
  sandbox: { problem(): Promise<AppError | undefined> }
  mcp: { failed(): readonly string[] }
  restarts: { problem(): Problem | undefined }
  /** Of the start. */
  states: Readonly<Record<string, PartState>>
  failures: () => FailureWindow
}

export interface Health {
  /** `waitMs`: how long somebody who looks once may wait for what is asked outside; 0: not at all. */
  look(waitMs?: number): Promise<{ parts: Record<string, PartState>; problems: Problem[] }>
}

/** Nobody looks more often. With what an answer may take, whatever fails is seen within five seconds. */
const freshMs = 2_500
const askTimeoutMs = 2_000
/** Of a person who asks once and wants to know how it is now: until what gives no answer is known to give none. */
export const personWaitMs = askTimeoutMs + 200
/** With less, what is written next may fail: the reserve of the store itself is a megabyte. */
const leastDiskBytes = 2 * 1024 * 1024

export function createHealth(options: HealthOptions): Health {
  const { core, channels, browser, sandbox } = options
  let unreachable: string | undefined
  let browserProblem: AppError | undefined
  let diskProblem: Problem | undefined
  let sandboxProblem: AppError | undefined
  let asking: PromiseWithResolvers<void> | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let failed: { at: number; problems: Problem[] } | undefined
  /** Counting grows with what waits, and anybody may ask whether the gateway is ready: it is not counted each time. */
  const failuresAt = (now: number, isFresh: boolean): Problem[] => {
    if (!failed || isFresh || now - failed.at >= freshMs) {
      failed = { at: now, problems: failureProblems(core, options.failures()) }
    }
    return failed.problems
  }
  const ask = async () => {
    const signal = AbortSignal.timeout(askTimeoutMs)
    const [problem, boxes, reach, disk] = await Promise.all([
      browser.problem(),
      sandbox.problem(),
      reachModel(options, signal),
      lookAtDisk(core),
      ...[...channels()].map((channel) => channel.check(signal)),
    ])
    browserProblem = problem
    sandboxProblem = boxes
    unreachable = reach
    diskProblem = disk
  }
  return {
    async look(waitMs = 0) {
      const now = core.clock.monotonic()
      if (now - askedAt >= freshMs) {
        askedAt = now
        asking = Promise.withResolvers<void>()
        const { resolve } = asking
        core.background.run("look at the parts", () => ask().finally(resolve))
      }
      if (waitMs > 0) {
        const limit = AbortSignal.timeout(waitMs)
        await Promise.race([asking?.promise, new Promise((resolve) => limit.addEventListener("abort", resolve))])
      }
      const accounts = (
        await Promise.all(
          [...channels()].map((channel) => channel.status({ probe: false, signal: AbortSignal.timeout(askTimeoutMs) })),
        )
      ).flat()
      const found = [
        ...storeProblems(core, diskProblem),
        ...modelProblems(options, unreachable),
        ...(browserProblem && core.config().browser.enabled ? [problemOf("browser", browserProblem)] : []),
        ...(sandboxProblem ? [problemOf("sandbox", sandboxProblem)] : []),
        ...accounts.flatMap(accountProblems),
      ]
      const parts = { ...options.states }
      // A part that has not started yet does so; what it lacks is told all the same.
      for (const { part } of found) if (parts[part] === "ready") parts[part] = "failed"
      const isStarting = accounts.some(({ state }) => state === "starting")
      if (parts["chatapp"] === "ready" && isStarting) parts["chatapp"] = "starting"
      const chats = accounts.filter(({ channel }) => channel === "chatapp")
      if (parts["chatapp"] === "ready" && chats.every(({ state }) => state === "off")) parts["chatapp"] = "off"
      const { budget, pause } = options.agent
      const notRestarted = options.restarts.problem()
      const bounds = [
        ...(notRestarted ? [notRestarted] : []),
        ...pauseProblems(pause),
        ...capProblems(budget.list(["day", "month", "agent"])),
        ...options.mcp.failed().map(mcpProblem),
      ]
      return { parts, problems: [...found, ...bounds, ...waitingProblems(accounts), ...failuresAt(now, waitMs > 0)] }
    },
  }
}

function problemOf(part: string, error: AppError): Problem {
  return { part, problem: error.message, ...(error.hint === undefined ? {} : { next: error.hint }) }
}

/** The agent does without its tools: no part fails by it. */
function mcpProblem(name: string): Problem {
  return { part: "mcp", problem: `the last use of the MCP server ${name} failed`, next: `svc mcp servers ${name}` }
}

function storeProblems(core: Core, disk: Problem | undefined): Problem[] {
  const { accepting, problem } = storeHealth(core)
  // Says by itself what to do, which of a full disk is the same.
  if (problem !== undefined) return [{ part: "store", problem }]
  if (!accepting) return [{ part: "store", problem: "nothing is accepted", next: "svc logs" }]
  return disk ? [disk] : []
}

/** Before a write has met it: a full disk is seen also while nothing comes in. No part of its own, so nothing is refused. */
async function lookAtDisk({ environment, log }: Core): Promise<Problem | undefined> {
  const { stateFolder } = environment
  try {
    const { bavail, bsize } = await statfs(stateFolder)
    const free = bavail * bsize
    if (free >= leastDiskBytes) return undefined
    const problem = `the disk of ${stateFolder} is full: ${Math.floor(free / 1024)} KB are left`
    return { part: "disk", problem, next: "Free some space there; the gateway goes on by itself" }
  } catch (error) {
    // Not every file system can be asked; a write that fails is seen all the same.
    log.debug({ err: error }, "free room of the disk not known")
    return undefined
  }
}

/** What the configuration lacks, else what kept the last call from being answered. */
function modelProblems({ core, agent }: HealthOptions, unreachable: string | undefined): Problem[] {
  try {
    const { fallbacks } = agent.models.describe({ agentId: mainAgentId(core.config()) })
    if (unreachable !== undefined && fallbacks.length === 0) {
      return [
        {
          part: "agent",
          problem: unreachable,
          next: "Start the model's server, or correct its baseUrl; svc models test",
        },
      ]
    }
  } catch (error) {
    if (error instanceof AppError) return [problemOf("agent", error)]
    return [{ part: "agent", problem: describeError(error) }]
  }
  const trouble = agent.modelTrouble()
  return trouble ? [{ part: "agent", problem: trouble.message, next: trouble.hint ?? "svc models test" }] : []
}

/** Whether anything answers where the model's server is said to be. Costs nothing: no model is asked. */
async function reachModel({ core, agent }: HealthOptions, signal: AbortSignal): Promise<string | undefined> {
  let id: string
  try {
    id = agent.models.describe({ agentId: mainAgentId(core.config()) }).id
  } catch {
    // Told by `modelProblems`, each time it is asked.
    return undefined
  }
  const provider = id.slice(0, id.indexOf("/"))
  const baseUrl = core.config().models.providers[provider]?.baseUrl
  if (baseUrl === undefined) return undefined
  try {
    const response = await fetch(baseUrl, { method: "HEAD", redirect: "manual", signal })
    await response.body?.cancel()
    return undefined
  } catch (error) {
    return `nothing answers at the address of ${id}: ${core.redactor.redact(describeError(error))}`
  }
}

function accountProblems({ channel, account, state, error }: ChannelAccountStatus): Problem[] {
  if (state !== "stopped") return []
  const next = "Correct the bot token or apiRoot of this account; svc channels status --probe"
  return [{ part: channel, problem: `account ${account} has stopped: ${error ?? "no reason given"}`, next }]
}

/** They go on by themselves, and what comes in otherwise is taken: no reason to send nothing here any more. */
function waitingProblems(accounts: readonly ChannelAccountStatus[]): Problem[] {
  return accounts
    .filter(({ state }) => state === "waiting")
    .map(({ channel, account, error }) => ({
      part: channel,
      problem: `account ${account} waits: ${error ?? "the platform does not answer"}`,
      next: "svc channels status --probe",
    }))
}

/** The store works; what it lacks a person may have to look for. */
function lostLogProblems({ handle }: Core["store"], { since }: FailureWindow): Problem[] {
  const found = readLostLog(handle)
  if (!found || found.at < since) return []
  const when = new Date(found.at).toISOString()
  const problem = `the store's log was damaged at the start of ${when}: ${found.lost} changes in it are lost; a copy is ${found.kept}`
  return [{ part: "store", problem, next: "svc backup list; svc status --dismiss when seen" }]
}

function failureProblems({ store }: Core, window: FailureWindow): Problem[] {
  const outbox = countOutbox(store, window)
  const { dead } = countJobs(store, window)
  const told = (part: string, count: number, problem: string, next: string): Problem[] =>
    count === 0 ? [] : [{ part, problem: `${count} ${problem}`, next: `${next}; svc status --dismiss when seen` }]
  return [
    ...lostLogProblems(store, window),
    ...told("outbox", outbox.dead, "messages will never arrive", "svc outbox list --state dead"),
    ...told("outbox", outbox.uncertain, "messages may not have arrived", "svc outbox list --state uncertain"),
    ...told("agent", dead, "runs have failed for good", "svc runs list --state dead"),
  ]
}
