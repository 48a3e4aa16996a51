// Which policy counts for whom, and what puts it into force: turns of untrusted origin get `strict` and places apart, and
// when the operator restricts navigation, every request of the browser passes the gate.
import { AppError, type Background, type Clock, type Ids, type Log, Secret } from "../kernel/index.ts"
import type { Caller } from "./caller.ts"
import { CdpError, type CdpSession } from "./cdp/index.ts"
import type { BrowserConfig } from "./config.ts"
import { Guests } from "./page/guests.ts"
import { GuardProxy } from "./page/policy/guard-proxy.ts"
import { type GatedRequest, RequestGate } from "./page/policy/request-gate.ts"
import {
  createUrlPolicy,
  type IsOwnPort,
  isUnknownName,
  rememberNames,
  type Resolve,
  systemResolve,
  type UrlPolicy,
} from "./page/policy/url-policy.ts"
import { watchAddresses } from "./page/policy/watch-addresses.ts"
import type { Tab } from "./page/tab.ts"
import type { BrowserProfile, LiveBrowser } from "./profiles/contract.ts"

export interface GuardOptions {
  /** As the configuration is at that moment. */
  navigation(): BrowserConfig["navigation"]
  /** Ports of this machine that no page may reach. */
  isOwnPort: IsOwnPort
  clock: Clock
  ids: Ids
  log: Log
  background: Background
  resolve?: Resolve | undefined
  maxGuests?: number | undefined
  /** Browsers that have no way to the network but its own proxy, on a socket that is nobody else's. */
  isSealed?: boolean
}

interface Watched {
  guests: Guests
  gate: RequestGate
}

/** Long enough for a page that loads slowly and then sends itself on; then the tab may be a person's again. */
const holdMs = 30_000

/** No tab is in it: the place of a guest who has opened nothing yet. */
const nowhere = "none"

/** Ways to the network that pass every proxy and gate. */
const sideWays = `for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete globalThis[name]`

/** Takes them from every document of the process before its own scripts run. */
async function closeSideWays(session: CdpSession): Promise<void> {
  try {
    await session.send("Page.addScriptToEvaluateOnNewDocument", { source: sideWays, runImmediately: true })
  } catch (error) {
    // The tab is gone already.
    if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
  }
}

function notForGuests(name: string): AppError {
  const message = `This turn acts on words of others: it may not use the person's own tabs (profile ${name})`
  return new AppError("forbidden", message, { hint: "Use the profile managed, where it has a place apart" })
}

export class Guard {
  readonly #options: GuardOptions
  readonly #resolve: Resolve
  /** Of guests, and of everybody else in browsers of ours. */
  readonly #proxy: GuardProxy
  readonly ownProxy: GuardProxy
  readonly #watched = new WeakMap<LiveBrowser, Watched>()
  /** Tabs with an address that may lead only to certain sites, and whether one led elsewhere. */
  readonly #held = new WeakMap<Tab, { may: (url: string) => boolean; until: number; refused: boolean }>()
  readonly #gates = new WeakMap<Tab, RequestGate>()
  /** Contexts of guests, in all browsers. */
  readonly #spaces = new Set<string>()
  #policies: { of: BrowserConfig["navigation"]; own: UrlPolicy; guest: UrlPolicy } | undefined

