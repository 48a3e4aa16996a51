// What foreign text costs before anybody has read it: the boundary, the redactor and everything else that reads it, over a
// megabyte of each shape that is hard on one of them. The processor's time of this thread, the best of several runs: other programs of the machine
// only ever make one slower. The kernel counts that time in steps of some milliseconds, so a run is several texts.
import { neutralize } from "../src/agent/boundary.ts"
import { createRedactor } from "../src/kernel/index.ts"
import { foreignReaders, hostileShapes } from "../test/support/foreign-readers.ts"
import { testStore } from "../test/support/store.ts"
import type { Bench, Figure } from "./figure.ts"
import { round } from "./statistics.ts"

const bytes = 1024 * 1024
const runs = 7
const textsPerRun = 4
const shapes = [
  "hello world ",
  "привет ",
  "<",
  "< ",
  "<a",
  "<untrusted",
  "<untrusted-content>",
  "<s>x",
  "<|x|>y",
  "[",
  "[inst]x",
]
shapes.push("&", "&amp;", "&lt;", "&#0000", "\u202ea", "\u{e0041}a", "\u200b", "＜", "ﬃ", "𝐮", "🦞")
shapes.push("<s>", "&lt;s&gt;", "&sol;", "&#60", "中\u{e0100}", "<untrusted-content ", "&lbrack;")
shapes.push("㏘", "㏘<s>", "<s>&#38;\u{e0041}[", "C", "s", "c&key=", "://svct_", ":://s:", "basic ", "<s>ﬃ")
shapes.push("&key=", "&access_token=x", "bearer\n", "sk-", "sk-aaaaaaaaaaaaaaaaaaa ", "svct_", "1234567890:", "://")
shapes.push("a.", "://a@", "&abc=b", "&key=a", "=", "Bearer ", "123456:", "a-known-secret-0123", '{"a":"b\\n"},')

export const foreignText: Bench = {
  name: "foreign-text",
  async run(): Promise<Figure[]> {
    const redactor = createRedactor()
    for (let count = 0; count < 50; count += 1) redactor.add(`a-known-secret-0${count}23`)
    return [
      worst("the boundary", neutralize),
      worst("the redactor", (text) => redactor.redact(text)),
      await worstReader(),
    ]
  },
}

/** What is read in pieces, with other work between them. */
const pausing = new Set(["earlyParts"])

async function worstReader(): Promise<Figure> {
  const ends: (() => unknown)[] = []
  const store = await testStore({ after: (end: () => unknown) => void ends.push(end) } as never)
  const readers = Object.entries(foreignReaders(store)).filter(([name]) => !pausing.has(name))
  const costs: { name: string; shape: string; ms: number }[] = []
  for (const [name, read] of readers) {
    for (const shape of hostileShapes) {
      const text = `x ${shape.repeat(Math.ceil(bytes / Buffer.byteLength(shape)))} x`
      costs.push({ name, shape, ms: await leastOf(() => read(text)) })
    }
  }
  for (const end of ends) await end()
  const slowest = costs.reduce((one, other) => (other.ms > one.ms ? other : one))
  return {
    what: `each of the ${readers.length} other functions that read foreign text, over 1 MB of it at once, the worst of ${hostileShapes.length} shapes`,
    target: "at most 50 ms",
    measured: `${round(slowest.ms)} ms (${slowest.name} of ${JSON.stringify(slowest.shape)})`,
    met: slowest.ms <= 50,
  }
}

/** Again only where the first time does not say enough: most are far below what is allowed. */
async function leastOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs && least > 10; run += 1) {
    const before = process.threadCpuUsage()
    await work()
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

function worst(what: string, work: (text: string) => string): Figure {
  const costs = shapes.map((shape) => {
    const text = shape.repeat(Math.ceil(bytes / Buffer.byteLength(shape)))
    return { shape, ms: Math.min(...Array.from({ length: runs }, () => timeOf(() => work(text)))) }
  })
  const slowest = costs.reduce((one, other) => (other.ms > one.ms ? other : one))
  const perByte = (slowest.ms * 1_000_000) / bytes
  const plain = costs[0]?.ms ?? 0
  return {
    what: `${what} over 1 MB of foreign text, the worst of ${shapes.length} shapes`,
    target: "at most 20 ns a byte, 50 ms",
    measured: `${round(perByte)} ns a byte, ${round(slowest.ms)} ms (${JSON.stringify(slowest.shape)}); plain text ${round(plain)} ms`,
    met: perByte <= 20 && slowest.ms <= 50,
  }
}

function timeOf(work: () => string): number {
  const before = process.threadCpuUsage()
  // Looked at, so that a text put together of pieces is really made.
  for (let text = 0; text < textsPerRun; text += 1) work().charCodeAt(0)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 / textsPerRun
}
