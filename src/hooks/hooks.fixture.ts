// For the tests of this folder: the endpoints on a real listener over a real store in a temporary folder.
import { mkdirSync, readFileSync } from "node:fs"
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { endAll } from "../../test/support/ends.ts"
import { type SendOptions, send } from "../../test/support/http-client.ts"
import { withPlansWatched } from "../../test/support/plans.ts"
import { newStateFolder } from "../../test/support/state-folder.ts"
import { listen } from "../kernel/http/index.ts"
import {
  AppError,
  createBackground,
  createLog,
  createRedactor,
  noCrash,
  systemClock,
  systemIds,
} from "../kernel/index.ts"
import { type Store, openStore } from "../store/index.ts"
import { hooksSchema } from "./config.ts"
import { type HooksOptions, createHooks } from "./hooks.ts"
import type { HooksView } from "./settings.ts"

export const hookToken = "hook-secret-0123456789abcdef"
export const bearer = { authorization: `Bearer ${hookToken}` }

const route = { channel: "chatapp", account: "default", chatId: "42", chatKind: "private" } as const

const agentOfTests: Pick<HooksOptions, "resolveRoute" | "checkModel"> = {
  async resolveRoute({ channel, to }) {
    if (channel !== "last" && channel !== "chatapp") {
      throw new AppError("channel-unknown", `There is no channel "${channel}"; use one of: last, chatapp`)
    }
    return { route: { ...route, chatId: to ?? route.chatId } }
  },
  checkModel(name) {
    if (name !== "offline/commander") throw new AppError("model-unknown", `No provider has the model "${name}"`)
  },
}

/** A configuration as a person writes it, checked and filled in. */
export function hooksConfig(input: Record<string, unknown> = {}) {
  return hooksSchema.parse({ enabled: true, token: hookToken, ...input })
}

export async function startHooks(
  overrides: Partial<HooksOptions> = {},
  input: Record<string, unknown> = {},
  keep: { keepDays: number; keepBytes?: number } = { keepDays: 7 },
) {
  const folder = await newStateFolder()
  const redactor = createRedactor()
  const { log, flush } = createLog({ folder: join(folder, "logs"), level: "debug", redactor })
  const base = { clock: systemClock, ids: systemIds, log, redactor, crashPoint: noCrash }
  const keepTimes = () => ({
    hookDeliveriesMs: keep.keepDays * 24 * 60 * 60 * 1000,
    hookDeliveriesBytes: keep.keepBytes ?? 1024 ** 3,
  })
  const open = () => withPlansWatched(openStore({ folder, bootId: "boot", keep: keepTimes, ...base }))
  let store = await open()
  let config: HooksView = hooksConfig(input)
  const background = createBackground(log)
  const listeners = new Set<(runId: string) => void>()
  const transforms = join(folder, "transforms")
  mkdirSync(transforms)
  const hooks = createHooks({
    ...base,
    config: () => config,
    // The store in use, also after it was opened anew.
    store: new Proxy({} as Store, { get: (_target, key) => Reflect.get(store, key) as unknown }),
    ingest: (entry) => store.ingest(entry),
    background,
    transformsFolder: () => transforms,
    onJobStopped(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    waitForDeliveries: async () => undefined,
    accepting: () => true,
    mainAgentId: () => "main",
    mainSessionKey: () => "agent:main:main",
    ...agentOfTests,
    ...overrides,
  })
  const listener = await listen({
    fetch: (_request, env) => hooks.handle((env as { incoming: IncomingMessage }).incoming),
    host: "127.0.0.1",
    port: 0,
    purpose: "the test",
  })
  return {
    port: listener.port,
    hooks,
    transforms,
    background,
    listeners,
    store: () => store,
    /** Ends a job as the lanes would, and tells of it. */
    endRun(runId: string, reply: string) {
      store.handle.raw
        .prepare("update job set state = 'done', head = 0, finished_at = 1, result = ? where run_id = ?")
        .run(JSON.stringify({ text: reply, delivered: "delivered to a test" }), runId)
      for (const tell of listeners) tell(runId)
    },
    send: (path: string, options: SendOptions = {}) => send(listener.port, path, { method: "POST", ...options }),
    post: (path: string, body: unknown, headers: OutgoingHttpHeaders = {}) =>
      send(listener.port, path, { method: "POST", headers: { ...bearer, ...headers }, body: JSON.stringify(body) }),
    rows: (sql: string) => store.handle.raw.prepare(sql).all() as Record<string, string | number | null>[],
    logged() {
      flush()
      return readFileSync(join(folder, "logs", "gateway.log"), "utf8")
    },
    configure: (change: Partial<HooksView> | Record<string, unknown>) => {
      config = { ...config, ...hooksConfig({ ...config, ...change }) }
    },
    async reopenStore() {
      await store.close()
      store = await open()
    },
    stop: () => endAll([() => listener.stop(0), () => hooks.stop(), () => background.idle(), () => store.close()]),
  }
}

/** Writes the bytes as they are and resolves with everything that came back until the other side closed. */
export function sendRaw(port: number, text: string, options: { endAfterWrite?: boolean } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ""
    const socket = connect(port, "127.0.0.1", () => {
      if (options.endAfterWrite) socket.end(text)
      else socket.write(text)
    })
    socket.on("data", (chunk) => (received += chunk.toString()))
    socket.on("error", reject)
    socket.on("close", () => resolve(received))
  })
}
