// Taking tabs over, for the rest of the gateway: in this machine's browsers, or in that of a sandboxed session.
import type { BrowserCore } from "../core.ts"
import type { SandboxBrowsers } from "../sandbox/browsers.ts"
import type { TakeoverTab } from "./operations.ts"
import type { Takeover } from "./takeover.ts"

/** The session whose sandboxed browser it is. */
export interface SandboxedBy {
  sessionKey: string
  agentId: string
}

export interface HandedTabs {
  /** Takes a tab over, of this machine's browsers or of a sandboxed session's. Throws `tab-not-found`, `tab-taken`. */
  takeOver(tab: { profile: string; targetId: string; sandboxOf?: SandboxedBy | undefined }): Promise<Takeover>
  /** Opens the page of a tab that is gone once more, starting the browser where it must. */
  openAgain(profile: string, url: string): Promise<TakeoverTab>
  /** The tab that a takeover would be about. */
  takeoverTab(profile: string | undefined, targetId: string | undefined): Promise<TakeoverTab>
}

/** A person waits for it. */
const openMs = 20_000

export function handedTabs(core: () => BrowserCore, sandboxed: () => SandboxBrowsers | undefined): HandedTabs {
  return {
    async takeOver({ profile, targetId, sandboxOf }) {
      const theirs = sandboxOf && sandboxed()?.coreFor(sandboxOf.sessionKey, sandboxOf.agentId)
      return await (theirs ?? core()).takeOver({ profile: theirs ? undefined : profile }, targetId)
    },
    async openAgain(profile, url) {
      const { targetId } = await core().open({ profile }, { url, timeoutMs: openMs })
      return { profile, targetId, url }
    },
    takeoverTab: async (profile, targetId) => await core().takeoverTab({ profile }, targetId),
  }
}
