// What it costs to turn an answer into messages: a usual one of 4 KB, and one of a megabyte.
import { readFileSync, readdirSync } from "node:fs"
import { chunkPieces } from "../src/channels/chatapp/outbound/chunk.ts"
import { createRenderer } from "../src/channels/chatapp/outbound/render.ts"
import type { Bench, Figure } from "./figure.ts"
import { median, round } from "./statistics.ts"

const fixtures = new URL("../test/fixtures/rendering/", import.meta.url)
const limit = 4000
const rounds = 15
const answersPerRound = 40

export const rendering: Bench = {
  name: "rendering",
  async run(): Promise<Figure[]> {
    const render = createRenderer()
    const show = (markdown: string) => chunkPieces(render(markdown), limit)
    const corpus = readdirSync(fixtures)
      .filter((name) => name.endsWith(".md"))
      .map((name) => readFileSync(new URL(name, fixtures), "utf8"))
      .join("\n\n")
    const usual = cutToBytes(corpus, 4096)
    for (let index = 0; index < 200; index += 1) show(usual)
    const each = perAnswerMs(() => show(usual))
    const small = perAnswerMs(() => show(repeatTo(usual, 128 * 1024)), 1)
    const large = perAnswerMs(() => show(repeatTo(usual, 1024 * 1024)), 1)
    return [
      {
        what: "an answer of 4 KB rendered and cut into messages",
        target: "at most 0.6 ms CPU",
        measured: `${round(each, 2)} ms CPU`,
        met: each <= 0.6,
      },
      {
        what: "an answer of 1 MB against one of 128 KB (eight times the length)",
        target: "time in line with the length: at most 16 times",
        measured: `${round(large, 0)} ms against ${round(small, 0)} ms CPU, ${round(large / small)} times`,
        met: large / small <= 16,
      },
    ]
  },
}

function perAnswerMs(work: () => unknown, answers = answersPerRound): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    for (let index = 0; index < answers; index += 1) work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / answers
  })
  return median(times)
}

function cutToBytes(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString("utf8")
}

function repeatTo(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length)
}
