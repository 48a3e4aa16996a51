// `npm run bench [-- <name> ...]`: measures the figures and writes docs/performance.md when all were run.
// Figures are for people: a slow machine fails no test.
import { arch, cpus, totalmem } from "node:os"
import { parseArgs } from "node:util"
import { browser } from "./browser/bench.ts"
import { chat } from "./chat.ts"
import { classes } from "./classes.ts"
import { crowd } from "./crowd.ts"
import { writeSection } from "./document.ts"
import type { Bench, Figure } from "./figure.ts"
import { foreignText } from "./foreign-text.ts"
import { knownChats } from "./known-chats.ts"
import { memory } from "./memory.ts"
import { models } from "./models.ts"
import { page } from "./page/bench.ts"
import { nodes } from "./nodes.ts"
import { relay } from "./relay.ts"
import { rendering } from "./rendering.ts"
import { hooks } from "./hooks.ts"
import { sandbox } from "./sandbox.ts"
import { starting } from "./starting.ts"
import { webhooks } from "./webhooks.ts"

const benches: Bench[] = [
  starting,
  webhooks,
  hooks,
  chat,
  classes,
  crowd,
  knownChats,
  memory,
  models,
  rendering,
  foreignText,
  browser,
  relay,
  nodes,
  sandbox,
  page,
]
const { positionals } = parseArgs({ allowPositionals: true })
const wanted = positionals.length === 0 ? benches : benches.filter((bench) => positionals.includes(bench.name))
if (wanted.length === 0) {
  console.error(`no bench of that name; there are: ${benches.map((bench) => bench.name).join(", ")}`)
  process.exit(2)
}

const figures: Figure[] = []
for (const bench of wanted) {
  console.error(`measuring: ${bench.name}`)
  const own = await bench.run()
  for (const figure of own) {
    console.log(`${figure.met ? "ok  " : "MISS"} ${figure.what}: ${figure.measured} (target: ${figure.target})`)
  }
  if (bench.section === undefined) figures.push(...own)
  else {
    writeSection(bench.section, `${headOf(`npm run bench -- ${bench.name}`)}\n\n${tableOf(own)}`)
    console.error(`written: the part ${bench.section} of docs/performance.md`)
  }
}
if (wanted.length === benches.length) {
  writeSection("figures", report(figures))
  console.error("written: docs/performance.md")
}

function tableOf(all: readonly Figure[]): string {
  const rows = all.map(
    (figure) => `| ${figure.what} | ${figure.target} | ${figure.measured} | ${figure.met ? "yes" : "no"} |`,
  )
  return `| what | target | measured | met |\n|---|---|---|---|\n${rows.join("\n")}`
}

function headOf(command: string): string {
  const gigabytes = Math.round(totalmem() / 1024 ** 3)
  return `Written by \`${command}\` (${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores ${arch}, ${gigabytes} GB).`
}

function report(all: readonly Figure[]): string {
  return `${headOf("npm run bench")} Repeat it with the same command; \`npm run bench -- webhooks\` measures one part. Times of processes are ratios against \`node -e 0\` in the same run, because absolute times differ between machines. Load is made by a process of its own on the same two cores.

${tableOf(all)}

"Acknowledged" and "durable" mean: committed to SQLite and forced to the disk (\`fdatasync\` of its write-ahead log) before the answer. The figures of disk writes depend on the machine's disk.
`
}
