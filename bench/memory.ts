// What a long past costs: searching it, and a turn in a conversation that has gone on for years. Seen from outside: the
// shipped gateway on a store that holds the past already, the chat platform's emulator, an instant model.
import { cpus, loadavg } from "node:os"
import { writeSection } from "./document.ts"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway, workOf } from "./gateway.ts"
import { fill, mainSession } from "./past.ts"
import { median, round } from "./statistics.ts"
import { type Share, turnShare, turns, warmTurns } from "./turn-share.ts"

const messages = 100_000
const searches = 20

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
        what: `our share of a turn in a conversation of 10,000 messages, ${turns} turns after ${warmTurns} that warm up`,
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
      for (const session of ["", mainSession]) {
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
