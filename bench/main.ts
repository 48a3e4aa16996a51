// `npm run bench [-- <name> ...]`: measures the figures and writes them to docs/performance.md, those of a part over those
// that it had there.
// Figures are for people: a slow machine fails no test.
import { arch, cpus, totalmem } from "node:os"
import { parseArgs } from "node:util"
import { browser } from "./browser/bench.ts"
import { chat } from "./chat.ts"
import { classes } from "./classes.ts"
import { crowd } from "./crowd.ts"
import { readSection, withRows, writeSection } from "./document.ts"
import type { Bench, Figure } from "./figure.ts"
import { foreignText } from "./foreign-text.ts"
import { inFlight } from "./in-flight.ts"
import { knownChats } from "./known-chats.ts"
import { liveView } from "./live-view.ts"
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
  inFlight,
  knownChats,
  liveView,
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

/** Rows that a part has written alone since the whole was measured are told below the table, by name and day. */
const alone = "Measured again alone: "

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
const before = readSection("figures")
if (wanted.length === benches.length || before === "") writeSection("figures", report(figures))
else if (figures.length > 0) writeSection("figures", withNote(withRows(before, figures.map(rowOf))))
console.error("written: docs/performance.md")

function withNote(text: string): string {
  const kept = text.split("\n").filter((line) => !line.startsWith(alone))
  const known = (text.split(alone)[1]?.split("\n")[0] ?? "").replace(/\.$/, "").split(", ")
  const names = wanted.filter(({ section }) => section === undefined).map(({ name }) => name)
  const parts = known.filter((part) => part !== "" && !names.includes(part.split(" ")[0] ?? ""))
  const day = new Date().toISOString().slice(0, 10)
  const note = `${alone}${[...parts, ...names.map((name) => `${name} (${day})`)].join(", ")}.`
  return `${kept.join("\n").trim()}\n\n${note}`
}

function rowOf({ what, target, measured, met }: Figure): string {
  return `| ${what} | ${target} | ${measured} | ${met ? "yes" : "no"} |`
}

function tableOf(all: readonly Figure[]): string {
  return `| what | target | measured | met |\n|---|---|---|---|\n${all.map(rowOf).join("\n")}`
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
