// Sessions that wait for a tab of the person's browser: a job in a lane of its own each, put off until the time is over. When
// a tab is attached, the job is taken back, and in the same transaction a turn begins that is told.
import type { ToolContext } from "../agent/tool.ts"
import { type TurnInput, turnJob } from "../agent/turn-input.ts"
import type { PersonTab, TabWaits } from "../browser/index.ts"
import type { Json } from "../kernel/index.ts"
import { cancelWaiting, type JobEnd, type JobRow, type NewJob, openJobs } from "../store/index.ts"
import type { Core } from "./core.ts"

export const tabWaitKind = "tab-wait"

/** What the turn takes over that is told. */
type Kept = Pick<TurnInput, "agentId" | "sessionKey" | "origin" | "trusted" | "route">

const lanePrefix = "tab-wait:"
const told = {
  attached:
    "The person has attached the tab below, in their own browser. Use it with profile relay and its targetId, and go on with what it was for.",
  expired:
    "Nobody has attached a tab in time, so what it was for was not done. Say so in one short message; it can be asked for again.",
}

export function createTabWaits({
  store,
  ids,
  log,
}: Pick<Core, "store" | "ids" | "log">): TabWaits & { expire(job: JobRow): Promise<JobEnd> } {
  return {
    ask: (context, validMs) =>
      store.write(async (write) => {
        const laneKey = lanePrefix + context.sessionKey
        const [waiting] = openJobs(store, laneKey)
        if (waiting) return waiting.run_at ?? write.now
        const runAt = write.now + validMs
        const payload = keptOf(context) as unknown as Json
        write.addJob({ runId: ids.uuid(), kind: tabWaitKind, laneKey, payload, runAt, urgent: true })
        log.info({ run: context.runId, session: context.sessionKey }, "waiting for a tab")
        return runAt
      }),
    attached: (tab) =>
      store.write(async (write) => {
        for (const lane of lanes(store)) {
          for (const job of cancelWaiting(store, write, lane, ({ kind }) => kind === tabWaitKind)) {
            write.addJob(turnOf(ids.uuid(), job, "attached", tab))
            log.info({ session: lane.slice(lanePrefix.length), targetId: tab.targetId }, "the tab waited for is there")
          }
        }
      }),
    expire: async (job) => ({
      commit: async (write) => void write.addJob(turnOf(ids.uuid(), job, "expired")),
    }),
  }
}

function lanes(store: Core["store"]): string[] {
  const rows = store.handle
    .prepare("select distinct lane_key as lane from job where state = 'ready' and lane_key >= ? and lane_key < ?")
    .all(lanePrefix, `${lanePrefix.slice(0, -1)};`) as { lane: string }[]
  return rows.map(({ lane }) => lane)
}

function keptOf({ agentId, sessionKey, origin, trusted, route }: ToolContext): Kept {
  return { agentId, sessionKey, origin, trusted, route }
}

function turnOf(runId: string, job: JobRow, outcome: keyof typeof told, tab?: PersonTab): NewJob {
  const kept = JSON.parse(job.payload) as Kept
  return turnJob(runId, {
    ...kept,
    purpose: "chat",
    header: `[tab: ${outcome}]`,
    text: told[outcome],
    wrap: false,
    // The page has written its title and its address.
    ...(tab ? { context: [{ label: "The tab:", text: JSON.stringify(tab) }] } : {}),
  })
}
