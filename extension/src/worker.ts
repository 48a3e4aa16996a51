// The extension's background: button -> connection -> debugger at the tab -> commands of the gateway, each checked here.
// Chrome ends this program whenever nothing happens for a while and starts it again for the next event, so whatever must
// last is kept by `tabs.ts`, and every handler waits until it has been read.
import type { FromRelay, RelayCommand, RelayError } from "../../src/browser/relay/contract.ts"
import { Refused } from "./allowed.ts"
import { Gone } from "./attachment.ts"
import { showBadge } from "./badge.ts"
import { chrome, type BrowserTab } from "./chrome.ts"
import { Keeper, type LinkState } from "./keeper.ts"
import { answerOptions } from "./options-answers.ts"
import { readSettings, type Settings } from "./settings.ts"
import { AttachedTabs } from "./tabs.ts"

let settings: Settings | undefined

const tabs = new AttachedTabs({
  tell: (event) => keeper.send(event),
  attached: (tab) => keeper.send({ type: "attached", tab }),
  changed: (tab) => keeper.send({ type: "changed", tab }),
  detached(tab, tabId, reason) {
    keeper.send({ type: "detached", session: tab.session, reason })
    void showBadge(tabId, { kind: "none" })
  },
  emptied: () => keeper.rest(),
  mayOpen: () => settings?.newTabs !== false && keeper.newTabs,
  boot: () => keeper.boot,
})

const keeper: Keeper = new Keeper({
  settings: async () => (settings = await readSettings()),
  isWanted: () => !tabs.isEmpty,
  prepare: (boot, hasLost) => tabs.renew(boot, hasLost),
  announcement: () => ({ type: "tabs", ...tabs.list }),
  onMessage: (message) => receive(message),
  onState: (state) => void showState(state),
  onReplaced(reason) {
    const ids = tabs.ids
    void tabs.detachAll(reason).then(() => Promise.all(ids.map((id) => showBadge(id, { kind: "problem", reason }))))
  },
  onAlone: () => void tabs.release(),
})

/** Everything waits for it: without it nothing is known of what is attached. */
const restored = (async () => {
  settings = await readSettings()
  await tabs.restore()
  await showState(keeper.state)
  keeper.wake()
})()

async function showState(state: LinkState): Promise<void> {
  await Promise.all(tabs.ids.map((tabId) => showTab(tabId, state)))
}

function showTab(tabId: number, state = keeper.state): Promise<void> {
  if (state.kind === "on") return showBadge(tabId, { kind: "on" })
  if (state.kind === "problem") return showBadge(tabId, state)
  return showBadge(tabId, { kind: "connecting" })
}

function receive(message: FromRelay): void {
  if (!("method" in message)) return
  keeper.send({ got: message.id })
  void run(message)
}

async function run({ id, session, child = "", method, params }: RelayCommand): Promise<void> {
  try {
    keeper.send({ id, result: await tabs.command(session, child, method, params) })
  } catch (error) {
    keeper.send({ id, error: describe(error) })
  }
}

function describe(error: unknown): RelayError {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Refused) return { kind: "refused", message }
  if (error instanceof Gone) return { kind: "no-tab", message }
  return { kind: "browser", message: wordsOfChrome(message) }
}

/** Chrome gives the browser's error as JSON in a text. */
function wordsOfChrome(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message ?? text)
  } catch {
    return text
  }
}

/** The button: attaches the tab that it was pressed in, or lets it go. */
async function pressed({ id: tabId }: BrowserTab): Promise<void> {
  await restored
  if (tabId === undefined) return
  if (tabs.has(tabId) && keeper.state.kind !== "problem") return tabs.detach(tabId, "the button was pressed")
  await showBadge(tabId, { kind: "connecting" })
  try {
    await keeper.connect(true)
    await tabs.attach(tabId, "person")
    await showTab(tabId)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    await tabs.detach(tabId, reason)
    if (tabs.isEmpty) keeper.rest()
    await showBadge(tabId, { kind: "problem", reason })
    if (settings?.secret === "") await chrome.runtime.openOptionsPage()
  }
}

chrome.action.onClicked.addListener((tab) => void pressed(tab))

chrome.debugger.onEvent.addListener((source, method, params = {}) => {
  const { tabId, sessionId = "" } = source
  if (tabId === undefined) return
  void restored.then(() => {
    const frame = params["frame"] as { parentId?: string; url?: string; urlFragment?: string } | undefined
    if (method === "Page.frameNavigated" && sessionId === "" && frame && frame.parentId === undefined) {
      tabs.describe(tabId, { url: `${frame.url ?? ""}${frame.urlFragment ?? ""}` })
      if (tabs.has(tabId)) void showTab(tabId)
    }
    tabs.event(tabId, sessionId, method, params)
  })
})

chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
  if (tabId !== undefined) void restored.then(() => tabs.lost(tabId, reason))
})

chrome.tabs.onUpdated.addListener((tabId, { url, title }) => {
  void restored.then(() => {
    if (!tabs.has(tabId)) return
    tabs.describe(tabId, { ...(url === undefined ? {} : { url }), ...(title === undefined ? {} : { title }) })
    // Whatever has changed may have taken the badge away.
    void showTab(tabId)
  })
})

chrome.tabs.onCreated.addListener(({ id, openerTabId }) => {
  void restored.then(async () => {
    if (id === undefined || openerTabId === undefined || !settings?.popups || !tabs.has(openerTabId)) return
    const opener = tabs.list.tabs[tabs.ids.indexOf(openerTabId)]
    await tabs.attach(id, "page", opener?.targetId).catch(() => undefined)
  })
})

chrome.alarms.onAlarm.addListener(() => {
  void restored.then(async () => {
    settings = await readSettings()
    await tabs.detachIdle(settings.idleMinutes * 60_000, Date.now())
    await tabs.keep()
    keeper.wake()
  })
})

chrome.runtime.onMessage.addListener((message, sender, answer) => {
  // Pages cannot send here; this holds for scripts of ours too that one day may run in one.
  if (sender.id !== chrome.runtime.id || !sender.url?.startsWith(chrome.runtime.getURL("options.html"))) return false
  restored
    .then(() => answerOptions(message, { tabs, keeper }))
    .catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }))
    .then(async (said) => {
      settings = await readSettings()
      answer(said)
    })
  return true
})

chrome.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === "install") void chrome.runtime.openOptionsPage()
})

void chrome.alarms.create("watch", { periodInMinutes: 0.5 })
