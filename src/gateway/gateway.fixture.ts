// For the tests of this folder: the gateway's listener over a real store in a temporary folder.
import type { SandboxExplanation } from "../sandbox/index.ts"
import type { ApprovalDetail } from "../approvals/contract.ts"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { endAll } from "../../test/support/ends.ts"
import { type SendOptions, send } from "../../test/support/http-client.ts"
import { withPlansWatched } from "../../test/support/plans.ts"
import { newStateFolder } from "../../test/support/state-folder.ts"
import { type Ledger, createLedger, readRange } from "../budget/index.ts"
import {
  AppError,
  Secret,
  createLog,
  createRedactor,
  createBackground,
  noCrash,
  systemClock,
  systemIds,
} from "../kernel/index.ts"
import type { ModelCheck } from "../models/index.ts"
import { openStore } from "../store/index.ts"
import { createTokens } from "./access/index.ts"
import type { GatewayActions } from "./api.ts"
import { createFailureThrottle } from "../kernel/http/index.ts"
import { type PagePartsOptions, createPage } from "./page/index.ts"
import { createAudit } from "./audit/index.ts"
import type { GatewayStatus } from "./contract.ts"
import { type GatewayServerOptions, createGatewayServer } from "./server.ts"

export const gatewayToken = "gateway-secret-0123456789abcdef"
export const bearer = { authorization: `Bearer ${gatewayToken}` }

export function makeLog(folder: string) {
  const redactor = createRedactor()
  const { log, flush } = createLog({ folder: join(folder, "logs"), level: "debug", redactor })
  const logged = () => {
    flush()
    return readFileSync(join(folder, "logs", "gateway.log"), "utf8")
  }
  return { redactor, log, logged }
}

export async function startGateway(overrides: Partial<GatewayServerOptions> = {}) {
  const folder = await newStateFolder()
  const { redactor, log, logged } = makeLog(folder)
  const parts = { clock: systemClock, ids: systemIds, log }
  const store = await withPlansWatched(openStore({ folder, bootId: "boot", crashPoint: noCrash, ...parts }))
  const calls: unknown[] = []
  const background = createBackground(log)
  const ledger = createLedger({ store, clock: systemClock, log, background, timeZone: () => "UTC" })
  const audit = createAudit({ store, clock: systemClock, log, background })
  const tokens = createTokens({ store, clock: systemClock, ids: systemIds, background })
  let listening = 0
  const throttle = createFailureThrottle({ clock: systemClock })
  const shared = { tokens, audit, throttle, store, clock: systemClock, background, log, redactor }
  const page = makePage(shared, () => listening)
  const options: GatewayServerOptions = {
    bind: "loopback",
    port: 0,
    allowedHosts: () => ["gateway.example"],
    token: { token: new Secret(gatewayToken), length: gatewayToken.length, file: "", source: "config" },
    ...shared,
    page,
    logFolder: join(folder, "logs"),
    readiness: () => ({ ok: true, parts: { store: "ready" } }),
    metrics: () => [{ name: "svc_test", type: "gauge", help: "A number.", samples: [{ value: 1 }] }],
    actions: recordingActions(calls, ledger),
    hooks: { path: () => "/hooks", handle: async (request) => new Response(`hook ${request.url}`) },
    nodes: { path: "/node", upgrade: (_request, socket) => void socket.end("HTTP/1.1 101 Node\r\n\r\n") },
    mcp: { handle: async (_request, { visitor }) => Response.json({ visitor: visitor.name }) },
    ...overrides,
  }
  const server = createGatewayServer(options)
  const ends = [() => server.stop(0), () => background.idle(), () => tokens.stop(), () => audit.stop()]
  const stop = () => endAll([...ends, () => store.close()])
  const { port } = await server.start().catch(async (error: unknown) => {
    await stop()
    throw error
  })
  listening = port
  return {
    options,
    folder,
    port,
    store,
    ledger,
    tokens,
    audit,
    server,
    calls,
    redactor,
    logged,
    send: (path: string, options: SendOptions = {}) => send(port, path, options),
    get: (path: string) => send(port, path, { headers: bearer }),
    post: (path: string, body: unknown) =>
      send(port, path, { method: "POST", headers: bearer, body: JSON.stringify(body) }),
    stop,
  }
}

