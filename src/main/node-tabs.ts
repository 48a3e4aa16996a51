// Tabs of nodes' browsers that sessions wait for. The waits are in the store; a node tells nothing by itself, so while there are
// any the gateway looks: after its own restart, after the node's, and whenever the node was away in between.
import type { PersonTab, TabWaits } from "../browser/index.ts"
import { AppError } from "../kernel/index.ts"
import type { Core } from "./core.ts"
import type { KeptTabWaits } from "./tab-waits.ts"

export interface NodeTabs {
  /** For the browser service. */
  waits: TabWaits
  /** Looks on for those who waited before a restart. */
  start(): void
  stop(): void
}

export interface NodeTabsOptions {
  waits: KeptTabWaits
  isConnected(node: string): boolean
  tabs(node: string, signal: AbortSignal): Promise<PersonTab[]>
}

const lookMs = 2_000
/** A node that takes longer is asked again. */
const answerMs = 10_000

export function createNodeTabs(
  core: Pick<Core, "background" | "log">,
  { waits, isConnected, tabs }: NodeTabsOptions,
): NodeTabs {
  const stopped = new AbortController()
  const asking = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const ask = async (node: string) => {
    asking.add(node)
    try {
      const [tab] = await tabs(node, AbortSignal.any([stopped.signal, AbortSignal.timeout(answerMs)]))
      if (tab && !stopped.signal.aborted) await waits.attached(tab, { id: node })
    } catch (error) {
      // It has gone, or does not offer its own tabs any more: the wait goes on until its time is over.
      if (!(error instanceof AppError || stopped.signal.aborted)) throw error
      core.log.debug({ node, err: error }, "a node's tabs cannot be looked at")
    } finally {
      asking.delete(node)
    }
  }
  /** Undefined while the disk does not say; the next look asks again. */
  const waiting = (): string[] | undefined => {
    try {
      return waits.nodes()
    } catch (error) {
      core.log.debug({ err: error }, "waits for tabs of nodes could not be read")
      return undefined
    }
  }
  const look = () => {
    const nodes = waiting()
    if (nodes?.length === 0) return rest()
    for (const node of nodes ?? []) {
      if (isConnected(node) && !asking.has(node)) core.background.run("tab of a node waited for", () => ask(node))
    }
  }
  const rest = () => {
    clearInterval(timer)
    timer = undefined
  }
  const start = () => {
    if (!stopped.signal.aborted) timer ??= setInterval(look, lookMs).unref()
  }
  return {
    waits: {
      attached: (tab, node) => waits.attached(tab, node),
      async ask(context, validMs, node) {
        const until = await waits.ask(context, validMs, node)
        if (node) start()
        return until
      },
    },
    start,
    stop() {
      rest()
      stopped.abort(new AppError("not-ready", "The gateway is stopping"))
    },
  }
}
