// Everything round a gateway that tests of the whole product need: the chat platform's emulator with a person who may
// write to the agent, a model server that says what it was asked, a state folder, and gateways that come and go on it.
import assert from "node:assert/strict"
import { DatabaseSync } from "node:sqlite"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, after } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import type { Message, User } from "grammy/types"
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator/index.ts"
import { endAll } from "./ends.ts"
import { type GatewaySetup, freePort, type RunningGateway, startGateway, writeConfig } from "./gateway.ts"
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/index.ts"
import { newStateFolder } from "./state-folder.ts"

export const hookToken = "hook-token-of-the-tests-0123456789"

export type Settings = Record<string, unknown>

export interface WorldOptions {
  emulator?: EmulatorOptions
  model?: ModelServerOptions
  /** Merged, at any depth, over a configuration in which Ada is the owner and the model server is the model. */
  config?: Settings
  /** Default: one whose store has just been made. */
  stateFolder?: string
}

export interface HookAnswer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

export class World {
  readonly emulator: Emulator
  readonly model: ModelServer
  readonly stateFolder: string
  /** Listed by id in `allowFrom`: an owner. She has written to the bot before. */
  readonly ada: User
  readonly port: number
  config: Settings
  gateway!: RunningGateway
  readonly #context: Pick<TestContext, "after">

  constructor(
    context: Pick<TestContext, "after">,
    parts: Pick<World, "emulator" | "model" | "stateFolder" | "ada" | "port" | "config">,
  ) {
    this.#context = context
    this.emulator = parts.emulator
    this.model = parts.model
    this.stateFolder = parts.stateFolder
    this.ada = parts.ada
    this.port = parts.port
    this.config = parts.config
  }

