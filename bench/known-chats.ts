// What the gateway keeps in memory of chats that it knows: each was heard, and a turn was run in its session. Counted is
// what is left after a garbage collection, before and after, in the gateway's own process. A fifth of the chats is
// measured, and the difference taken five times: ten thousand turns would take minutes.
import { once } from "node:events"
import { startEmulator } from "../emulator/index.ts"
import { freePort } from "../test/support/gateway.ts"
import { startModelServer } from "../test/support/model-server/index.ts"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway } from "./gateway.ts"
import { round } from "./statistics.ts"

const chats = 2_000
const share = 5
const warmChats = 50
const warmTurns = 20
const targetMb = 30

export const knownChats: Bench = {
  name: "known-chats",
  async run(): Promise<Figure[]> {
    const emulator = await startEmulator()
    // Without a reply: the platform would take thirty a second.
    const model = await startModelServer({ script: () => ({ kind: "reply", text: "NO_REPLY" }) })
    const gateway = new InspectedGateway(await freePort())
    try {
      await gateway.configure({
        channels: {
          chatapp: {
            apiRoot: emulator.url,
            botToken: emulator.token,
            groupPolicy: "open",
            groups: { "*": { requireMention: false } },
          },
        },
        models: { providers: { local: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
        agents: { defaults: { model: "local/instant", heartbeat: { every: "0" } } },
      })
      await gateway.start()
      const { id: userId } = emulator.control.addUser()
      const newChat = () =>
        emulator.control.addChat({ type: "supergroup", members: [userId], botStatus: "administrator" })
      const warm = Array.from({ length: warmChats }, newChat)
      for (let turn = 0; turn < warmTurns; turn += 1) {
        for (const { id: chatId } of warm) emulator.control.sendText({ userId, chatId, text: `warm ${turn}` })
      }
      await gateway.turnsDone(warmChats * warmTurns)
      const before = await gateway.memory()
      for (let count = 0; count < chats; count += 1) {
        emulator.control.sendText({ userId, chatId: newChat().id, text: `hello from chat ${count}` })
      }
      await gateway.turnsDone(warmChats * warmTurns + chats)
      const after = await gateway.memory()
      const live = (after.liveMb - before.liveMb) * share
      const resident = after.residentMb - before.residentMb
      return [
        {
          what: `memory for ${chats * share} known chats (${chats} heard in turns of their own, times ${share})`,
          target: `at most ${targetMb} MB more`,
          measured: `${round(live)} MB more (in use: ${round(before.liveMb)} to ${round(after.liveMb)} MB; resident: ${round(resident)} MB more)`,
          met: live <= targetMb,
        },
      ]
    } finally {
      await gateway.stop()
      await model.stop()
      await emulator.stop()
    }
  },
}

/** A gateway that can be told to collect its garbage. */
class InspectedGateway extends BenchGateway {
  readonly #inspector: number

  constructor(inspector: number) {
    super()
    this.#inspector = inspector
  }

  override environment(): NodeJS.ProcessEnv {
    return { ...super.environment(), NODE_OPTIONS: `--inspect=127.0.0.1:${this.#inspector}` }
  }

  async turnsDone(count: number): Promise<void> {
    const { DatabaseSync } = await import("node:sqlite")
    const database = new DatabaseSync(`${this.stateFolder}/svc.db`, { readOnly: true })
    try {
      database.exec("pragma busy_timeout = 5000")
      const done = database.prepare("select count(*) as n from job where state = 'done'")
      while (Number(done.get()?.["n"]) < count) await new Promise((resolve) => setTimeout(resolve, 250))
    } finally {
      database.close()
    }
  }

  /** In use after a collection, and what the system has given. */
  async memory(): Promise<{ liveMb: number; residentMb: number }> {
    const response = await fetch(`http://127.0.0.1:${this.#inspector}/json/list`)
    const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[]
    const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "")
    await once(socket, "open")
    let last = 0
    const ask = async (method: string, params: object = {}): Promise<{ result?: { value: number } }> => {
      const id = (last += 1)
      const { promise, resolve } = Promise.withResolvers<{ result?: { value: number } }>()
      socket.addEventListener("message", ({ data }) => {
        const answer = JSON.parse(String(data)) as { id: number; result: { result?: { value: number } } }
        if (answer.id === id) resolve(answer.result)
      })
      socket.send(JSON.stringify({ id, method, params }))
      return await promise
    }
    try {
      for (let count = 0; count < 3; count += 1) await ask("HeapProfiler.collectGarbage")
      const expression = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())"
      const used = await ask("Runtime.evaluate", { expression, returnByValue: true })
      return { liveMb: (used.result?.value ?? 0) / 1024 ** 2, residentMb: this.residentMb() }
    } finally {
      socket.close()
    }
  }
}
