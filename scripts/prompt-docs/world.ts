// Where the prompts of docs/reference/prompts.md come from: a real store in a temporary folder, and the real way of
// messages, deliveries and heartbeats to their turns. The clock and the ids are fixed, and the model only listens.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Message, Update } from "grammy/types"
import { pino } from "pino"
import { z } from "zod"
import type { Tool } from "../../src/agent/tool.ts"
import {
  type Heartbeat,
  type TurnOptions,
  type Turns,
  createHeartbeat,
  createSkillsReader,
  createTurns,
  heartbeatJob,
  liveTimeText,
} from "../../src/agent/index.ts"
import { type Config, configSchema } from "../../src/config/index.ts"
import {
  type Clock,
  type Ids,
  type Log,
  createBackground,
  createRedactor,
  noCrash,
  systemClock,
} from "../../src/kernel/index.ts"
import type { ModelRegistry, ModelRequest } from "../../src/models/contract.ts"
import { createSessions } from "../../src/sessions/index.ts"
import { type JobRow, type Store, openStore } from "../../src/store/index.ts"
import { type ChatIntake, createChatIntake } from "./chat-intake.ts"
import { type HookIntake, createHookIntake } from "./hook-intake.ts"
import { type WorldParts, agentId, mainSession, ownerChat, ownerId } from "./parts.ts"

export interface Shown {
  system: string
  user: string
}

export interface SceneConfig {
  chatapp?: Record<string, unknown>
  hooks?: Record<string, unknown>
  agents?: Record<string, unknown>
}

/** What a scene can let happen. Each scene begins with an empty store at the same moment. */
export interface World {
  readonly store: Store
  readonly workspace: string
  readonly chat: ChatIntake
  readonly hooks: HookIntake
  configure(config: SceneConfig): void
  /** Messages come, in one batch. */
  say(...messages: readonly Partial<Message>[]): Promise<void>
  receive(update: Omit<Update, "update_id">): Promise<void>
  /** Runs the oldest job that waits, and gives what the model was shown. */
  turn(): Promise<Shown>
  heartbeat(reason: "interval" | "wake" | "hook"): Promise<Shown>
  later(ms: number): void
}

/** A Saturday. */
const startOfScenes = Date.UTC(2026, 10, 21, 14, 30)

