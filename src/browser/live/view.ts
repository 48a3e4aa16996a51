// What a person sees of the browsers, beside the agent: profiles, tabs, the live picture of one, and its snapshot with the
// place of each ref. Nothing here starts a browser by being looked at, or changes which tab the agent uses next or what
// its next `diff` compares with.
import { AppError } from "../../kernel/index.ts"
import type { CoreOptions } from "../access.ts"
import type { BrowserCore } from "../core.ts"
import { snapshotBoxes } from "../page/snapshot/boxes.ts"
import { takeSnapshot } from "../page/snapshot/take.ts"
import type { Tab } from "../page/tab.ts"
import { hideIn } from "../secrets.ts"
import { viewSnapshot } from "../snapshots.ts"
import type { LiveFrame } from "./casts.ts"

export interface SeenTab {
  targetId: string
  title: string
  url: string
  /** It belongs to a turn that acts on words of others. */
  guest: boolean
}

export interface SeenSnapshot {
  url: string
  /** Its lines; a ref stands in them as `[ref=e12]`. */
  text: string
  truncated: boolean
  /** By ref, in the pixels of the view. */
  boxes: Record<string, { x: number; y: number; width: number; height: number }>
}

export interface SeenProfile {
  name: string
  running: boolean
  isDefault: boolean
  /** `relay`: the person's own browser. */
  kind: "managed" | "remote" | "relay"
  color: string
  tabs: SeenTab[]
  /** What ended it, or kept it from starting. */
  problem: string | null
}

/** A line of the live view, as JSON: a frame, or why there is none. */
export type LiveLine = (LiveFrame & { url: string; title: string }) | { hidden: string }

const lookMs = 15_000
const heartbeatMs = 20_000
const encoder = new TextEncoder()

export type LiveView = ReturnType<typeof createLiveView>

export function createLiveView(options: CoreOptions, core: BrowserCore) {
  const { registry, guard, casts } = options
  const find = (profileName: string, targetId: string): Tab => {
    const { live, name } = registry.get(profileName)
    if (live) return live.tabs.find(targetId)
    throw new AppError("browser-not-running", `The browser of profile ${name} is not running`, {
      hint: "Start it first",
    })
  }
  const seen = (tab: Tab): SeenTab => ({
    targetId: tab.targetId,
    title: tab.info.title,
    url: tab.url,
    guest: guard.isGuest(tab),
  })
  const operations = {
    profiles: (): SeenProfile[] =>
      registry.all.map((profile) => {
        const { running, lastError } = profile.state()
        const tabs = (profile.live?.tabs.list ?? []).map(seen)
        const isDefault = profile.name === registry.defaultName
        return {
          name: profile.name,
          running,
          isDefault,
          kind: profile.kind,
          color: profile.color,
          tabs,
          problem: lastError,
        }
      }),
    start: (profile: string, signal: AbortSignal) => core.start({ profile, signal }),
    stopBrowser: (profile: string) => core.stop({ profile }),
    /** People leave out how a site is reached. */
    open: async (profile: string, given: string, signal: AbortSignal) => {
      const url = /^(\w+:\/\/|about:)/.test(given) ? given : `https://${given}`
      const { targetId } = await core.open({ profile, signal }, { url, timeoutMs: lookMs })
      return { targetId }
    },
    close: async (profile: string, targetId: string) => {
      await core.close({ profile }, targetId)
    },
    async snapshot(profile: string, targetId: string, signal: AbortSignal): Promise<SeenSnapshot> {
      const tab = find(profile, targetId)
      return await tab.operate({ what: "The snapshot", timeoutMs: lookMs, signal }, async (operation) => {
        guard.checkRead(tab)
        const { last } = tab.memory
        const { snapshot, lines, truncated } = await takeSnapshot(tab, operation, viewSnapshot)
        tab.memory.restore(last)
        return { url: tab.url, text: snapshot, truncated, boxes: await snapshotBoxes(tab, lines, operation.signal) }
      })
    },
    /** Lines of JSON until the tab is closed or `signal` aborts; an empty line now and then says that it goes on. */
    async watch(profile: string, targetId: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
      const tab = find(profile, targetId)
      const viewer = await casts.watch(tab, signal)
      let beat: NodeJS.Timeout | undefined
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            beat = setInterval(() => controller.enqueue(encoder.encode("\n")), heartbeatMs)
            beat.unref()
          },
          async pull(controller) {
            const frame = await viewer.next()
            if (frame) return controller.enqueue(encoder.encode(`${JSON.stringify(lineOf(options, tab, frame))}\n`))
            clearInterval(beat)
            controller.close()
          },
          cancel() {
            clearInterval(beat)
            viewer.close()
          },
        },
        { highWaterMark: 1 },
      )
    },
    stop: () => casts.stop(),
  }
  return hideIn(operations, options.hidden)
}

/** What may not be read is not shown either. */
function lineOf({ guard, hidden }: CoreOptions, tab: Tab, frame: LiveFrame): LiveLine {
  try {
    guard.checkRead(tab)
    return { ...frame, url: hidden.hide(tab.url), title: hidden.hide(tab.info.title) }
  } catch (error) {
    if (error instanceof AppError) return { hidden: error.message }
    throw error
  }
}
