// What a long past costs: searching it, and a turn in a conversation that has gone on for years. Seen from outside: the
// shipped gateway on a store that holds the past already, the chat platform's emulator, an instant model.
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { startEmulator } from "../emulator/index.ts"
import { startModelServer } from "../test/support/model-server/index.ts"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway } from "./gateway.ts"
import { median, percentile, round } from "./statistics.ts"

const messages = 100_000
const searches = 15
const turns = 25
const key = "agent:main:main"

export const memory: Bench = {
  name: "memory",
  async run(): Promise<Figure[]> {
    const lengths = [100, 10_000, 20_000]
    const shares: number[] = []
    for (const length of lengths) shares.push(await turnShare(length))
    const [short = 0, ten = 0, twenty = 0] = shares
    return [
      ...(await searching()),
      {
        what: `our share of a turn in a conversation of 10,000 messages, ${turns} turns`,
        target: "p50 at most 10 ms",
        measured: `p50 ${round(ten)} ms`,
        met: ten <= 10,
      },
      {
        what: "the same in one of 10,000 turns (20,000 messages), against one of 50 turns",
        target: "flat: at most 1.5 times",
        measured: `p50 ${round(twenty)} ms against ${round(short)} ms (${round(twenty / short, 2)} times)`,
        met: twenty <= 1.5 * short,
      },
    ]
  },
}

/** Words as a language has them: few that stand everywhere, many that are seldom. */
function* vocabulary(): Generator<string, never> {
  let seed = 1
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff
  const common = "the to and of a in is that it for you was on are with".split(" ")
  const letters = "abcdefghijklmnoprstuvw"
  const make = () =>
    Array.from({ length: 2 + Math.floor(random() * 8) }, () => letters[Math.floor(random() * 22)]).join("")
  const seldom = Array.from({ length: 30_000 }, make)
  for (;;) {
    const list = random() < 0.4 ? common : seldom
    yield list[Math.floor(random() ** 2 * list.length)] ?? ""
  }
}

/** Fills the store of a gateway that has ended. Every tenth message is in the main session, or all. */
function fill(gateway: BenchGateway, count: number, isAlone: boolean): { perMessage: number; rare: string } {
  const database = new DatabaseSync(join(gateway.stateFolder, "svc.db"))
  const words = vocabulary()
  const text = (length: number) => Array.from({ length }, () => words.next().value).join(" ")
  const sessions = isAlone ? [key] : [key, ...Array.from({ length: 9 }, (_, n) => `agent:main:chatapp:group:-${n}`)]
  try {
    database.exec("begin")
    const open = database.prepare(
      "insert into session (key, agent_id, session_id, created_at, updated_at) values (?, 'main', ?, ?, ?)",
    )
    for (const [n, name] of sessions.entries()) open.run(name, `session-${n}`, Date.now(), Date.now())
    const insert = database.prepare(
      `insert into message (session_id, job_id, message, tokens, created_at, origin, trusted)
       values (?, 1, ?, ?, ?, 'owner', 1)`,
    )
    const began = performance.now()
    for (let n = 0; n < count; n += 1) {
      const said = text(20 + (n % 40))
      const isOfUser = Math.floor(n / sessions.length) % 2 === 0
      const message = isOfUser
        ? { role: "user", content: [{ type: "text", text: said }] }
        : { role: "assistant", text: said, toolCalls: [] }
      insert.run(`session-${n % sessions.length}`, JSON.stringify(message), Math.ceil(said.length / 3.5), Date.now())
    }
    const perMessage = (performance.now() - began) / count
    const row = database.prepare("select term from message_vocabulary where doc between 40 and 60 limit 1").get()
    database.exec("commit")
    return { perMessage, rare: String(row?.["term"]) }
  } finally {
    database.close()
  }
}

const quiet = { agents: { defaults: { heartbeat: { every: "0" } } } }

