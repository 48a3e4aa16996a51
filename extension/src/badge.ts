// What the toolbar button says of a tab. Chrome takes a tab's badge away with each navigation while the debugger stays, so
// it is set again whenever the page of a tab changes: a badge that is not there would be a lie.
import { chrome } from "./chrome.ts"

export type BadgeState =
  | { kind: "on" }
  | { kind: "connecting" }
  | { kind: "problem"; reason: string }
  | { kind: "none" }

const looks = {
  on: { text: "ON", color: "#C2410C", title: "Attached: your agent can use this tab. Press to detach it." },
  connecting: { text: "…", color: "#B45309", title: "Attached: waiting for the gateway. Press to detach it." },
  problem: { text: "!", color: "#B91C1C", title: "" },
  none: { text: "", color: "#B91C1C", title: "Attach this tab" },
} as const

export async function showBadge(tabId: number, state: BadgeState): Promise<void> {
  const { text, color, title } = looks[state.kind]
  try {
    await Promise.all([
      chrome.action.setBadgeText({ tabId, text }),
      chrome.action.setBadgeBackgroundColor({ tabId, color }),
      chrome.action.setTitle({ tabId, title: state.kind === "problem" ? state.reason : title }),
    ])
  } catch {
    // The tab is closed, and its badge with it.
  }
}
