// An agent for tests: a real store and real lanes, a model that answers from a list, and replies that end as rows of
// the outbox. It can be shut down at any point and started again on the same folder.
import type { TestContext } from "node:test"
import { z } from "zod"
import { endAll, endWith } from "../../test/support/ends.ts"
import { silentLog, testStore } from "../../test/support/store.ts"
import { newStateFolder } from "../../test/support/state-folder.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import {
  type Background,
  type Clock,
  type CrashPoint,
  createBackground,
  noCrash,
  systemClock,
  systemIds,
} from "../kernel/index.ts"
import type { ModelReply, ModelRegistry, ModelRequest, ModelSelection, ToolCall } from "../models/contract.ts"
import { type Route, type SessionSettings, createSessions, mainKey } from "../sessions/index.ts"
import { sessionSchema } from "../sessions/config.ts"
import { type JobRow, LaneRunner, type NewJob, type Store, recoverJobs } from "../store/index.ts"
import type { CompactRule } from "./compact/due.ts"
import type { HeartbeatConfig } from "./config.ts"
import { type HeartbeatVisibility, createHeartbeat } from "./heartbeat.ts"
import { createTimeTexts } from "./prompt.ts"
import { createSkillsReader } from "./skills.ts"
import type { Tool } from "./tool.ts"
import type { ToolPolicy } from "./tool-policy.ts"
import type { TurnLimits } from "./turn-limits.ts"
import {
  type TurnInput,
  type TurnPreparation,
  heartbeatJob,
  heartbeatJobKind,
  turnJob,
  turnJobKind,
} from "./turn-input.ts"
import { type TurnDelivery, type TurnOptions, createTurns } from "./turn.ts"

/** A text, calls of tools, or something that happens instead (an error, a wait). */
export type Answer = string | ToolCall[] | ((request: ModelRequest) => Promise<string>)

/** An answer that never comes: `asked` resolves once it is waited for, and it rejects when its turn is aborted. */
export function stuckAnswer(before: (request: ModelRequest) => void = () => undefined) {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const answer = (request: ModelRequest) =>
    new Promise<string>((_resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true })
      before(request)
      resolve()
    })
  return { asked, answer }
}

export interface ScriptedModels extends ModelRegistry {
  requests: (ModelRequest & { selection: ModelSelection })[]
  answers: Answer[]
}

export function scriptedModels(answers: Answer[], contextTokens = 100_000): ScriptedModels {
  const requests: ScriptedModels["requests"] = []
  return {
    requests,
    answers,
    describe: () => ({
      id: "test/model",
      contextTokens,
      promptTokens: contextTokens,
      vision: true,
      thinking: "off",
      fallbacks: [],
    }),
    async complete(selection, request) {
      // As it was when the model was asked: the loop goes on writing into its own copy.
      requests.push({ ...request, messages: structuredClone(request.messages), selection })
      const answer = answers.shift()
      if (answer === undefined) throw new Error("the model was asked once too often")
      const text = typeof answer === "string" ? answer : typeof answer === "function" ? await answer(request) : ""
      if (text !== "") request.onDelta?.({ kind: "text", text })
      const toolCalls = Array.isArray(answer) ? answer : []
      const finishReason: ModelReply["finishReason"] = toolCalls.length > 0 ? "tool-calls" : "stop"
      const usage = { inputTokens: 1, outputTokens: 1 }
      return { text, reasoning: "", toolCalls, finishReason, usage, model: "test/model" }
    },
  }
}

export const call = (name: string, input: ToolCall["input"] = {}, id = `call-${name}`): ToolCall => ({
  id,
  name,
  input,
})

/** A tool that takes `{word}`; `run` decides what comes back. */
export function smallTool(name: string, more: Partial<Tool<{ word?: string }>> = {}): Tool {
  const tool: Tool<{ word?: string }> = {
    name,
    description: `Does ${name}`,
    input: z.strictObject({ word: z.string().optional() }) as Tool<{ word?: string }>["input"],
    output: "trusted",
    repeatable: () => false,
    run: async ({ word }) => ({ content: [{ type: "text", text: `${name} ${word ?? "done"}` }] }),
    ...more,
  }
  return tool as Tool
}

