// Sessions that wait for a tab of the person's browser: a job in a lane of its own each, put off until the time is over. When
// a tab is attached, the job is taken back, and in the same transaction a turn begins that is told.
import type { ToolContext } from "../agent/tool.ts"
import { type TurnInput, turnJob } from "../agent/turn-input.ts"
import type { PersonTab, TabNode, TabWaits } from "../browser/index.ts"
import type { Json } from "../kernel/index.ts"
import { cancelWaiting, type JobEnd, type JobRow, type NewJob, openJobs } from "../store/index.ts"
import type { Core } from "./core.ts"

export const tabWaitKind = "tab-wait"

/** What the turn takes over that is told, and where the tab is waited for, unless it is this machine. */
interface Kept extends Pick<TurnInput, "agentId" | "sessionKey" | "origin" | "trusted" | "route"> {
  node?: TabNode | undefined
}

export interface KeptTabWaits extends TabWaits {
  expire(job: JobRow): Promise<JobEnd>
  /** Ids of the nodes on which a tab is waited for. */
  nodes(): string[]
}

const lanePrefix = "tab-wait:"
const told = {
  attached: (node: TabNode | undefined) =>
    `The person has attached the tab below, in their own browser${node ? ` on the node ${node.name}` : ""}. Use it with profile relay${node ? `, node ${node.name}` : ""} and its targetId, and go on with what it was for.`,
  expired: () =>
    "Nobody has attached a tab in time, so what it was for was not done. Say so in one short message; it can be asked for again.",
}

export function createTabWaits({ store, ids, log }: Pick<Core, "store" | "ids" | "log">): KeptTabWaits {
  return {
    ask: (context, validMs, node) =>
      store.write(async (write) => {
        const laneKey = lanePrefix + context.sessionKey
        cancelWaiting(store, write, laneKey, (job) => keptIn(job).node?.id !== node?.id)
        const [waiting] = openJobs(store, laneKey)
        if (waiting) return waiting.run_at ?? write.now
        const runAt = write.now + validMs
        const payload = keptOf(context, node) as unknown as Json
        write.addJob({ runId: ids.uuid(), kind: tabWaitKind, laneKey, payload, runAt, urgent: true })
        log.info({ run: context.runId, session: context.sessionKey, node: node?.name }, "waiting for a tab")
        return runAt
      }),
    attached: (tab, node) =>
      store.write(async (write) => {
        const isThere = (job: JobRow) => job.kind === tabWaitKind && keptIn(job).node?.id === node?.id
        for (const lane of lanes(store)) {
          for (const job of cancelWaiting(store, write, lane, isThere)) {
            write.addJob(turnOf(ids.uuid(), job, "attached", tab))
            log.info({ session: lane.slice(lanePrefix.length), targetId: tab.targetId }, "the tab waited for is there")
          }
        }
      }),
    nodes() {
      const waiting = lanes(store).flatMap((lane) => openJobs(store, lane))
      return [...new Set(waiting.flatMap((job) => keptIn(job).node?.id ?? []))]
    },
    expire: async (job) => ({
      commit: async (write) => void write.addJob(turnOf(ids.uuid(), job, "expired")),
    }),
  }
}

function lanes(store: Core["store"]): string[] {
  const rows = store.handle
    .prepare(
      `select distinct lane_key as lane from job where state in ('ready', 'running') and state = 'ready'
         and lane_key >= ? and lane_key < ?`,
    )
    .all(lanePrefix, `${lanePrefix.slice(0, -1)};`) as { lane: string }[]
  return rows.map(({ lane }) => lane)
}

function keptOf({ agentId, sessionKey, origin, trusted, route }: ToolContext, node: TabNode | undefined): Kept {
  return { agentId, sessionKey, origin, trusted, route, ...(node ? { node: { id: node.id, name: node.name } } : {}) }
}

function keptIn({ payload }: JobRow): Kept {
  return JSON.parse(payload) as Kept
}

function turnOf(runId: string, job: JobRow, outcome: keyof typeof told, tab?: PersonTab): NewJob {
  const { node, ...kept } = keptIn(job)
  return turnJob(runId, {
    ...kept,
    purpose: "chat",
    header: `[tab: ${outcome}]`,
    text: told[outcome](node),
    wrap: false,
    // The page has written its title and its address.
    ...(tab ? { context: [{ label: "The tab:", text: JSON.stringify(tab) }] } : {}),
  })
}