type PageShared = Omit<
  PagePartsOptions,
  "settings" | "place" | "version" | "sessionDays" | "folder" | "ownIssuer" | "ids"
>

/** Without files. */
function makePage(shared: PageShared, port: () => number) {
  return createPage({
    ...shared,
    ids: systemIds,
    settings: () => ({ enabled: true, allowHttp: false }),
    place: () => ({ bind: "loopback", port: port() }),
    version: "1.0.0",
    sessionDays: () => 30,
    folder: () => undefined,
    ownIssuer: "own",
  })
}

function recordingRuns(calls: unknown[]): Pick<GatewayActions, "stopRun" | "runAgain"> {
  return {
    stopRun: async (run) => void calls.push({ stopRun: run }),
    runAgain: async (wish) => (calls.push({ runAgain: wish }), { runId: "next" }),
  }
}

function recordingBrowser(calls: unknown[]): GatewayActions["browser"] {
  const note =
    <Result>(name: string, result: Result) =>
    async (...given: unknown[]) => {
      calls.push({ [name]: given.filter((each) => typeof each === "string") })
      return result
    }
  return {
    list: () => ({ enabled: true, profiles: [] }),
    start: note("start", undefined),
    stop: note("stop", { stopped: true }),
    open: note("open", { targetId: "T" }),
    close: note("close", undefined),
    snapshot: note("snapshot", { url: "", text: "", truncated: false, boxes: {} }),
    watch: async () => new Response("{}\n").body as ReadableStream<Uint8Array<ArrayBuffer>>,
  }
}

function recordingSessions(calls: unknown[]): GatewayActions["sessions"] {
  return {
    list: (query) => (calls.push(query), { items: [], next: null }),
    read(key) {
      throw new AppError("not-found", `There is no session ${key}`)
    },
    transcript: (key, query) => (calls.push({ key, ...query }), { items: [], next: null }),
    search: (query) => (calls.push(query), { items: [], next: null }),
    export: (key) => [`# Session ${key}\n`, "words\n"].values(),
    async compact(key, instructions) {
      calls.push({ compact: key, instructions })
      return { runId: "r" }
    },
    async remove(key) {
      calls.push({ remove: key })
      return { conversations: 1 }
    },
  }
}

function recordingApprovals(calls: unknown[]): GatewayActions["approvals"] {
  return {
    list: (query) => (calls.push(query), { approvals: [], next: null }),
    read(id) {
      throw new AppError("not-found", `There is no approval ${id}`)
    },
    async decide(id, decision) {
      calls.push({ [decision]: id })
      return { message: "done", approval: {} as ApprovalDetail }
    },
  }
}

const noUpkeep: Pick<GatewayActions, "backups" | "skills"> = {
  backups: {
    list: async () => ({ folder: "/b", everyMs: 0, running: false, failure: null, backups: [], more: false }),
    begin: () => undefined,
  },
  skills: {
    list: () => ({ agents: [] }),
    read(_agent, name) {
      throw new AppError("not-found", `There is no skill ${name}`)
    },
  },
}

function recordingConfig(calls: unknown[]): GatewayActions["config"] {
  return {
    overview: () => ({ path: "/c", mode: "hybrid", problems: [], sections: [] }),
    fields: () => ({ fields: [] }),
    check: (changes) => (calls.push({ check: changes }), { issues: [], files: [], revision: "1" }),
    save: (changes, revision) => (calls.push({ save: changes, revision }), { files: [], effect: "now" }),
  }
}