export const chat: Route = { channel: "test", account: "default", chatId: "5", chatKind: "private", messageId: "77" }
export const main = mainKey("main")

export interface AgentParts {
  models?: ScriptedModels
  tools?: Tool[]
  toolPolicy?: ToolPolicy
  clock?: Clock
  crashPoint?: CrashPoint
  /** State folder of an earlier agent, to go on from. */
  folder?: string
  workspace?: string
  timeoutSeconds?: number
  limits?: Partial<TurnLimits>
  heartbeat?: Partial<HeartbeatConfig>
  visibility?: Partial<HeartbeatVisibility>
  mainName?: string
  alertRoute?: Route | null
  deliver?: TurnOptions["deliver"]
  observe?: TurnOptions["observe"]
  compactRule?: CompactRule
  preparation?: TurnPreparation
  isHeard?: NonNullable<TurnOptions["isHeard"]>
  workspaceFiles?: NonNullable<TurnOptions["workspaceFiles"]>
}

export type TestAgent = Awaited<ReturnType<typeof startAgent>>

export async function startAgent(context: TestContext, parts: AgentParts = {}) {
  const folder = parts.folder ?? (await newStateFolder())
  const workspace = parts.workspace ?? temporaryFolder()
  let stop = async (): Promise<void> => undefined
  // Before the store's own: what runs must end while there is still a store.
  endWith(context, () => stop())
  const { clock = systemClock, crashPoint = noCrash } = parts
  const store = await testStore(context, { folder, clock, crashPoint })
  const background = createBackground(silentLog)
  const { sessions, models, heartbeat, runner } = compose({ ...parts, workspace, clock, crashPoint }, store, background)
  await recoverJobs(store)
  runner.start()
  const ends = [() => heartbeat.stop(), () => runner.stop(0), () => background.idle(), () => store.close()]
  stop = () => endAll(ends)
  const settle = async (runId: string) => {
    await background.idle()
    return store.handle.prepare("select * from job where run_id = ?").get(runId) as unknown as JobRow
  }
  const add = async (job: NewJob): Promise<string> => {
    await store.write(async (write) => write.addJob(job))
    return job.runId
  }
  const enqueue = (input: Partial<TurnInput>, hold?: { holdMs: number }) =>
    add(turnJob(systemIds.uuid(), { ...chatInput, ...input }, hold && { ...hold, maxHoldMs: hold.holdMs }))
  return {
    folder,
    store,
    sessions,
    models,
    runner,
    heartbeat,
    stop,
    enqueue,
    /** Lets jobs that wait for more parts begin now. */
    release: () =>
      store.write(async (write) => {
        write.prepare("update job set run_at = 0 where join_key is not null").run()
        // Looked at again because something was added.
        write.addJob({ runId: systemIds.uuid(), kind: turnJobKind, laneKey: "nobody", payload: {}, runAt: 4e12 })
      }),
    /** The job once nothing runs any more and nothing that is due waits. */
    settle,
    /** A turn from its arrival to its end. */
    say: async (text: string, input: Partial<TurnInput> = {}) => await settle(await enqueue({ text, ...input })),
    wake: async (reason: "wake" | "interval" | "hook" | "manual" = "interval") =>
      await settle(await add(heartbeatJob(systemIds.uuid(), main, reason))),
    addEvent: (text: string, more: { trusted?: boolean; origin?: string } = {}) =>
      store.write(async (write) => {
        write.addEvent({ sessionKey: main, origin: "system", trusted: true, ...more, text })
      }),
    replies: () => readReplies(store),
    /** What a person has chosen for the main session. */
    choose: (settings: SessionSettings) =>
      store.write(async (write) => sessions.saveSettings(write, sessions.open(write, main, "main"), settings)),
    /** What earlier turns of the session have left for the next. */
    history: (sessionKey = main) =>
      sessions.history(sessions.find(sessionKey)?.sessionId ?? "", { budget: 1e6, room: 1e6 }).messages,
  }
}

