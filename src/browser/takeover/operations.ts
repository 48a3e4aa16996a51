// Taking a tab over, for those who may: not where the browser is the person's own anyway, and not while a trace films it.
import { AppError } from "../../kernel/index.ts"
import { type CoreOptions, createAccess } from "../access.ts"
import type { Caller } from "../caller.ts"
import { Takeover } from "./takeover.ts"

/** What a takeover is about, before anybody has it. */
export interface TakeoverTab {
  profile: string
  targetId: string
  url: string
}

export function takeoverOperations(options: CoreOptions) {
  const { registry, guard, traces, casts, background } = options
  const { needWholeBrowser } = createAccess(options)
  /** Starts no browser: there would be nothing to take over. */
  const findTab = async (caller: Caller, targetId: string | undefined) => {
    const profile = registry.get(caller.profile)
    needWholeBrowser(caller, "they are in the person's hands already")
    const live = profile.owned ? profile.live : await profile.ensure(caller.signal)
    if (!live) throw new AppError("browser-not-running", `The browser of profile ${profile.name} is not running`)
    const tab = await live.tabs.pick(targetId, guard.spaceOf(live, caller))
    if (guard.isGuest(tab)) throw new AppError("forbidden", "Tabs of turns that act for others are not taken over")
    if (await traces.of(live)) {
      throw new AppError("conflict", "A trace would film what the person types", { hint: "Stop it first: trace stop" })
    }
    return { profile, live, tab }
  }
  return {
    async takeoverTab(caller: Caller, targetId: string | undefined): Promise<TakeoverTab> {
      const { profile, tab } = await findTab(caller, targetId)
      tab.checkTaken()
      return { profile: profile.name, targetId: tab.targetId, url: tab.url }
    },
    /** The tab is in the person's hands until it is ended. */
    async takeOver(caller: Caller, targetId: string): Promise<Takeover> {
      const { live, tab } = await findTab(caller, targetId)
      tab.checkTaken()
      return await Takeover.begin({ tab, tabs: live.tabs, casts, background })
    },
  }
}
