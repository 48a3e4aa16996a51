// A script that goes on in the tab that its page has opened: from then on each step is done there, by the same rules.
import { AppError } from "../../kernel/index.ts"
import type { Caller } from "../caller.ts"
import type { TabInfo } from "../contract.ts"
import type { LookReply, LookRequest } from "./elements.ts"
import type { Script } from "./form.ts"
import type { Hands, TabHands } from "./run.ts"

interface FollowCore {
  look(caller: Caller, request: LookRequest): Promise<LookReply>
  tabs(caller: Caller): Promise<{ tabs: TabInfo[] }>
}

/** The tabs that were there before: only what the script's own steps open is followed. */
export async function tabsToFollow(core: FollowCore, caller: Caller, { kinds }: Script): Promise<Set<string>> {
  if (!kinds.includes("follow")) return new Set()
  const { tabs } = await core.tabs(caller)
  return new Set(tabs.map(({ targetId }) => targetId))
}

interface Roving {
  /** Where it begins. */
  targetId: string
  known: Set<string>
  handsIn(targetId: string): TabHands
}

export function rove(core: FollowCore, caller: Caller, { targetId, known, handsIn }: Roving): Hands {
  let at = targetId
  let hands = handsIn(at)
  return {
    act: async (fields, isForeign) => await hands.act(fields, isForeign),
    navigate: async (url, isForeign) => await hands.navigate(url, isForeign),
    answer: async (request, isForeign) => await hands.answer(request, isForeign),
    look: async (request) => await hands.look(request),
    async follow(waitMs) {
      const opened = { besides: [...known] }
      const found = await core.look(caller, { targetId: at, opened, acts: false, waitMs, locators: false })
      if (found.targetId === at) {
        throw new AppError("tab-not-found", "The page has opened no new tab", {
          hint: "follow goes behind the step that opens one; where the page goes on in its own tab, leave it out",
        })
      }
      const note = `went on in tab ${found.targetId}, which tab ${at} has opened`
      known.add(found.targetId)
      at = found.targetId
      hands = handsIn(at)
      return { url: found.url, note }
    },
  }
}
