// Opening an address for the agent, held to the sites that the turn may lead to.
import type { ToolContext } from "../../agent/tool.ts"
import { plainAddress, siteOf } from "../../kernel/index.ts"
import type { Caller, StaysOn } from "../caller.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import { isBare, kindOfAddress } from "./gate.ts"
import { type BrowserToolInput, withUrl } from "./input.ts"

/**
 * An address that a tainted turn has made itself stays on named sites. A site that was opened before words of others were
 * read belongs to the named ones from then on, and so does the site to which a named address or a front page leads.
 */
export async function withinSites<Answer extends { url: string }>(
  core: ToolCore,
  value: BrowserToolInput,
  { caller, context }: { caller: Caller; context: Pick<ToolContext, "tainted" | "approved" | "sites"> },
  go: (caller: Caller) => Promise<Answer>,
): Promise<Answer> {
  const { tainted, approved, sites } = context
  const { url, targetId } = withUrl(value)
  const kind = tainted && !approved ? await kindOfAddress(core, { url, targetId }, caller, { sites }) : "none"
  const staysOn: StaysOn = {
    may(address) {
      const site = siteOf(address)
      return site === undefined || sites.has(site)
    },
    list: () => ({ sites: sites.list(), orNone: true }),
  }
  const answer = await go(kind === "composed" || kind === "unknown" ? { ...caller, staysOn } : caller)
  const address = plainAddress(String(url).trim())
  const site = siteOf(address)
  if (approved || site === undefined || (tainted && kind !== "named")) return answer
  // The browser says where it has arrived, not the page.
  const arrived = sites.has(address) || isBare(address) ? siteOf(answer.url) : undefined
  await sites.add(arrived === undefined ? [site] : [site, arrived])
  return answer
}
