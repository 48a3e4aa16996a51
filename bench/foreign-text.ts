// What foreign text costs before anybody has read it: the boundary and the redactor, over a megabyte of each shape that
// is hard on one of them. The processor's time of this thread, the best of several runs: other programs of the machine
// only ever make one slower. The kernel counts that time in steps of some milliseconds, so a run is several texts.
import { neutralize } from "../src/agent/boundary.ts"
import { createRedactor } from "../src/kernel/index.ts"
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
    return [worst("the boundary", neutralize), worst("the redactor", (text) => redactor.redact(text))]
  },
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
