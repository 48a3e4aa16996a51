// The relay as one part of browser control: its listener, the pairing, and what is attached. The person's browser comes to it;
// it never goes there.
import { AppError, type Background, type Ids, type Log, type Redactor, type Secret } from "../../kernel/index.ts"
import type { Admit, FailureThrottle } from "../../kernel/http/index.ts"
import type { Closing } from "./contract.ts"
import { Hub } from "./hub.ts"
import { Pairing } from "./pairing.ts"
import { RelayServer } from "./server.ts"

export interface RelayOptions {
  stateFolder: string
  /** gateway.port + 3; 0 takes any free port. */
  port: number
  token: Secret
  admit: Admit | undefined
  throttle: FailureThrottle
  newTabs(): boolean
  checkOpen(url: string): Promise<string>
  maxConnections: number | undefined
  ids: Ids
  log: Log
  redactor: Redactor
  background: Background
  now(): number
}

export interface RelayStatus {
  port: number
  listening: boolean
  paired: boolean
  codeWaits: boolean
  connected: boolean
  /** Of the extension. */
  version: string | null
  userAgent: string | null
  tabs: { targetId: string; title: string; url: string; by: "person" | "agent" | "page" }[]
  problem: string | null
}

export class Relay {
  readonly hub: Hub
  /** As the policy of this gateway has it. */
  readonly checkOpen: (url: string) => Promise<string>
  readonly #options: RelayOptions
  readonly #pairing: Pairing
  readonly #boot: string
  #server: RelayServer | undefined
  #opening: Promise<void> | undefined
  #problem: AppError | undefined
  #isStopped = false

  constructor(options: RelayOptions) {
    const { stateFolder, ids, redactor, now, log } = options
    this.#options = options
    this.checkOpen = options.checkOpen
    this.#boot = ids.token(16)
    this.#pairing = new Pairing({ stateFolder, ids, redactor, now })
    this.hub = new Hub({ log })
  }

  /** An extension has shown that it has the code. */
  get isPaired(): boolean {
    return this.#pairing.isProven
  }

  /** There is a code, whether or not an extension has it. */
  get hasCode(): boolean {
    return this.#pairing.hasCode
  }

  get port(): number {
    return this.#server?.port ?? this.#options.port
  }

  /** Opens the listener if it is not open. Rejects with `port-in-use`; the next one who needs it tries again. */
  async open(): Promise<void> {
    if (this.#server) return
    if (this.#isStopped) throw new AppError("not-ready", "Browser control has stopped")
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined))
    return this.#opening
  }

  async #open(): Promise<void> {
    try {
      const server = await RelayServer.start({
        ...this.#options,
        hub: this.hub,
        pairing: this.#pairing,
        boot: this.#boot,
      })
      if (this.#isStopped) return await server.stop("stopping")
      this.#server = server
      this.#problem = undefined
      this.#options.log.info({ port: this.port }, "relay listening")
    } catch (error) {
      if (error instanceof AppError) this.#problem = error
      throw error
    }
  }

  /** A new secret: whoever was paired before is not any more. Gives the code for the extension's options. */
  async pair(): Promise<{ code: string; port: number }> {
    await this.open()
    const code = await this.#pairing.renew(this.port)
    this.#server?.dismiss("paired-anew")
    this.hub.forget()
    this.#options.log.info("relay paired anew")
    return { code, port: this.port }
  }

  status(): RelayStatus {
    const { link, tabs } = this.hub
    return {
      port: this.port,
      listening: this.#server !== undefined,
      paired: this.isPaired,
      codeWaits: this.hasCode && !this.isPaired,
      connected: link !== undefined,
      version: link?.version ?? null,
      userAgent: link?.userAgent ?? null,
      tabs: link ? tabs.map(({ targetId, title, url, by }) => ({ targetId, title, url, by })) : [],
      problem: this.#problem?.message ?? null,
    }
  }

  async stop(reason: Closing): Promise<void> {
    this.#isStopped = true
    await this.#opening?.catch(() => undefined)
    const server = this.#server
    this.#server = undefined
    await server?.stop(reason)
  }
}
