// All configured servers: configuration and accepted tools -> the tools that a turn is offered. Nothing is started for
// that; a server whose tools were never seen is asked for them once, in the background.
import { homedir } from "node:os"
import type { Tool, ToolPlace } from "../../agent/tool.ts"
import { AppError, type Background, type Log, type Redactor, raceAbort } from "../../kernel/index.ts"
import type { Store, Write } from "../../store/index.ts"
import type { McpConfig, McpServerConfig } from "../config.ts"
import { type Connection, createConnection, sourceOf } from "./connection.ts"
import type { ServerDetail, ServerState, ServerTool } from "./contract.ts"
import { type Pin, type Pins, createPins, hashOf } from "./pins.ts"
import { type McpToolOptions, type ToolChange, createMcpTool } from "./tool.ts"

export interface McpServersOptions {
  config: () => McpConfig
  version: string
  /** Of the gateway; programs are given a few of its variables. */
  variables: Readonly<Record<string, string | undefined>>
  store: Store
  background: Background
  log: Log
  redactor: Redactor
  /** All tools of a server were accepted by hand. */
  onAccepted?: (name: string) => Promise<void>
}

/** Between two tries to read the tools of a server that does not work. */
const retryMs = 60_000
/** What a program cannot do without. All else may hold secrets, and is given by name. */
const passedOn = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"]

export class McpServers {
  readonly #options: McpServersOptions
  readonly #pins: Pins
  readonly #connections = new Map<string, Connection>()
  /** When a server could not be read. What is configured otherwise now is another connection, which may be tried at once. */
  readonly #failures = new WeakMap<Connection, number>()
  /** First looks under way: when they began, and their ends, which never reject. */
  readonly #looking = new WeakMap<Connection, { at: number; done: Promise<void> }>()

  constructor(options: McpServersOptions) {
    this.#options = options
    this.#pins = createPins(options.store)
  }

