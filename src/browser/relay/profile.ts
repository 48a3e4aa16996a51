// The person's attached tabs as a profile: the engine speaks to them through the relay's hub as it speaks to any browser.
// The connection lasts as long as the profile; what comes and goes is the extension, and the tabs with it.
import {
  AppError,
  type Background,
  type Clock,
  type ErrorCode,
  type Log,
  errorTable,
  raceAbort,
} from "../../kernel/index.ts"
import { CdpConnection, type MessageError, type Transport } from "../cdp/index.ts"
import { Downloads } from "../page/downloads.ts"
import { Tabs, type TabsMemory } from "../page/tabs.ts"
import type { BrowserProfile, LiveBrowser, ProfileReach, ProfileState } from "../profiles/contract.ts"
import { RelayClient, type RelayErrorData } from "./client.ts"
import type { Relay } from "./index.ts"
import { requestsOf } from "./requests.ts"

export interface RelayProfileOptions {
  name: string
  color(): string
  relay: Relay
  clock: Clock
  log: Log
  background: Background
}

export class RelayProfile implements BrowserProfile {
  readonly kind = "relay"
  readonly owned = false
  /** It runs on this machine; which of its files it may read, Chrome asks its person. */
  readonly sharesFiles = true
  readonly #options: RelayProfileOptions
  #live: LiveBrowser | undefined
  #starting: Promise<LiveBrowser> | undefined
  #memory: TabsMemory | undefined
  #retired: AppError | undefined
  #sessions = 0

  constructor(options: RelayProfileOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  get color(): string {
    return this.#options.color()
  }

  get live(): LiveBrowser | undefined {
    return this.#live
  }

  async adopt(): Promise<void> {}

  /** Waits a little for an extension that is away. Rejects with `relay-not-connected`, `port-in-use`. */
  async ensure(signal?: AbortSignal): Promise<LiveBrowser> {
    if (this.#retired) throw this.#retired
    const { relay } = this.#options
    await relay.open()
    if (!relay.isPaired) throw notPaired(relay.status())
    await (signal ? raceAbort(relay.hub.waitForLink(), signal) : relay.hub.waitForLink())
    // Taken away while it was waited for: nobody would end what is begun now.
    if (this.#retired) throw this.#retired
    if (this.#live) return this.#live
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined))
    return this.#starting
  }

  async #start(): Promise<LiveBrowser> {
    const { relay, background, clock, log } = this.#options
    const { hub, checkOpen } = relay
    const transport = throughHub((deliver) => {
      return new RelayClient({ hub, deliver, checkOpen, newSession: () => `R${(this.#sessions += 1)}` })
    })
    const connection = new CdpConnection(transport, undefined, explain)
    const memory = this.#memory
    const shared = { connection, background, clock, log, owned: false, headless: false, sharedSession: true, memory }
    const tabs = new Tabs(shared)
    const requests = requestsOf(tabs)
    await tabs.start()
    const downloads = new Downloads({ connection, tabs, background, isOurs: false })
    this.#live = { connection, tabs, downloads, requests, guarded: false }
    return this.#live
  }

  async stop(): Promise<boolean> {
    await this.#starting?.catch(() => undefined)
    const live = this.#live
    if (!live) return false
    this.#live = undefined
    live.connection.close()
    const { tabs: _settings, ...memory } = live.tabs.memory
    this.#memory = memory
    return true
  }

  async retire(reason: AppError): Promise<void> {
    this.#retired = reason
    await this.stop()
  }

  state(): ProfileState {
    const { hub, port } = this.#options.relay
    return {
      running: hub.link !== undefined,
      pid: null,
      cdpPort: port,
      cdpUrl: `http://127.0.0.1:${port}`,
      chosenBrowser: /(?:Edg|OPR|HeadlessChrome|Chrome)\/[\d.]+/.exec(hub.link?.userAgent ?? "")?.[0] ?? null,
      executablePath: null,
      userDataDir: null,
      headless: false,
      noSandbox: false,
      lastError: null,
    }
  }

  async probe(): Promise<ProfileReach> {
    const { connected, listening, paired, codeWaits, problem, tabs } = this.#options.relay.status()
    const reason = connected
      ? null
      : (problem ??
        (paired ? "no tab is attached" : codeWaits ? "no extension has shown its code yet" : "no extension is paired"))
    return { http: listening, ready: connected, tabCount: tabs.length, reason }
  }

  async reset(): Promise<never> {
    throw new AppError("profile-unsupported", `The data of profile ${this.name} is the person's own`, {
      hint: "Only a managed profile, whose browser the gateway starts itself, can be reset",
    })
  }
}

/** `codeWaits`: the person has made a code and not carried it over yet. */
export function notPaired({ codeWaits }: { codeWaits: boolean }, node?: { name: string }): AppError {
  const where = node ? `the node ${node.name}` : "this gateway"
  const more = node ? ` --node ${JSON.stringify(node.name)}` : ""
  return new AppError("relay-not-connected", `No browser extension has been paired with ${where}`, {
    hint: codeWaits
      ? `A code was made: paste it into the extension's options, and press its button in a tab (a new code: svc browser extension pair${more})`
      : `Run: svc browser extension install${more}, then svc browser extension pair${more}`,
  })
}

/** The other end is in this process: nothing to wait for, and nothing that can fall silent. */
function throughHub(open: (deliver: (message: object) => void) => RelayClient): Transport {
  let client: RelayClient | undefined
  let isOver = false
  return {
    bytesRead: 0,
    listen({ onMessage }) {
      client = open((message) => {
        if (!isOver) onMessage(JSON.stringify(message))
      })
    },
    send: (text) => client?.receive(text),
    ping: () => true,
    isGone: () => false,
    close() {
      isOver = true
      client?.close()
    },
  }
}

const hints: Partial<Record<ErrorCode, string>> = {
  "relay-no-tab":
    "Ask the person to open the page in their browser and to press the button of the svc extension there; the action attach does, and waits for it",
  "relay-refused": "Ask the person to do this step in their browser, or use the profile managed",
}

function explain({ message, data }: MessageError): AppError | undefined {
  const { svc, hint } = (data ?? {}) as Partial<RelayErrorData>
  if (svc === undefined || !(svc in errorTable)) return undefined
  const code = svc as ErrorCode
  const next = hint ?? hints[code]
  return new AppError(code, message, next === undefined ? {} : { hint: next })
}