async function searching(): Promise<Figure[]> {
  const gateway = new BenchGateway()
  try {
    await gateway.configure(quiet)
    await gateway.start()
    await gateway.kill("SIGTERM")
    const { perMessage, rare } = fill(gateway, messages, false)
    await gateway.start()
    const questions: Record<string, string> = {
      "a rare word": rare,
      "a sentence": `what was it that you said of the ${rare} and for whom`,
      "words that stand everywhere": "the and of that",
      "a part of a word": rare.slice(1, -1),
    }
    const measured: [string, number][] = []
    const all: number[] = []
    for (const [name, question] of Object.entries(questions)) {
      for (const session of ["", key]) {
        const times: number[] = []
        for (let n = -3; n < searches; n += 1) {
          const took = await timeSearch(gateway, question, session)
          if (n >= 0) times.push(took)
        }
        all.push(...times)
        measured.push([`${name}${session === "" ? "" : ", own session"}`, median(times)])
      }
    }
    const p95 = percentile(all, 0.95)
    return [
      {
        what: `search of notes and ${messages.toLocaleString("en")} messages, best first, request to answer`,
        target: "at most 40 ms",
        measured: `p95 of all ${round(p95)} ms; p50: ${measured.map(([name, ms]) => `${name} ${round(ms)} ms`).join(", ")}`,
        met: p95 <= 40,
      },
      {
        what: "a message written with both full-text indexes, in one transaction with others",
        target: "at most 0.5 ms",
        measured: `${round(perMessage, 2)} ms`,
        met: perMessage <= 0.5,
      },
    ]
  } finally {
    await gateway.stop()
  }
}

async function timeSearch({ port, token }: BenchGateway, text: string, session: string): Promise<number> {
  const query = new URLSearchParams({ text, limit: "10", ...(session === "" ? {} : { session }) })
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/api/memory/search?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await response.text()
  if (response.status !== 200) throw new Error(`not searched: ${response.status}`)
  return performance.now() - began
}

/** From the platform's message to the question, and from the model's answer to the call that sends it: the rest is theirs. */
async function turnShare(length: number): Promise<number> {
  const emulator = await startEmulator()
  const model = await startModelServer({ script: (_request, n) => ({ kind: "reply", text: `answer ${n}` }) })
  const gateway = new BenchGateway()
  try {
    await gateway.configure({
      channels: {
        chatapp: { apiRoot: emulator.url, botToken: emulator.token, dmPolicy: "open", allowFrom: [1001, "*"] },
      },
      models: { providers: { local: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
      agents: { defaults: { model: "local/instant", heartbeat: { every: "0" } } },
    })
    await gateway.start()
    await gateway.kill("SIGTERM")
    fill(gateway, length, true)
    await gateway.start()
    const user = emulator.control.addUser({ id: 1001, firstName: "Ada" })
    const shares: number[] = []
    // The first ones warm up, and where the past fills the model's room it is summed up behind them.
    for (let index = -8; index < turns; index += 1) {
      const lastCall = emulator.control.calls({ method: "sendMessage" }).at(-1)?.id ?? 0
      const asked = model.waitForRequest((request) => request.promptText().endsWith(`question ${index}.`), {
        timeoutMs: 20_000,
      })
      const began = performance.now()
      const { message_id: after } = emulator.control.sendText({ userId: user.id, text: `question ${index}.` })
      const request = await asked
      const askedAt = performance.now()
      await request.ended
      const repliedAt = performance.now()
      await emulator.control.waitForCall(
        { method: "sendMessage", after: lastCall, phase: "started" },
        { timeoutMs: 20_000 },
      )
      const calledAt = performance.now()
      await emulator.control.waitForMessage({ chatId: user.id, from: "bot", after }, { timeoutMs: 20_000 })
      if (index >= 0) shares.push(askedAt - began + (calledAt - repliedAt))
      if (index < 0) await settled(gateway)
    }
    return median(shares)
  } finally {
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}

/** No job is open: a summary that was begun is there. */
async function settled(gateway: BenchGateway): Promise<void> {
  const database = new DatabaseSync(join(gateway.stateFolder, "svc.db"), { readOnly: true })
  try {
    const open = database.prepare("select 1 from job where state in ('ready', 'running') limit 1")
    while (open.get()) await new Promise((resolve) => setTimeout(resolve, 20))
  } finally {
    database.close()
  }
}
