// The browsers of sandboxed sessions: one each, made at its first use, ended with its session, when nobody has used it for
// long, and when another session needs the room. A session never comes to the browser of another.
import { hostname } from "node:os"
import { AppError, type Background, type Clock, describeError, type Ids, type Log } from "../../kernel/index.ts"
import type { Sandbox, SandboxSettings } from "../../sandbox/index.ts"
import type { CoreOptions } from "../access.ts"
import { type BrowserCore, createBrowserCore } from "../core.ts"
import { Casts } from "../live/casts.ts"
import type { Guard } from "../guard.ts"
import type { BrowserProfile } from "../profiles/contract.ts"
import type { Machine } from "../profiles/detect/index.ts"
import { ManagedProfile } from "../profiles/managed.ts"
import { profileFolder } from "../profiles/registry.ts"
import type { BrowserWaits } from "../profiles/starter.ts"
import { Traces } from "../running-traces.ts"
import { SandboxStarter } from "./starter.ts"

/** What the rest of the gateway knows of sandboxes and sessions. */
export interface SandboxLinks {
  sandbox: Sandbox
  settings(agentId: string): SandboxSettings
  /** Whether turns of this kind run in a sandbox. */
  isSandboxed(asker: { agentId: string; trusted: boolean }): Promise<boolean>
  /** The id that the key of a session stands for now. */
  sessionId(sessionKey: string): string | undefined
}

export interface SandboxBrowsersOptions {
  links: SandboxLinks
  /** Holds to `strict`; its proxy is the browsers' only way out. */
  guard: Guard
  proxySocket(): Promise<string>
  machine: Machine
  executablePath(): string | undefined
  waits: BrowserWaits
  core: Pick<CoreOptions, "settings" | "relay" | "stateFolder" | "secrets" | "hidden" | "hasAutomationLibrary">
  clock: Clock
  ids: Ids
  log: Log
  background: Background
}

interface Entry {
  key: string
  /** Of the session that it was made for. */
  sessionId: string
  agentId: string
  profile: ManagedProfile
  core: BrowserCore
  usedAt: number
  /** Until when a person may take a tab over that they were asked to. */
  awaitedUntil: number
}

const lookMs = 5_000
/** Its only profile, in answers. */
export const sandboxProfile = "sandbox"

export class SandboxBrowsers {
  readonly #options: SandboxBrowsersOptions
  readonly #entries = new Map<string, Entry>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: SandboxBrowsersOptions) {
    this.#options = options
  }

  /** What the session's own browser can do; starts none. */
  coreFor(sessionKey: string, agentId: string): BrowserCore {
    if (this.#isStopped) throw new AppError("not-ready", "Browser control has stopped")
    const { links, clock, background } = this.#options
    const sessionId = links.sessionId(sessionKey) ?? ""
    const known = this.#entries.get(sessionKey)
    if (known?.sessionId === sessionId) {
      known.usedAt = clock.monotonic()
      return known.core
    }
    if (known) this.#end(known, "its session has ended")
    const entry = this.#make(sessionKey, sessionId, agentId)
    this.#entries.set(sessionKey, entry)
    const { max } = links.settings(agentId).browser
    const oldest = [...this.#entries.values()].toSorted((one, other) => one.usedAt - other.usedAt)
    for (const old of oldest.slice(0, Math.max(0, oldest.length - max)))
      this.#end(old, "another session needs its place")
    this.#timer ??= setInterval(() => background.run("sandboxed browsers", async () => this.sweep()), lookMs).unref()
    return entry.core
  }

  #make(key: string, sessionId: string, agentId: string): Entry {
    const { links, guard, machine, core, proxySocket, executablePath, waits, ...rest } = this.#options
    const { clock, log, background, ids } = rest
    const starter = new SandboxStarter({
      sandbox: links.sandbox,
      settings: links.settings(agentId),
      session: key,
      agentId,
      machine,
      executablePath: executablePath(),
      proxySocket,
      hostname: hostname(),
      waits,
      clock,
      log,
      background,
    })
    const profile = new ManagedProfile(
      {
        name: sandboxProfile,
        color: () => "#888888",
        folder: profileFolder(core.stateFolder, sandboxProfile),
        cdpPort: undefined,
        noSandbox: false,
        sharesFiles: false,
        after: undefined,
        log,
        background,
      },
      starter,
    )
    const made = createBrowserCore({
      get settings() {
        return core.settings
      },
      registry: onlyProfile(profile),
      relay: core.relay,
      stateFolder: core.stateFolder,
      machine,
      ids,
      clock,
      log,
      background,
      guard,
      traces: new Traces(),
      casts: new Casts(background),
      secrets: core.secrets,
      hidden: core.hidden,
      hasAutomationLibrary: core.hasAutomationLibrary,
      changeProfile: async () => {
        throw new AppError("profile-unsupported", "A sandboxed session has one browser of its own")
      },
    })
    const entry: Entry = { key, sessionId, agentId, profile, core: made, usedAt: clock.monotonic(), awaitedUntil: 0 }
    entry.core = {
      ...made,
      async takeoverTab(caller, targetId) {
        const tab = await made.takeoverTab(caller, targetId)
        entry.awaitedUntil = clock.monotonic() + core.settings.takeoverMinutes * 60_000
        return tab
      },
    }
    return entry
  }

  /** Ends those whose session has ended or that nobody has used for long. */
  sweep(): void {
    const { links, clock } = this.#options
    const now = clock.monotonic()
    for (const entry of this.#entries.values()) {
      const { idleMinutes } = links.settings(entry.agentId).browser
      // A person who has a tab in their hands, or is still to take it, asks nobody for what they do in it.
      const isTaken = entry.profile.live?.tabs.list.some((tab) => tab.isTaken) === true
      if (isTaken || now < entry.awaitedUntil) entry.usedAt = now
      if (links.sessionId(entry.key) !== entry.sessionId) this.#end(entry, "its session has ended")
      else if (now - entry.usedAt > idleMinutes * 60_000) this.#end(entry, "nobody used it")
    }
    if (this.#entries.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #end(entry: Entry, reason: string): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key)
    const { log, background } = this.#options
    log.info({ session: entry.key, reason }, "sandboxed browser ended")
    background.run("end a sandboxed browser", () => this.#retire(entry, `The browser was ended: ${reason}`))
  }

  async #retire({ profile, key }: Entry, reason: string): Promise<void> {
    try {
      await profile.retire(new AppError("aborted", reason))
    } catch (error) {
      this.#options.log.warn({ session: key, reason: describeError(error) }, "sandboxed browser did not end cleanly")
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(entries.map((entry) => this.#retire(entry, "Browser control has stopped")))
  }
}

/** Whatever profile a call names, it comes to this one; the tool refuses other names before. */
function onlyProfile(profile: BrowserProfile): CoreOptions["registry"] {
  return { get: () => profile, has: (name) => name === sandboxProfile, all: [profile], defaultName: sandboxProfile }
}
