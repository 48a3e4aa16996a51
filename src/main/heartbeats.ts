// Heartbeats: their settings by agent and by where they go, and how a person looks at them: how they stand, and one now.
import { setTimeout as delay } from "node:timers/promises"
import type { HeartbeatConfig } from "../agent/config.ts"
import { type Heartbeat, type HeartbeatState, type HeartbeatVisibility, heartbeatOutcome } from "../agent/index.ts"
import { type Config, resolveChatappAccount } from "../config/index.ts"
import type { Delivery } from "../delivery/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import type { Route } from "../sessions/index.ts"
import type { JobRow } from "../store/index.ts"
import type { Core } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"

type HeartbeatActions = Pick<GatewayActions, "listHeartbeats" | "runHeartbeat">

const lookMs = 100

export function createHeartbeatActions(core: Core, heartbeat: Heartbeat): HeartbeatActions {
  return {
    listHeartbeats: () => ({ heartbeats: heartbeatAgents(core.config()).map((agentId) => heartbeat.look(agentId)) }),
    async runHeartbeat({ agent, waitSeconds = 0 }, signal) {
      const known = [...new Set([...heartbeatAgents(core.config()), ...core.config().agents.list.map(({ id }) => id)])]
      const agentId = agent ?? known[0] ?? "main"
      if (!known.includes(agentId)) {
        throw new AppError("not-found", `There is no agent ${JSON.stringify(agentId)}`, {
          hint: `There are: ${known.join(", ")}`,
        })
      }
      const runId = await heartbeat.runNow(agentId)
      const outcome = await outcomeOf(core, runId, { waitMs: waitSeconds * 1000, signal })
      return { runId, agent: agentId, ...(outcome === undefined ? {} : { outcome }) }
    },
  }
}

/** Waits for the turn, and then for what it says to be sent. Undefined while the turn has not ended. */
async function outcomeOf(
  { store, clock }: Core,
  runId: string,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<string | undefined> {
  const end = clock.monotonic() + waitMs
  const sql = "select id, state, error, result from job where run_id = ? and finished_at is not null"
  for (;;) {
    const row = store.handle.prepare(sql).get(runId) as Pick<JobRow, "id" | "state" | "error" | "result"> | undefined
    const outcome = row && heartbeatOutcome(store, row)
    if (outcome?.isSettled) return outcome.words
    if (clock.monotonic() >= end || signal.aborted) return outcome?.words
    await delay(lookMs)
  }
}

/** For `svc status`: those whose channel wants to see them there. */
export function indicatedHeartbeats(core: Core, heartbeat: Heartbeat): HeartbeatState[] {
  return heartbeatAgents(core.config())
    .map((agentId) => heartbeat.look(agentId))
    .filter(({ shows }) => shows.useIndicator)
}

/** One line for `/status` in a chat; undefined where the channel does not show it, or the agent has none. */
export function heartbeatLine(core: Core, heartbeat: Heartbeat, { agentId }: { agentId: string; route: Route }) {
  if (!heartbeatAgents(core.config()).includes(agentId)) return undefined
  const { shows, last, nextAt, everyMs } = heartbeat.look(agentId)
  if (!shows.useIndicator) return undefined
  const minutes = (ms: number) => `${Math.max(0, Math.round(ms / 60_000))} min`
  const now = core.clock.now()
  const before = last ? `${minutes(now - last.at)} ago: ${last.outcome}` : "none yet"
  const next = nextAt === undefined || everyMs === 0 ? "none planned" : `next in ${minutes(nextAt - now)}`
  return `${before}; ${next}`
}

export function heartbeatOf(config: Config, agentId: string): HeartbeatConfig {
  const own = config.agents.list.find((agent) => agent.id === agentId)?.heartbeat ?? {}
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
  return { ...config.agents.defaults.heartbeat, ...set }
}

/** Of the account that it goes to; what goes nowhere is shown as channels are by default. */
export function heartbeatVisibility(config: Config, route: Route | null): HeartbeatVisibility {
  if (route?.channel !== "chatapp") return config.channels.defaults.heartbeat
  return resolveChatappAccount(config, route.account).heartbeat
}

/** If any agent has a heartbeat of its own, only those that have one run it. */
export function heartbeatAgents(config: Config): string[] {
  const own = config.agents.list.filter((agent) => agent.heartbeat !== undefined)
  return own.length > 0 ? own.map((agent) => agent.id) : [mainAgentId(config)]
}

/** A heartbeat without a place to go to still runs: its turn shows the events. */
export function alertRoute(delivery: Delivery, agentId: string, target: string, to: string | undefined): Route | null {
  if (target === "none") return null
  try {
    return delivery.resolve(agentId, { channel: target, to })
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
