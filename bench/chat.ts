// The chat round trip, seen from outside: the platform's emulator on one side, an instant model on the other.
import { startEmulator } from "../emulator/index.ts"
import { type ModelServer, startModelServer } from "../test/support/model-server/index.ts"
import { BenchGateway } from "./gateway.ts"
import type { Bench, Figure } from "./figure.ts"
import { measureAccess } from "./access.ts"
import { measureIntake } from "./intake.ts"
import { firstDrafts, manyReplies } from "./replies.ts"
import { median, percentile, round } from "./statistics.ts"

const messages = 30

export const chat: Bench = {
  name: "chat",
  async run(): Promise<Figure[]> {
    const replies = [await firstDrafts(config), await manyReplies(config)]
    return [
      ...(await roundTrips()),
      ...replies,
      await restart(),
      ...(await measureIntake()),
      ...(await measureAccess()),
    ]
  },
}

function config(apiRoot: string, botToken: string, model: ModelServer): Record<string, unknown> {
  return {
    channels: { chatapp: { apiRoot, botToken, dmPolicy: "open", allowFrom: ["*"] } },
    models: { providers: { local: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
    agents: { defaults: { model: "local/instant", heartbeat: { every: "0" } } },
  }
}

async function roundTrips(): Promise<Figure[]> {
  const emulator = await startEmulator()
  const model = await startModelServer({ script: (_request, n) => ({ kind: "reply", text: `answer ${n}` }) })
  const gateway = new BenchGateway()
  try {
    await gateway.configure(config(emulator.url, emulator.token, model))
    await gateway.start()
    const user = emulator.control.addUser({ firstName: "Ada" })
    const whole: number[] = []
    const toSend: number[] = []
    // The first ones warm up what is loaded lazily.
    for (let index = -5; index < messages; index += 1) {
      const lastCall = emulator.control.calls({ method: "sendMessage" }).at(-1)?.id ?? 0
      const began = performance.now()
      const asked = model.waitForRequest((request) => request.promptText().includes(`question ${index}.`), {
        timeoutMs: 10_000,
      })
      const { message_id: after } = emulator.control.sendText({ userId: user.id, text: `question ${index}.` })
      const request = await asked
      await request.ended
      const repliedAt = performance.now()
      await emulator.control.waitForCall(
        { method: "sendMessage", after: lastCall, phase: "started" },
        { timeoutMs: 10_000 },
      )
      const calledAt = performance.now()
      await emulator.control.waitForMessage({ chatId: user.id, from: "bot", after }, { timeoutMs: 10_000 })
      const took = performance.now() - began
      if (index < 0) continue
      whole.push(took)
      toSend.push(calledAt - repliedAt)
    }
    const toTurn = await turnDelay(gateway)
    const p50 = median(whole)
    const p95 = percentile(whole, 0.95)
    return [
      {
        what: `chat round trip, instant model, ${messages} messages`,
        target: "p50 at most 25 ms, p95 at most 60 ms",
        measured: `p50 ${round(p50)} ms, p95 ${round(p95)} ms`,
        met: p50 <= 25 && p95 <= 60,
      },
      {
        what: "update seen (committed) to agent turn started",
        target: "p50 at most 5 ms",
        measured: `p50 ${round(toTurn, 0)} ms`,
        met: toTurn <= 5,
      },
      {
        what: "reply generated to API call",
        target: "p50 at most 5 ms",
        measured: `p50 ${round(median(toSend))} ms`,
        met: median(toSend) <= 5,
      },
    ]
  } finally {
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}

/** Median of the times that runs waited, as the gateway itself records them, in milliseconds. */
async function turnDelay(gateway: BenchGateway): Promise<number> {
  const { items } = JSON.parse(await gateway.svc("runs", "list", "--limit", String(messages), "--json")) as {
    items: { createdAt: number; startedAt: number }[]
  }
  return median(items.map((item) => item.startedAt - item.createdAt))
}

/** From the start of the new process until the interrupted turn asks its model again. */
async function restart(): Promise<Figure> {
  const emulator = await startEmulator()
  const model = await startModelServer({ script: () => ({ kind: "hang" }) })
  const gateway = new BenchGateway()
  try {
    await gateway.configure(config(emulator.url, emulator.token, model))
    await gateway.start()
    const user = emulator.control.addUser({ firstName: "Ada" })
    const first = model.waitForRequest(() => true, { timeoutMs: 10_000 })
    emulator.control.sendText({ userId: user.id, text: "work on it" })
    const { n } = await first
    await gateway.kill("SIGKILL")
    const again = model.waitForRequest((request) => request.n > n, { timeoutMs: 20_000 })
    const began = performance.now()
    await gateway.start()
    await again
    const took = performance.now() - began
    return {
      what: "restart after `kill -9` to resumed work",
      target: "at most 2 s",
      measured: `${round(took / 1000, 2)} s`,
      met: took <= 2_000,
    }
  } finally {
    await gateway.kill("SIGKILL")
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}
