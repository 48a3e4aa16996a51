// Whose page a frame is: what is typed into it or given to it goes to the site of this address.
import { siteOf } from "../../kernel/index.ts"
import type { Frame } from "./frames.ts"
import type { Tab } from "./tab.ts"

/** A frame without an address of its own (`about:`, `blob:`) belongs to the page that has made it. Empty: to no site. */
export function addressOfFrame(tab: Tab, frame: Frame | undefined): string {
  for (let at = frame; at; at = at.parentId === undefined ? undefined : tab.frames.get(at.parentId)) {
    const address = at.url.startsWith("blob:") ? at.url.slice("blob:".length) : at.url
    if (siteOf(address) !== undefined) return address
  }
  return ""
}

/** Whether the tab has frames of other sites than this one. */
export function hasStrangers(tab: Tab, frame: Frame): boolean {
  const own = siteOf(addressOfFrame(tab, frame))
  return tab.frames.all.some((each) => siteOf(addressOfFrame(tab, each)) !== own)
}