  constructor(options: GuardOptions) {
    this.#options = options
    const { clock, ids, log } = options
    this.#resolve = rememberNames(options.resolve ?? systemResolve, () => clock.monotonic())
    this.#proxy = new GuardProxy({ policy: () => this.#current.guest, log, secret: new Secret(ids.token(32)) })
    const secret = options.isSealed ? undefined : new Secret(ids.token(32))
    this.ownProxy = new GuardProxy({ policy: () => this.#current.own, log, secret })
  }

  get #current(): { own: UrlPolicy; guest: UrlPolicy } {
    const { isOwnPort } = this.#options
    const navigation = this.#options.navigation()
    if (this.#policies?.of !== navigation) {
      this.#policies = {
        of: navigation,
        own: createUrlPolicy(navigation, this.#resolve, isOwnPort),
        guest: createUrlPolicy({ ...navigation, policy: "strict" }, this.#resolve, isOwnPort),
      }
    }
    return this.#policies
  }

  /** The address in the form to open, once it is known where it leads. Rejects with `navigation-refused`. */
  async checkOpen(caller: Caller, url: string): Promise<string> {
    const policy = caller.guest === undefined ? this.#current.own : this.#current.guest
    const address = policy.checkOpen(url)
    try {
      await policy.checkRequest(address, caller.signal)
    } catch (error) {
      // A name that is not known here may be known to the browser, which may be elsewhere.
      if (policy.filters || !isUnknownName(error)) throw error
      caller.signal?.throwIfAborted()
    }
    return address
  }

  /** Why an address that the tab asked for failed, when it was asked for through a proxy of ours. */
  explain(tab: Tab, url: string): AppError | undefined {
    return (this.isGuest(tab) ? this.#proxy : this.ownProxy).explain(url)
  }

  /** Ports that the proxies listen on. */
  get ports(): number[] {
    return [this.#proxy.port, this.ownProxy.port].filter((port) => port !== undefined)
  }

  /** Throws `navigation-refused` when the content of a page at this address may not leave the tab. */
  checkRead(tab: Tab, url = tab.url): void {
    this.#policyOf(tab).checkRead(url)
  }

  /** The same for the page that a tab has come to, with what its name stands for. */
  async checkArrival(tab: Tab, signal: AbortSignal): Promise<void> {
    this.checkRead(tab)
    const policy = this.#policyOf(tab)
    if (!policy.filters || !URL.canParse(tab.url)) return
    try {
      await policy.checkRequest(tab.url, signal)
    } catch (error) {
      if (!isUnknownName(error)) throw error
    }
  }

  #policyOf(tab: Tab): UrlPolicy {
    return this.isGuest(tab) ? this.#current.guest : this.#current.own
  }

  isGuest(tab: Tab): boolean {
    return tab.info.browserContextId !== undefined && this.#spaces.has(tab.info.browserContextId)
  }

  /** For commands that speak of a context of the browser: the tab's, where it is not the browser's own. */
  contextOf(tab: Tab): { browserContextId?: string } {
    const { browserContextId } = tab.info
    return this.isGuest(tab) && browserContextId !== undefined ? { browserContextId } : {}
  }

  /** For a while the tab's own documents come only from where they may; without `may` from everywhere again. */
  async hold(tab: Tab, may: ((url: string) => boolean) | undefined): Promise<void> {
    if (!may) return void this.#held.delete(tab)
    const gate = this.#gates.get(tab)
    if (!gate) throw new AppError("internal", "The tab is not watched")
    await gate.start("documents")
    this.#held.set(tab, { may, until: this.#options.clock.monotonic() + holdMs, refused: false })
  }

  /** True when the tab was kept from going on to where it may not. */
  wasHeld(tab: Tab): boolean {
    return this.#held.get(tab)?.refused ?? false
  }

  #isHeldBack(tab: Tab | undefined, { url, frameId, type }: GatedRequest): boolean {
    const held = tab && this.#held.get(tab)
    if (!held || type !== "Document" || frameId !== tab.targetId || held.may(url)) return false
    if (this.#options.clock.monotonic() > held.until) return false
    held.refused = true
    return true
  }

  /** Puts the policy into force before anything is done in the browser. Gives the space in which the caller's tabs are. */
  async enter(profile: BrowserProfile, live: LiveBrowser, caller: Caller): Promise<string | undefined> {
    if (profile.kind === "relay" && caller.guest !== undefined) throw notForGuests(profile.name)
    const { guests, gate } = this.#watch(profile, live)
    if (this.#options.isSealed) return undefined
    const filters = this.#current.own.filters || (caller.guest !== undefined && !guests.hasProxy)
    if (filters) await gate.start("everything")
    else if (!live.guarded) await gate.start("unencrypted")
    this.#options.background.run("guest spaces", () => guests.sweep())
    if (caller.guest === undefined) return undefined
    const space = await guests.spaceFor(caller.guest)
    this.#spaces.add(space)
    return space
  }

  /** The space of a caller who only wants to see what there is. */
  spaceOf(live: LiveBrowser, caller: Caller): string | undefined {
    if (caller.guest === undefined) return undefined
    return this.#watched.get(live)?.guests.find(caller.guest) ?? nowhere
  }

  #watch(profile: BrowserProfile, live: LiveBrowser): Watched {
    const known = this.#watched.get(live)
    if (known) return known
    const { log, background, clock, maxGuests } = this.#options
    const { connection, tabs } = live
    const proxy = profile.owned ? this.#proxy : undefined
    const guests = new Guests({
      connection,
      tabs,
      proxy,
      log,
      background,
      now: () => clock.monotonic(),
      max: maxGuests,
      onGone: (space) => this.#spaces.delete(space),
    })
    const tabOf = (frameId: string | undefined) =>
      frameId === undefined ? undefined : tabs.list.find((tab) => tab.hasFrame(frameId))
    const gate = new RequestGate({
      root: live.requests ?? connection.root,
      isHeldBack: (request) => this.#isHeldBack(tabOf(request.frameId), request),
      policyFor: (frameId) => {
        const tab = tabOf(frameId)
        return tab ? this.#gatePolicy(live, guests, tab) : this.#strangerPolicy(live, guests)
      },
      login: (challenge, { requestId, frameId }) =>
        this.#proxy.login(challenge) ??
        this.ownProxy.login(challenge) ??
        tabOf(frameId)?.credentials.answer(challenge, requestId) ?? { response: "Default" },
      background,
      log,
    })
    tabs.onTab((tab) => {
      this.#gates.set(tab, gate)
      tab.onSession((session) => {
        watchAddresses(session, {
          policy: () => this.#gatePolicy(live, guests, tab),
          onBreach: (url) => this.#blank(tab, url),
        })
        if (this.isGuest(tab)) background.run("guest page", () => closeSideWays(session))
      })
    })
    const watched = { guests, gate }
    this.#watched.set(live, watched)
    return watched
  }

  /** What the gate holds a tab to. Guests behind the proxy need nothing more. */
  #gatePolicy(live: LiveBrowser, guests: Guests, tab: Tab): UrlPolicy | undefined {
    if (this.#options.isSealed) return undefined
    const { own, guest } = this.#current
    if (this.isGuest(tab)) return guests.hasProxy ? undefined : guest
    return own.filters || !live.guarded ? own : undefined
  }

  /** For requests of workers, and of pages that are too new to be known. */
  #strangerPolicy(live: LiveBrowser, guests: Guests): UrlPolicy | undefined {
    if (this.#options.isSealed) return undefined
    const { own, guest } = this.#current
    if (!guests.hasProxy && !guests.isEmpty) return guest
    return own.filters || !live.guarded ? own : undefined
  }

  /** The page may have seen something by now; nobody reads it from there. */
  #blank(tab: Tab, url: string): void {
    const { log, background } = this.#options
    log.warn(
      { targetId: tab.targetId, host: URL.canParse(url) ? new URL(url).host : "" },
      "page with a refused address",
    )
    background.run("browser policy", () => tab.session.send("Page.navigate", { url: "about:blank" }))
  }

  async stop(): Promise<void> {
    await Promise.all([this.#proxy.stop(), this.ownProxy.stop()])
  }
}
