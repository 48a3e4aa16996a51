// What leaves for the chat, seen from outside: how soon a draft shows the first words, and how near to the platform's
// limit many replies together get without meeting it.
import { startEmulator } from "../emulator/index.ts"
import { type ModelServer, startModelServer } from "../test/support/model-server/index.ts"
import type { Figure } from "./figure.ts"
import { BenchGateway } from "./gateway.ts"
import { median, percentile, round } from "./statistics.ts"

const drafts = 20
const people = 200
/** The burst at the start is not the rate. */
const burst = 30

type MakeConfig = (apiRoot: string, botToken: string, model: ModelServer) => Record<string, unknown>

/** From the model's first words on the wire to the draft that shows them. */
export async function firstDrafts(config: MakeConfig): Promise<Figure> {
  const emulator = await startEmulator()
  let wroteAt = 0
  const model = await startModelServer({
    script() {
      // The server writes them as soon as this returns.
      wroteAt = performance.now()
      return { kind: "drip", text: "fedcba", everyMs: 40 }
    },
  })
  const gateway = new BenchGateway()
  try {
    const { channels, ...rest } = config(emulator.url, emulator.token, model)
    const { chatapp } = channels as { chatapp: object }
    await gateway.configure({ ...rest, channels: { chatapp: { ...chatapp, draftIn: "private" } } })
    await gateway.start()
    const user = emulator.control.addUser({ firstName: "Ada" })
    const waits: number[] = []
    for (let index = -3; index < drafts; index += 1) {
      const after = emulator.control.calls({ method: "sendMessageDraft" }).at(-1)?.id ?? 0
      const shown = emulator.control.waitForCall(
        { method: "sendMessageDraft", after, phase: "started" },
        { timeoutMs: 10_000 },
      )
      const asked = emulator.control.sendText({ userId: user.id, text: `question ${index}` })
      await shown
      if (index >= 0) waits.push(performance.now() - wroteAt)
      await emulator.control.waitForMessage(
        { chatId: user.id, from: "bot", after: asked.message_id },
        { timeoutMs: 10_000 },
      )
    }
    const p50 = median(waits)
    const p95 = percentile(waits, 0.95)
    return {
      what: `first words of the model to the first draft, ${drafts} answers`,
      target: "at most 100 ms",
      measured: `p50 ${round(p50)} ms, p95 ${round(p95)} ms`,
      met: p95 <= 100,
    }
  } finally {
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}

async function queueMessage({ port, token }: BenchGateway, target: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/message/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ channel: "chatapp", target, message: "good morning" }),
  })
  if (response.status !== 202) throw new Error(`not queued: ${response.status}`)
}

/** One message to each of many people, all queued at once, against an emulator that keeps the platform's limits. */
export async function manyReplies(config: MakeConfig): Promise<Figure> {
  const emulator = await startEmulator({ limits: {} })
  const model = await startModelServer({ script: () => ({ kind: "hang" }) })
  const gateway = new BenchGateway()
  try {
    await gateway.configure(config(emulator.url, emulator.token, model))
    await gateway.start()
    const users = Array.from({ length: people }, () => emulator.control.addUser({ firstName: "Ada" }))
    for (const { id: userId } of users) emulator.control.sendText({ userId, text: "/start" })
    // Turns of one session wait for each other: what is measured here is what leaves, not what thinks.
    await Promise.all(users.map(({ id }) => queueMessage(gateway, id)))
    // Each person gets a greeting, too: the pace is that of all that leaves.
    const sends = () =>
      emulator.control.calls({ method: "sendMessage" }).filter(({ finishedAt }) => finishedAt !== undefined)
    const arrived = () =>
      sends().filter(({ status, parameters }) => status === 200 && parameters["text"] === "good morning").length
    while (arrived() < people) {
      await emulator.control.waitForCall(
        { method: "sendMessage", after: emulator.control.calls({ method: "sendMessage" }).at(-1)?.id ?? 0 },
        { timeoutMs: 20_000 },
      )
    }
    const refused = sends().filter(({ status }) => status === 429).length
    const times = sends()
      .map(({ startedAt }) => startedAt)
      .toSorted((a, b) => a - b)
    const [first = 0, last = 0] = [times[burst], times.at(-1)]
    const rate = (times.length - burst - 1) / ((last - first) / 1000)
    return {
      what: `messages to ${people} people at once, limits of the platform on`,
      target: "30 a second within 5 %, none refused",
      measured: `${round(rate)} a second, ${refused} refused`,
      met: Math.abs(rate - 30) <= 1.5 && refused === 0,
    }
  } finally {
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}
