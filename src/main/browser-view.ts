// What the page shows of the browsers: browser control, seen by a person.
import type { BrowserService } from "../browser/index.ts"
import type { GatewayActions } from "../gateway/index.ts"

export function browserActions(browser: BrowserService): GatewayActions["browser"] {
  return {
    list: () => {
      const { enabled, listening } = browser.status()
      return { enabled, profiles: listening ? browser.view().profiles() : [] }
    },
    start: (profile, signal) => browser.view().start(profile, signal),
    stop: (profile) => browser.view().stopBrowser(profile),
    open: (profile, url, signal) => browser.view().open(profile, url, signal),
    close: (profile, targetId) => browser.view().close(profile, targetId),
    snapshot: (profile, targetId, signal) => browser.view().snapshot(profile, targetId, signal),
    watch: (profile, targetId, signal) => browser.view().watch(profile, targetId, signal),
  }
}