  /** What a turn in this place is offered. Starts nothing. */
  tools(place: ToolPlace): Tool[] {
    if (!mayUse(place)) return []
    const found = this.#active().flatMap(([name, settings]) => {
      const allowed = allowOf(settings, place.agentId)
      if (allowed.length === 0) return []
      const connection = this.#connect(name, settings)
      const accepted = this.#pins.of(name, connection.source)
      if (!accepted) this.#lookSoon(connection)
      const present = this.#following(connection)
      return (accepted ?? [])
        .filter((pin) => matches(allowed, pin.name))
        .map((pin) => {
          const isFree = matches(settings.free, pin.name)
          return createMcpTool({ connection: present, pin, pins: this.#pins, isFree }) as Tool
        })
    })
    return found.slice(0, this.#options.config().maxTools)
  }

  /**
   * Resolves when the servers of this place have been read for the first time, or have had their time for that: else a
   * message soon after the first start would be answered without them. Rejects with the signal's reason.
   */
  async ready(place: ToolPlace, signal: AbortSignal): Promise<void> {
    if (!mayUse(place)) return
    const looks = this.#active().flatMap(([name, settings]) => {
      const connection = this.#connect(name, settings)
      if (allowOf(settings, place.agentId).length === 0 || this.#pins.of(name, connection.source)) return []
      this.#lookSoon(connection)
      return this.#looking.get(connection) ?? []
    })
    await Promise.all(looks.map((look) => this.#waitFor(look, signal)))
  }

  async #waitFor({ at, done }: { at: number; done: Promise<void> }, signal: AbortSignal): Promise<void> {
    const leftMs = at + this.#options.config().firstWaitSeconds * 1_000 - performance.now()
    if (leftMs <= 0) return
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, leftMs)
    try {
      await raceAbort(Promise.race([done, over]), signal)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Takes up the configuration: ends what is configured otherwise now, and asks servers whose tools were never seen. */
  look(): void {
    const { servers } = this.#options.config()
    for (const [name, connection] of this.#connections) {
      const settings = servers[name]
      if (settings?.enabled && isSame(settings, connection.settings)) continue
      this.#connections.delete(name)
      this.#end(connection)
    }
    for (const [name, settings] of this.#active()) {
      const connection = this.#connect(name, settings)
      if (!this.#pins.of(name, connection.source)) this.#lookSoon(connection)
    }
  }

  list(): ServerState[] {
    return Object.entries(this.#options.config().servers).map(([name, settings]) => this.#stateOf(name, settings))
  }

  /** Servers whose last use failed. Their own words are not in it. */
  failed(): string[] {
    return this.#active()
      .filter(([name]) => this.#connections.get(name)?.problem !== undefined)
      .map(([name]) => name)
  }

  /** Opens the server and compares. Throws `not-found`, `mcp-unavailable`. */
  async inspect(name: string, signal: AbortSignal): Promise<ServerDetail> {
    const connection = this.#named(name)
    const now = await this.#read(connection, signal)
    return {
      ...this.#stateOf(name, connection.settings),
      items: compare(this.#pins.of(name, connection.source) ?? [], now),
    }
  }

  /** Takes its tools as they are now for accepted. */
  async accept(name: string, signal: AbortSignal): Promise<ServerDetail> {
    const connection = this.#named(name)
    await this.#pins.replace(name, connection.source, await this.#read(connection, signal))
    this.#options.log.info({ server: name }, "mcp tools accepted")
    await this.#options.onAccepted?.(name)
    return await this.inspect(name, signal)
  }

  /** An owner has allowed the change of a tool. Not where something else was accepted since that was asked. */
  acceptChange(write: Write, { server, tool, accepted, now }: ToolChange): void {
    const { servers } = this.#options.config()
    const settings = Object.hasOwn(servers, server) ? servers[server] : undefined
    const source = settings && sourceOf(settings)
    const pin = source && this.#pins.of(server, source)?.find(({ name }) => name === tool)
    if (source === undefined || !pin || pin.hash !== hashOf({ name: tool, ...accepted })) return
    this.#pins.acceptIn(write, server, source, { name: tool, ...now })
    this.#options.log.info({ server, tool }, "mcp tool accepted")
  }

  /** After `acceptChange`, when its transaction has ended. */
  reread(): void {
    this.#pins.reread()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.stop()))
  }

  #active(): [string, McpServerConfig][] {
    return Object.entries(this.#options.config().servers).filter(([, { enabled }]) => enabled)
  }

  #connect(name: string, settings: McpServerConfig): Connection {
    const old = this.#connections.get(name)
    if (old && isSame(old.settings, settings)) return old
    if (old) this.#end(old)
    const made = createConnection({ ...this.#options, name, settings, ...startOf(this.#options, settings) })
    this.#connections.set(name, made)
    return made
  }

  /** For a turn, which may go on while the configuration changes: what was ended by that must not be started again. */
  #following({ name, source, settings }: Connection): McpToolOptions["connection"] {
    const now = (): Connection => {
      const { servers } = this.#options.config()
      const present = Object.hasOwn(servers, name) ? servers[name] : undefined
      if (present?.enabled && sourceOf(present) === source) return this.#connect(name, present)
      throw new AppError("mcp-unavailable", `The MCP server ${name} was switched off or made another one meanwhile`, {
        hint: "Go on without it",
      })
    }
    return {
      name,
      source,
      settings,
      tools: async (signal) => await now().tools(signal),
      call: async (tool, input, signal) => await now().call(tool, input, signal),
    }
  }

  #end(connection: Connection): void {
    this.#options.background.run("end an mcp server", () => connection.stop())
  }

  #named(name: string): Connection {
    const { servers } = this.#options.config()
    const settings = Object.hasOwn(servers, name) ? servers[name] : undefined
    if (settings?.enabled) return this.#connect(name, settings)
    if (settings) {
      throw new AppError("conflict", `The MCP server ${name} is switched off (mcp.servers.${name}.enabled)`, {
        hint: `Switch it on with: svc config set mcp.servers.${name}.enabled true`,
      })
    }
    const known = Object.keys(servers).join(", ") || "none"
    throw new AppError("not-found", `There is no MCP server ${JSON.stringify(name)} (mcp.servers has: ${known})`, {
      hint: "docs/guides/mcp.md shows how one is added; what there is: svc mcp servers",
    })
  }

  #stateOf(name: string, settings: McpServerConfig): ServerState {
    return {
      name,
      kind: settings.url === undefined ? "program" : "address",
      enabled: settings.enabled,
      revision: this.#connections.get(name)?.revision ?? null,
      isStarting: this.#connections.get(name)?.isStarting ?? false,
      tools: this.#pins.of(name, sourceOf(settings))?.length ?? 0,
      problem: this.#connections.get(name)?.problem ?? null,
    }
  }

  async #read(connection: Connection, signal: AbortSignal): Promise<Pin[]> {
    try {
      const found = await connection.tools(signal)
      this.#failures.delete(connection)
      return [...found.values()]
    } catch (error) {
      if (!signal.aborted) this.#failures.set(connection, performance.now())
      throw error
    }
  }

  /** Once at a time, and not again and again when it does not work. */
  #lookSoon(connection: Connection): void {
    const isRecent = performance.now() - (this.#failures.get(connection) ?? -retryMs) < retryMs
    if (isRecent || this.#looking.has(connection)) return
    const done = this.#first(connection)
    this.#looking.set(connection, { at: performance.now(), done })
    this.#options.background.run("read mcp tools", () => done)
  }

  async #first(connection: Connection): Promise<void> {
    const { name, source } = connection
    const { log } = this.#options
    try {
      const { startSeconds, timeoutSeconds } = connection.settings
      const found = await this.#read(connection, AbortSignal.timeout((startSeconds + timeoutSeconds) * 1_000))
      await this.#pins.replace(name, source, found)
      log.info({ server: name, tools: found.length }, "mcp tools accepted, as they were at first sight")
    } catch (error) {
      log.warn({ server: name, err: error }, "the tools of an mcp server could not be read")
    } finally {
      this.#looking.delete(connection)
    }
  }
}

/** Each change of the configuration makes all of it anew. */
function isSame(one: McpServerConfig, other: McpServerConfig): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function startOf({ variables }: McpServersOptions, { env, cwd }: McpServerConfig) {
  const passed = passedOn.flatMap((name): [string, string][] => {
    const value = variables[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { env: { ...Object.fromEntries(passed), ...env }, cwd: cwd ?? variables["HOME"] ?? homedir() }
}

/** They act with the owner's means: turns of people who are not the owner do not have them. */
function mayUse({ origin }: ToolPlace): boolean {
  return origin === "owner" || origin === "webhook" || origin === "system"
}

function allowOf({ allow }: McpServerConfig, agentId: string): readonly string[] {
  return allow[agentId] ?? allow["*"] ?? []
}

function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name))
}

function compare(accepted: readonly Pin[], present: readonly Pin[]): ServerTool[] {
  const gone = accepted.filter(({ name }) => !present.some((tool) => tool.name === name))
  return [
    ...present.map((now) => {
      const before = accepted.find(({ name }) => name === now.name)
      const state = before === undefined ? "new" : before.hash === hashOf(now) ? "accepted" : "changed"
      return {
        name: now.name,
        state: state as ServerTool["state"],
        description: now.description,
        ...(before === undefined ? {} : { accepted: before }),
        ...(state === "accepted" ? {} : { now }),
      }
    }),
    ...gone.map((pin) => ({ name: pin.name, state: "gone" as const, description: pin.description, accepted: pin })),
  ]
}
