// The parts of Chrome's extension API that are used here, with types.

export interface ApiEvent<Given extends unknown[], Result = void> {
  addListener(listener: (...given: Given) => Result): void
}

export interface StorageArea {
  get(keys: string | string[]): Promise<Record<string, unknown>>
  set(items: Record<string, unknown>): Promise<void>
}

export interface BrowserTab {
  id?: number
  windowId: number
  url?: string
  title?: string
  openerTabId?: number
}

export interface Sender {
  id?: string
  url?: string
}

export interface Debuggee {
  tabId: number
  sessionId?: string
}

export interface ChromeApi {
  storage: { local: StorageArea; session: StorageArea }
  runtime: {
    id: string
    getManifest(): { version: string }
    getURL(path: string): string
    openOptionsPage(): Promise<void>
    sendMessage(message: unknown): Promise<unknown>
    onMessage: ApiEvent<[message: unknown, sender: Sender, answer: (response: unknown) => void], boolean>
    onInstalled: ApiEvent<[details: { reason: string }]>
    onStartup: ApiEvent<[]>
  }
  alarms: {
    create(name: string, options: { periodInMinutes: number }): Promise<void>
    onAlarm: ApiEvent<[alarm: { name: string }]>
  }
  action: {
    setBadgeText(details: { tabId: number; text: string }): Promise<void>
    setBadgeBackgroundColor(details: { tabId: number; color: string }): Promise<void>
    setTitle(details: { tabId: number; title: string }): Promise<void>
    onClicked: ApiEvent<[tab: BrowserTab]>
  }
  tabs: {
    get(tabId: number): Promise<BrowserTab>
    create(options: { url: string; active: boolean; windowId?: number }): Promise<BrowserTab>
    update(tabId: number, options: { active: boolean }): Promise<BrowserTab>
    remove(tabId: number): Promise<void>
    onCreated: ApiEvent<[tab: BrowserTab]>
    onUpdated: ApiEvent<[tabId: number, change: { url?: string; title?: string; status?: string }, tab: BrowserTab]>
  }
  windows: { update(windowId: number, options: { focused: boolean }): Promise<unknown> }
  debugger: {
    attach(target: Debuggee, version: string): Promise<void>
    detach(target: Debuggee): Promise<void>
    sendCommand(target: Debuggee, method: string, params?: object): Promise<Record<string, unknown> | undefined>
    getTargets(): Promise<{ id: string; tabId?: number; attached: boolean }[]>
    onEvent: ApiEvent<[source: Partial<Debuggee>, method: string, params?: Record<string, unknown>]>
    onDetach: ApiEvent<[source: Partial<Debuggee>, reason: string]>
  }
}

export const chrome = (globalThis as unknown as { chrome: ChromeApi }).chrome
