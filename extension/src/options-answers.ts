// What the options page may ask of the background, and what it gets.
import { connectRelay } from "./connect.ts"
import type { Keeper } from "./keeper.ts"
import { changeSettings, readSettings } from "./settings.ts"
import type { AttachedTabs } from "./tabs.ts"

export interface OptionsState {
  port: number
  isPaired: boolean
  idleMinutes: number
  popups: boolean
  newTabs: boolean
  link: string
  tabs: { tabId: number; title: string; url: string; by: string }[]
}

interface Asked {
  type?: "state" | "change" | "check" | "detach"
  change?: Record<string, unknown>
  tabId?: number
}

interface Parts {
  tabs: AttachedTabs
  keeper: Keeper
}

export async function answerOptions(message: unknown, parts: Parts): Promise<OptionsState | { ok: string }> {
  const asked = (message ?? {}) as Asked
  if (asked.type === "check") return { ok: await check() }
  if (asked.type === "change") {
    await changeSettings(asked.change ?? {})
    // Another pairing is another gateway: what was lent to the one before is not lent to it.
    if (asked.change?.["code"] !== undefined) await parts.tabs.detachAll("the extension was paired anew")
  }
  if (asked.type === "detach" && typeof asked.tabId === "number")
    await parts.tabs.detach(asked.tabId, "detached in the options")
  return stateOf(parts)
}

async function stateOf({ tabs, keeper }: Parts): Promise<OptionsState> {
  const { port, secret, idleMinutes, popups, newTabs } = await readSettings()
  const { state } = keeper
  const words = { off: "not connected: no tab is attached", connecting: "connecting", on: "connected", problem: "" }
  const link = state.kind === "problem" ? state.reason : words[state.kind]
  const { ids, list } = tabs
  const shown = list.tabs.map(({ title, url, by }, at) => ({ tabId: ids[at] as number, title, url, by }))
  return { port, isPaired: secret !== "", idleMinutes, popups, newTabs, link, tabs: shown }
}

/** A connection of its own, which takes nobody's place. Rejects with words for the person. */
async function check(): Promise<string> {
  const settings = await readSettings()
  const ignore = () => undefined
  const connection = await connectRelay({ settings, takeover: false, check: true, onMessage: ignore, onClose: ignore })
  connection.close()
  return `The gateway answers on port ${settings.port}, and the pairing is right.`
}