function compose(
  parts: AgentParts & { clock: Clock; crashPoint: CrashPoint; workspace: string },
  store: Store,
  background: Background,
) {
  const { clock, crashPoint, models = scriptedModels([]), tools = [] } = parts
  const common = { store, clock, ids: systemIds, log: silentLog }
  const sessions = createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) })
  const turnOptions: TurnOptions = {
    ...common,
    timeText: createTimeTexts({ envelopeTimezone: "utc" }).time,
    sessions,
    models,
    tools: () => tools,
    skills: () => createSkillsReader(silentLog)(parts.workspace),
    profile: () => ({
      name: "the agent",
      timeoutSeconds: parts.timeoutSeconds ?? 60,
      limits: { steps: 60, toolCalls: 150, repeatedCalls: 5, ...parts.limits },
      ...(parts.toolPolicy === undefined ? {} : { tools: parts.toolPolicy }),
    }),
    crashPoint,
    deliver: parts.deliver ?? deliverToOutbox,
    preparation: () => parts.preparation,
    compactRule: () => parts.compactRule,
    observe: parts.observe ?? (() => ({ end: () => undefined })),
    ...(parts.isHeard ? { isHeard: parts.isHeard } : {}),
    ...(parts.workspaceFiles ? { workspaceFiles: parts.workspaceFiles } : {}),
  }
  const turns = createTurns(turnOptions)
  const heartbeat = createHeartbeat({
    ...common,
    sessions,
    turns,
    turnOptions,
    settings: () => ({ ...heartbeatDefaults, ...parts.heartbeat }),
    agents: () => ["main"],
    workspace: () => parts.workspace,
    timeZone: () => "UTC",
    resolveRoute: () => (parts.alertRoute === undefined ? chat : parts.alertRoute),
    mainName: () => parts.mainName ?? "main",
    visibility: () => ({ showOk: false, showAlerts: true, useIndicator: true, ...parts.visibility }),
  })
  const runner = new LaneRunner({
    ...common,
    handlers: {
      [turnJobKind]: { run: turns.handle, onDead: turns.onDead },
      [heartbeatJobKind]: { run: heartbeat.handle, onDead: heartbeat.onDead },
    },
    maxConcurrent: () => 4,
    background,
  })
  return { sessions, models, heartbeat, runner }
}

const chatInput: TurnInput = {
  agentId: "main",
  sessionKey: main,
  purpose: "chat",
  origin: "owner",
  trusted: true,
  text: "hello",
  route: chat,
}

const heartbeatDefaults: HeartbeatConfig = {
  every: "30m",
  prompt: "Is anything amiss? If not, reply HEARTBEAT_OK.",
  target: "last",
  ackMaxChars: 300,
  includeReasoning: false,
}

export const deliverToOutbox: TurnOptions["deliver"] = (write, delivery) => {
  const { route, routeProblem = "none was asked for" } = delivery.input
  if (route === null) return `not delivered: ${routeProblem}`
  const { channel, account, chatId } = route
  const payload = { text: delivery.text, media: [...delivery.media], isError: delivery.isError }
  const laneKey = `${channel}:${account}:${chatId}`
  write.addOutbox({
    laneKey,
    channel,
    account,
    chatId,
    route: { ...route },
    kind: "text",
    payload,
    jobId: delivery.jobId,
  })
  return `queued for ${channel} chat ${chatId}`
}

export type TestReply = Pick<TurnDelivery, "text" | "isError"> & { chatId: string; media: string[] }

function readReplies(store: Store): TestReply[] {
  const rows = store.handle.prepare("select chat_id, payload from outbox order by id").all()
  return rows.map((row) => ({
    chatId: String(row.chat_id),
    ...(JSON.parse(String(row.payload)) as Omit<TestReply, "chatId">),
  }))
}

/** All words of a request's last user message. */
export function promptOf(request: ModelRequest | undefined): string {
  const message = request?.messages.findLast((each) => each.role === "user")
  const content = message?.role === "user" ? message.content : []
  return content.map((part) => (part.type === "text" ? part.text : `<${part.mediaType}>`)).join("\n")
}

/** A clock that can be set forward; what waits in real time is not hurried. */
export function movableClock(): Clock & { forward(ms: number): void } {
  let shift = 0
  return { ...systemClock, now: () => Date.now() + shift, forward: (ms) => void (shift += ms) }
}