function recordingSandbox(calls: unknown[]): GatewayActions["sandbox"] {
  return {
    list: () => [],
    explain: async (agent) => (calls.push({ explainSandbox: agent }), {}) as SandboxExplanation,
    stop: async (id) => (calls.push({ stopSandbox: id }), []),
  }
}

const noTerminal: GatewayActions["terminal"] = {
  accept: async ({ id }) => ({ runId: `run-of-${id}`, session: "agent:main:main" }),
  follow: async (runId, wanted) => ({ runId, ...wanted }),
  stop: async (runId) => ({ runId, state: "stopped" }),
}

const noChat: GatewayActions["chat"] = {
  overview: () => ({ agents: ["main"], chats: [], hasMore: false, commands: [], maxFileBytes: 10 }),
  history: () => ({ items: [], next: null, drafts: [], unsent: [] }),
  say: async ({ id, chat }) => ({ chat, runId: `run-of-${id}` }),
  click: async ({ id, chat }) => ({ chat, runId: `run-of-${id}` }),
  maxFileBytes: () => 10,
  keepFile: async (content) => ({ id: "file.bin", mediaType: "application/octet-stream", bytes: content.length }),
  readFile() {
    throw new AppError("not-found", "This message has no such file")
  },
}

const noServers: GatewayActions["mcpServers"] = {
  list: () => [],
  async inspect(name) {
    throw new AppError("not-found", `There is no MCP server ${name}`)
  },
  async accept(name) {
    throw new AppError("not-found", `There is no MCP server ${name}`)
  },
}

function recordingMessages(calls: unknown[]): Pick<GatewayActions, "sendMessage" | "changeMessage"> {
  return {
    async sendMessage(message) {
      calls.push(message)
      return { deliveries: [1], route: { channel: message.channel, chatId: message.target } }
    },
    async changeMessage(action) {
      calls.push(action)
      return { deliveries: [2], route: { channel: action.channel, chatId: action.target } }
    },
  }
}

function recordingNodes(calls: unknown[]): GatewayActions["nodes"] {
  type Node = Awaited<ReturnType<GatewayActions["nodes"]["approve"]>>
  const decide = (decision: string) => async (node: string) => {
    calls.push({ [decision]: node })
    return { name: node } as Node
  }
  return {
    list: () => [],
    approve: decide("approve"),
    revoke: decide("revoke"),
    async rename(node, name) {
      calls.push({ rename: node, name })
      return { name } as Node
    },
  }
}

const noHands: Pick<GatewayActions, "secrets" | "takeovers"> = {
  takeovers: {
    list: () => [],
    async link() {
      throw new AppError("browser-not-running", "There is no browser")
    },
    async end(id) {
      throw new AppError("not-found", `No takeover ${id} waits`)
    },
  },
  secrets: {
    list: () => [],
    async set({ name }) {
      throw new AppError("bad-request", `${name} is not kept here`)
    },
    async remove(name) {
      throw new AppError("not-found", `There is no secret ${name}`)
    },
  },
}

const noCaps: GatewayActions["budget"] = {
  look: () => ({ timeZone: "UTC", caps: [], cut: { calls: 0, tokens: 0, dollars: 0 } }),
  async allow(cap) {
    throw new AppError("not-found", `There is no cap ${cap}`)
  },
}

const neverPaused: GatewayActions["pause"] = {
  look: () => ({ paused: null }),
  begin: async () => ({ paused: { at: 1, by: "gateway" } }),
  end: async () => ({ waiting: 0 }),
}

const noSchedule = (id: string) => Promise.reject(new AppError("not-found", `There is no schedule ${id}`))

const noSchedules: GatewayActions["schedules"] = {
  list: () => ({ schedules: [] }),
  read(id) {
    throw new AppError("not-found", `There is no schedule ${id}`)
  },
  add: ({ text }) => noSchedule(text),
  run: noSchedule,
  pause: noSchedule,
  resume: noSchedule,
  remove: noSchedule,
}

