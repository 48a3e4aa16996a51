// What a long past costs: searching it, and a turn in a conversation that has gone on for years. Seen from outside: the
// shipped gateway on a store that holds the past already, the chat platform's emulator, an instant model.
import { readFileSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { startEmulator } from "../emulator/index.ts"
import { startModelServer } from "../test/support/model-server/index.ts"
import { writeSection } from "./document.ts"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway } from "./gateway.ts"
import { median, round } from "./statistics.ts"

const messages = 100_000
const searches = 20
const turns = 25
const key = "agent:main:main"

export const memory: Bench = {
  name: "memory",
  async run(): Promise<Figure[]> {
    const short = await turnShare(100)
    const ten = await turnShare(10_000)
    const twenty = await turnShare(20_000)
    const describe = ({ wall, work }: Share) =>
      `p50 ${round(wall)} ms, of which ${round(work)} ms are work of the process`
    const figures = [
      ...(await searching()),
      {
        what: `our share of a turn in a conversation of 10,000 messages, ${turns} turns`,
        target: "p50 at most 10 ms",
        measured: describe(ten),
        met: ten.wall <= 10,
      },
      {
        what: "work of the process for a turn in a conversation of 10,000 turns (20,000 messages), against one of 50 turns",
        target: "flat: at most 1.5 times",
        measured: `${round(twenty.work)} ms against ${round(short.work)} ms (${round(twenty.work / short.work, 2)} times)`,
        met: twenty.work <= 1.5 * short.work,
      },
    ]
    writeSection("memory", report(figures))
    return figures
  },
}

interface Share {
  /** Median of what passed on our side, in milliseconds. */
  wall: number
  /** Time of processors that the gateway took for a turn. */
  work: number
}

function report(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ what, target, measured, met }) => `| ${what} | ${target} | ${measured} | ${met ? "yes" : "no"} |`,
  )
  const [busy = 0] = loadavg()
  return `## Memory

Written by \`npm run bench -- memory\` (${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores, ${round(busy)} processes that wanted one of them).

| what | target | measured | met |
|---|---|---|---|
${rows.join("\n")}
`
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
    const measured: { name: string; wall: number; work: number }[] = []
    for (const [name, question] of Object.entries(questions)) {
      for (const session of ["", key]) {
        for (let n = 0; n < 3; n += 1) await timeSearch(gateway, question, session)
        const before = workOf(gateway)
        const times: number[] = []
        for (let n = 0; n < searches; n += 1) times.push(await timeSearch(gateway, question, session))
        const work = (workOf(gateway) - before) / searches
        measured.push({ name: `${name}${session === "" ? "" : ", own session"}`, wall: median(times), work })
      }
    }
    const slowest = Math.max(...measured.map(({ work }) => work))
    const each = measured.map(({ name, wall, work }) => `${name} ${round(work)} ms (p50 ${round(wall)} ms)`)
    return [
      {
        what: `search of notes and ${messages.toLocaleString("en")} messages, best first: work of the process, and request to answer`,
        target: "at most 40 ms of work",
        measured: each.join("; "),
        met: slowest <= 40,
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
async function turnShare(length: number): Promise<Share> {
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
    let before = 0
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
      if (index === -1) before = workOf(gateway)
    }
    return { wall: median(shares), work: (workOf(gateway) - before) / turns }
  } finally {
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}

/** In milliseconds since its start; Linux counts in hundredths of a second. */
function workOf({ process: running }: BenchGateway): number {
  const fields = readFileSync(`/proc/${running?.pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
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