  /** Starts a gateway on the state folder, with the configuration as it stands there. */
  async start(
    options: Pick<GatewaySetup, "crashAt" | "handleLimit" | "environment" | "nodeFlags"> = {},
  ): Promise<RunningGateway> {
    this.gateway = await startGateway(this.#context, { stateFolder: this.stateFolder, port: this.port, ...options })
    return this.gateway
  }

  /** Writes the configuration file anew, with these changes. */
  configure(changes: Settings): void {
    this.config = merge(this.config, changes)
    writeConfig(this.stateFolder, this.config)
  }

  /** The same for a gateway that runs; resolves when it uses them. */
  async reconfigure(changes: Settings): Promise<void> {
    const count = () => this.gateway.log().split("config changed").length
    const before = count()
    this.configure(changes)
    await until("the configuration is taken up", () => count() > before || undefined)
  }

  /** A person whose private chat with the bot is open; what opened it is already confirmed. */
  async addPerson(options: { id?: number; firstName: string; username?: string }): Promise<User> {
    const person = this.emulator.control.addUser(options)
    this.emulator.control.sendText({ userId: person.id, text: "/start" })
    await confirmUpdates(this.emulator)
    return person
  }

  /** A person who has this moment opened a chat with the bot that runs, which answers. */
  addNewcomer(options: { id?: number; firstName: string; username?: string }): User {
    const person = this.emulator.control.addUser(options)
    this.say("/start", person)
    return person
  }

  say(text: string, person: User = this.ada): Message {
    return this.emulator.control.sendText({ userId: person.id, text })
  }

  /** Resolves with the bot's first message after `after` that matches. */
  reply(
    match: string | RegExp,
    options: { after?: Message; person?: User; timeoutMs?: number } = {},
  ): Promise<Message> {
    const { after, person = this.ada, timeoutMs = 60_000 } = options
    const wanted = { chatId: person.id, from: "bot" as const, match, ...(after ? { after: after.message_id } : {}) }
    return this.emulator.control.waitForMessage(wanted, { timeoutMs })
  }

  /** What the bot has written in a private chat, in order. */
  botTexts(person: User = this.ada, after?: Message): string[] {
    return this.emulator.control
      .messages({ chatId: person.id, limit: 3_000, ...(after ? { after: after.message_id } : {}) })
      .filter((message) => message.from?.is_bot)
      .map((message) => message.text ?? message.caption ?? "")
  }

  /**
   * Writes a message whose answer comes after everything that is under way in this chat: when it is there, what has
   * not come by then does not come.
   */
  async settle(person: User = this.ada): Promise<void> {
    const marker = `marker ${Math.random().toString(36).slice(2)}`
    const sent = this.say(marker, person)
    await this.emulator.control.waitForMessage(
      { chatId: person.id, from: "bot", after: sent.message_id },
      { timeoutMs: 60_000 },
    )
    const open = "select 1 from outbox where state in ('new', 'sending')"
    await until("everything is sent", () => (this.rows(open).length === 0 ? true : undefined))
  }

  /** Rejects when the connection ends without an answer. */
  async hook(path: string, body: object, headers: Record<string, string> = {}): Promise<HookAnswer> {
    const response = await fetch(`http://127.0.0.1:${this.port}/hooks/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as HookAnswer["body"] }
  }

  /** Looks again and again until the probe gives something. For states that no event tells of. */
  async until<T>(what: string, probe: () => T | undefined | Promise<T | undefined>, timeoutMs = 60_000): Promise<T> {
    return await until(what, probe, timeoutMs)
  }

  /** Rows of the database, of a gateway that runs or has ended. */
  rows<Row>(sql: string, ...parameters: (string | number)[]): Row[] {
    return rowsOf<Row>(this.stateFolder, sql, ...parameters)
  }

  /** Changes the database of a gateway that has ended: to let time pass that no test can wait for. */
  change(sql: string): void {
    const database = new DatabaseSync(join(this.stateFolder, "svc.db"))
    database.exec(sql)
    database.close()
  }
}

export function rowsOf<Row>(stateFolder: string, sql: string, ...parameters: (string | number)[]): Row[] {
  const database = new DatabaseSync(join(stateFolder, "svc.db"), { readOnly: true })
  try {
    database.exec("pragma busy_timeout = 5000")
    return database.prepare(sql).all(...parameters) as unknown as Row[]
  } finally {
    database.close()
  }
}

export async function until<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  timeoutMs = 60_000,
): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const found = await probe()
    if (found !== undefined) return found
    if (performance.now() > end) assert.fail(`not within ${timeoutMs} ms: ${what}`)
    await delay(20)
  }
}

export async function createWorld(context: Pick<TestContext, "after">, options: WorldOptions = {}): Promise<World> {
  const stateFolder = options.stateFolder ?? (await newStateFolder())
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
  const emulator = await startEmulator({ seed: 7, ...options.emulator })
  context.after(() => emulator.stop())
  const model = await startModelServer(options.model)
  context.after(() => model.stop())
  const ada = emulator.control.addUser({ id: 1001, firstName: "Ada", username: "ada" })
  emulator.control.sendText({ userId: ada.id, text: "/start" })
  await confirmUpdates(emulator)
  const defaults: Settings = {
    hooks: { enabled: true, token: hookToken },
    channels: { chatapp: { botToken: emulator.token, apiRoot: emulator.url, allowFrom: [ada.id] } },
    models: { retry: { attempts: 3 }, providers: { test: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
    agents: { defaults: { model: "test/small", heartbeat: { every: "0" }, sandbox: { mode: "off" } } },
    // One answer a message, so that a test can count them, however many come while a turn runs.
    messages: { queue: { mode: "followup", debounceMs: 0 } },
    browser: { enabled: false },
  }
  const config = merge(defaults, options.config ?? {})
  writeConfig(stateFolder, config)
  return new World(context, { emulator, model, stateFolder, ada, port: await freePort(), config })
}

/**
 * For a world that all tests of a file share: it ends with the file, the youngest part first. To be called at the top
 * of the file, because what is registered while a test runs ends with that test.
 */
export function fileContext(): Pick<TestContext, "after"> {
  const ends: (() => unknown)[] = []
  after(() => endAll(youngestFirst(ends)))
  return { after: (end) => void ends.push(end as () => unknown) }
}

/** With what is added meanwhile. */
function* youngestFirst(ends: (() => unknown)[]): Generator<() => unknown> {
  for (let end = ends.pop(); end; end = ends.pop()) yield end
}

/** Takes what waits for the bot away, as another program with its token would. */
async function confirmUpdates(emulator: Emulator): Promise<void> {
  const last = emulator.control.updates().at(-1) as { update_id: number } | undefined
  if (!last) return
  const response = await fetch(`${emulator.url}/bot${emulator.token}/getUpdates?offset=${last.update_id + 1}`)
  assert.equal(response.status, 200)
}

export function merge(base: Settings, changes: Settings): Settings {
  const merged = { ...base }
  for (const [key, value] of Object.entries(changes)) {
    const before = merged[key]
    merged[key] = isPlain(before) && isPlain(value) ? merge(before, value) : value
  }
  return merged
}

function isPlain(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Writes the file as it is: for configurations that are meant to be broken. */
export function writeRawConfig(stateFolder: string, text: string): void {
  writeFileSync(join(stateFolder, "svc.json"), text, { mode: 0o600 })
}