export interface OpenWorld {
  /** Runs a scene in a world of its own. */
  play<T>(scene: (world: World) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export async function openWorld(): Promise<OpenWorld> {
  const folder = mkdtempSync(join(tmpdir(), "svc-prompts-"))
  const log: Log = pino({ level: "silent" })
  let now = startOfScenes
  const clock: Clock = { ...systemClock, now: () => now }
  const ids = countingIds()
  const store = await openStore({ folder, bootId: "boot", clock, ids, log, crashPoint: noCrash })
  const reset = () => {
    now = startOfScenes
    ids.restart()
    for (const table of tables) store.handle.raw.exec(`delete from ${table}`)
    store.handle.raw.exec("delete from sqlite_sequence")
    rmSync(join(folder, "workspace"), { recursive: true, force: true })
  }
  return {
    async play(scene) {
      reset()
      const world = await createWorld({ folder, log, clock, ids, store, later: (ms) => void (now += ms) })
      return await scene(world)
    },
    async close() {
      await store.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const tables = ["event", "step", "message", "session", "group_history", "job", "inbox", "hook_delivery", "outbox"]

async function createWorld(parts: Omit<WorldParts, "config"> & { later: (ms: number) => void }): Promise<World> {
  const { folder, store } = parts
  let config = configOf({})
  const world = { ...parts, config: () => config, background: createBackground(parts.log), redactor: createRedactor() }
  const chat = createChatIntake(world)
  const hooks = createHookIntake(world)
  const requests: ModelRequest[] = []
  const { turns, heartbeat } = composeTurns(world, { chat, requests })
  const shown = (): Shown => describe(requests.at(-1), folder)
  return {
    store,
    workspace: join(folder, "workspace"),
    chat,
    hooks,
    configure: (scene) => void (config = configOf(scene)),
    say: (...messages) => chat.receive(messages.map((message) => ({ message }) as Omit<Update, "update_id">)),
    receive: (update) => chat.receive([update]),
    async turn() {
      await runNext(store, (job, signal) => turns.handle(job, signal))
      return shown()
    },
    async heartbeat(reason) {
      await store.write(async (write) => write.addJob(heartbeatJob(parts.ids.uuid(), mainSession, reason)))
      await runNext(store, (job, signal) => heartbeat.handle(job, signal))
      return shown()
    },
    later: parts.later,
  }
}

const sceneTool: Tool = {
  name: "browser",
  description: "",
  input: z.strictObject({}),
  output: "untrusted",
  repeatable: () => true,
  run: async () => ({ content: [] }),
}

function composeTurns(
  { folder, store, clock, ids, log, config, later }: WorldParts & Pick<World, "later">,
  links: { chat: ChatIntake; requests: ModelRequest[] },
): { turns: Turns; heartbeat: Heartbeat } {
  const sessions = createSessions({ store, ids, config: () => config().session })
  const workspace = () => join(folder, "workspace")
  const turnOptions: TurnOptions = {
    store,
    sessions,
    models: listeningModel((request) => {
      links.requests.push(request)
      later(thinkingMs)
    }),
    tools: () => [sceneTool],
    skills: () => createSkillsReader(log)(workspace()),
    profile: () => ({ name: "Molly", timeoutSeconds: 60, limits: { steps: 60, toolCalls: 150, repeatedCalls: 5 } }),
    clock,
    timeText: liveTimeText(() => config().agents.defaults),
    ids,
    log,
    crashPoint: noCrash,
    deliver: (_write, { input: { route } }) =>
      route === null ? "not delivered: none was asked for" : `queued for ${route.channel} chat ${route.chatId}`,
    preparation: ({ route }) => (route === null ? undefined : links.chat.preparation),
    observe: () => ({ end: () => undefined }),
  }
  const turns = createTurns(turnOptions)
  const heartbeat = createHeartbeat({
    store,
    sessions,
    turns,
    turnOptions,
    clock,
    ids,
    log,
    settings: () => config().agents.defaults.heartbeat,
    agents: () => [agentId],
    workspace,
    timeZone: () => "Europe/Berlin",
    resolveRoute: () => ownerChat,
    visibility: () => ({ showOk: false, showAlerts: true, useIndicator: true }),
  })
  return { turns, heartbeat }
}

/** What it answers stands in the next turn's history and is not shown on the page. */
const answer = "The build of main is green."

/** How long it takes to answer. */
const thinkingMs = 5_000

function listeningModel(listen: (request: ModelRequest) => void): ModelRegistry {
  return {
    describe: () => ({
      id: "docs/model",
      contextTokens: 100_000,
      promptTokens: 100_000,
      vision: true,
      thinking: "off",
      fallbacks: [],
    }),
    async complete(_selection, request) {
      listen(request)
      const usage = {
        inputTokens: 1,
        outputTokens: 1,
        cacheReadTokens: undefined,
        cacheWriteTokens: undefined,
        reasoningTokens: undefined,
      }
      return { text: answer, reasoning: "", toolCalls: [], finishReason: "stop", usage, model: "docs/model" }
    },
  }
}

/** As the lanes do it: the job is marked, runs, and ends with its writes. */
async function runNext(
  store: Store,
  handle: (job: JobRow, signal: AbortSignal) => ReturnType<Turns["handle"]>,
): Promise<void> {
  const job = store.handle.prepare("select * from job where state = 'ready' order by id limit 1").get()
  if (!job) throw new Error("no job waits")
  const row = job as unknown as JobRow
  await store.write(async (write) => void write.prepare("update job set state = 'running' where id = ?").run(row.id))
  const end = await handle(row, new AbortController().signal)
  await store.write(async (write) => {
    await end.commit?.(write)
    write.prepare("update job set state = ?, head = 0 where id = ?").run(end.state ?? "done", row.id)
  })
  if (end.state === "dead") throw new Error(`The turn failed: ${end.error}`)
}

function configOf({ chatapp = {}, hooks = {}, agents = {} }: SceneConfig): Config {
  return configSchema.parse({
    agents: { defaults: { envelopeTimezone: "Europe/Berlin", ...agents } },
    channels: { chatapp: { botToken: "42:token-of-the-page", allowFrom: [ownerId], ...chatapp } },
    hooks: { enabled: true, token: "a-token-of-the-page-0123456789", ...hooks },
  })
}

function describe(request: ModelRequest | undefined, folder: string): Shown {
  const message = request?.messages.findLast((each) => each.role === "user")
  if (!request || message?.role !== "user") throw new Error("the model was not asked")
  const parts = message.content.map((part) => (part.type === "text" ? part.text : `(the picture: ${part.mediaType})`))
  return { system: request.system, user: parts.join("\n").replaceAll(folder, "<state>") }
}

function countingIds(): Ids & { restart(): void } {
  let count = 0
  const next = () => String((count += 1))
  return {
    uuid: () => `00000000-0000-7000-8000-${next().padStart(12, "0")}`,
    token: () => `id-${next()}`,
    below: () => 0,
    restart: () => void (count = 0),
  }
}

export function writeHeartbeatFile(world: World, text: string): void {
  writeFileSync(join(world.workspace, "HEARTBEAT.md"), text)
}