function recordingHooks(calls: unknown[]): GatewayActions["hooks"] {
  return {
    list: (query) => ({ items: [], next: null, refused: {}, query }),
    read: (id) => ({ id }) as ReturnType<GatewayActions["hooks"]["read"]>,
    async replay(id) {
      calls.push({ replay: id })
      return { status: 202, answer: { runId: "r" } }
    },
    async test(request) {
      calls.push(request)
      return { mapping: "wake", actions: [] }
    },
  }
}

function recordingMemory(calls: unknown[]): GatewayActions["memory"] {
  const written = { agentId: "main", name: "MEMORY.md", change: "written" as const, version: "1", characters: 1 }
  return {
    search: async (question) => (calls.push(question), { agentId: "main", notes: [], messages: [] }),
    list: async () => ({ agentId: "main", notes: [] }),
    read: (name) => ({ agentId: "main", name, text: "", version: null }),
    save: async (note) => (calls.push(note), written),
    add: async (entry) => (calls.push(entry), written),
  }
}

function recordingActions(calls: unknown[], ledger: Ledger): GatewayActions {
  return {
    status: async () => ({ version: "0.0.0", parts: { store: "ready" } }) as unknown as GatewayStatus,
    usage: ({ by, limit, ...texts }) =>
      ledger.summarise({ by, limit, ...readRange(texts, { now: Date.now(), timeZone: "UTC" }) }),
    budget: noCaps,
    pause: neverPaused,
    schedules: noSchedules,
    dismissFailures: async () => void calls.push("dismiss"),
    requestStop: () => void calls.push("stop"),
    terminal: noTerminal,
    chat: noChat,
    ...recordingRuns(calls),
    browser: recordingBrowser(calls),
    hooks: recordingHooks(calls),
    sessions: recordingSessions(calls),
    memory: recordingMemory(calls),
    approvals: recordingApprovals(calls),
    ...noHands,
    config: recordingConfig(calls),
    ...noUpkeep,
    sandbox: recordingSandbox(calls),
    nodes: recordingNodes(calls),
    listHeartbeats: () => ({ heartbeats: [] }),
    async runHeartbeat(wanted) {
      calls.push({ heartbeat: wanted })
      return { runId: "r", agent: wanted.agent ?? "main" }
    },
    listModels: () => ({ models: [], asked: ["a/b"] }),
    async testModel(test) {
      calls.push({ testModel: test })
      return { model: test.model ?? "a/b", usable: true } as ModelCheck
    },
    async listPairing({ channel }) {
      if (channel !== "chatapp") throw new AppError("channel-unknown", `There is no channel "${channel}"`)
      const when = { approvedAt: 1, approvedBy: "svc" }
      const allowed = [{ senderId: "7", label: "Ann", account: "default", isOwner: false, ...when }]
      return { requests: [], shared: ["7"], allowed }
    },
    async approvePairing(approval) {
      calls.push(approval)
      return { senderId: "7", label: "Ann", account: "default", isOwner: false, isAnswered: true, sharesWith: 0 }
    },
    async denyPairing(denial) {
      calls.push({ deny: denial })
      return { senderId: "8", label: "Eve", account: "default" }
    },
    async revokePairing(revocation) {
      calls.push(revocation)
      return { removed: true, listedIn: [] }
    },
    listPeople: async () => ({ accounts: [], requests: [], allowed: [], owners: [], groups: [], shared: [] }),
    explainAccess(question) {
      calls.push({ explain: question })
      const place = { account: "default", user: question.chat, rule: "paired", reason: "let in", steps: [], notes: [] }
      return { ...place, channel: question.channel, chat: question.chat, outcome: "accept" }
    },
    async unpinName(pin) {
      calls.push({ unpin: pin })
      return { accounts: ["default"] }
    },
    mcpServers: noServers,
    listChannels: async ({ probe }) => [{ channel: "chatapp", probe }],
    ...recordingMessages(calls),
  }
}
