// What a page shows of where it is: the sites of its frames, and whether a link of it leads to an address. Asked before
// a tainted call is made; read in worlds of our own, whose functions no page can replace.
import { type Clock, type JsonObject, plainAddress, siteOf } from "../kernel/index.ts"
import { type CoreOptions, createAccess, limits } from "./access.ts"
import type { Caller } from "./caller.ts"
import { CdpError } from "./cdp/index.ts"
import { addressOfFrame } from "./page/frame-address.ts"
import { callAgent, type Frame, valueIn } from "./page/frames.ts"
import type { ElementWords } from "./page/inject/describe.ts"
import type { Tab } from "./page/tab.ts"

/** A page answers this at once, or it does not answer. */
const lookMs = 5_000
/** A frame that does not answer must not keep the others from being heard. */
const frameMs = 2_000
/** More frames than a page has that is read by anybody. */
const maxFrames = 30

export function sightOperations(options: CoreOptions) {
  const { pick, running } = { ...createAccess(options), running: runningTabs(options) }
  return {
    /** The page, and what is behind refs at this moment, as the page names it. Throws for refs that mean nothing. */
    async shownAt(
      caller: Caller,
      targetId: string | undefined,
      refs: readonly string[],
    ): Promise<{ page: string; elements: JsonObject[] }> {
      const tab = await pick(caller, targetId)
      await tab.attach()
      const page = tab.url.split("#", 1)[0] as string
      if (refs.length === 0) return { page, elements: [] }
      const elements = await tab.operate(limits("Looking at the page", lookMs, caller), async ({ signal }) => {
        const words = refs.map(async (ref) => {
          const { world, id } = tab.refs.resolve(ref, tab)
          const found = await callAgent<ElementWords | null>(world, "words", id, signal)
          return { ...(found ?? { role: "gone", name: "" }) }
        })
        return await Promise.all(words)
      })
      return { page, elements }
    },
    /** Whether the page that the tab shows has this very address among its links, with their fragment or without any. */
    async showsLink(caller: Caller, address: string, targetId: string | undefined): Promise<boolean> {
      // Nothing is started to look at it.
      if (!running(caller)) return false
      const tab = await pick(caller, targetId)
      const wanted = JSON.stringify(plainAddress(address))
      return await tab.operate(limits("Looking at the links", lookMs, caller), async ({ signal }) => {
        const hasIt = (frame: Frame) => isTrue(tab, frame, hasLink(wanted), signal)
        const { main } = tab.frames
        if (await hasIt(main)) return true
        const others = tab.frames.all.slice(0, maxFrames).filter((frame) => frame !== main)
        return await isAnyTrue(others.map(hasIt), tab.clock)
      })
    },
    /**
     * The sites that what is typed goes to: of the elements' frames, or of what has the focus. Empty for a frame that
     * belongs to none. `anywhere`: it may end in any frame of the page. Throws for refs that mean nothing.
     */
    async sitesOf(
      caller: Caller,
      {
        targetId,
        refs,
        anywhere = false,
      }: { targetId?: string | undefined; refs: readonly string[]; anywhere?: boolean },
    ): Promise<string[]> {
      const tab = await pick(caller, targetId)
      await tab.attach()
      const frames = refs.map((ref) => tab.refs.resolve(ref, tab).frame)
      if (anywhere) return [...new Set([...frames, ...tab.frames.all].map((frame) => siteOfFrame(tab, frame)))]
      if (frames.length > 0) return frames.map((frame) => siteOfFrame(tab, frame))
      // Nothing else can be asked of the page then, and whatever is said goes to whoever has asked.
      if (tab.dialog) return [siteOf(tab.dialogUrl) ?? siteOfFrame(tab, tab.frames.main)]
      return await tab.operate(limits("Looking at the page", lookMs, caller), async ({ signal }) => {
        const focused = await isTrue(tab, tab.frames.main, hasFocusInFrame, signal)
        const seen = focused ? tab.frames.all.slice(0, maxFrames) : [tab.frames.main]
        return [...new Set(seen.map((frame) => siteOfFrame(tab, frame)))]
      })
    },
  }
}

function runningTabs({ registry, guard }: CoreOptions) {
  return (caller: Caller): boolean => {
    const { live } = registry.get(caller.profile)
    return live !== undefined && live.tabs.listIn(guard.spaceOf(live, caller)).length > 0
  }
}

function siteOfFrame(tab: Tab, frame: Frame): string {
  return siteOf(addressOfFrame(tab, frame)) ?? ""
}

const hasFocusInFrame = `(() => {
  const element = Object.getOwnPropertyDescriptor(Document.prototype, "activeElement").get.call(document)
  return /^(?:iframe|frame|object|embed)$/i.test(element?.localName ?? "")
})()`

/** As soon as one says so. What does not answer for long has said no. */
async function isAnyTrue(answers: Promise<boolean>[], clock: Clock): Promise<boolean> {
  const enough = new AbortController()
  const limit = clock.sleep(frameMs, enough.signal).then(() => false)
  const yes = answers.map(async (answer) => (await answer) || (await new Promise<never>(() => undefined)))
  const all = Promise.all(answers).then((each) => each.includes(true))
  try {
    return await Promise.race([...yes, all, limit])
  } finally {
    enough.abort()
  }
}

function hasLink(wanted: string): string {
  return `(() => {
    for (const link of Document.prototype.querySelectorAll.call(document, "a[href], area[href]"))
      if (typeof link.href === "string" && [link.href, link.href.split("#", 1)[0]].includes(${wanted})) return true
    return false
  })()`
}

async function isTrue(tab: Tab, frame: Frame, expression: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await valueIn(await tab.frames.world(frame, signal), expression, signal)) === true
  } catch (error) {
    // The frame went away while it was asked.
    if (error instanceof CdpError) return false
    throw error
  }
}
