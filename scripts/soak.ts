// `npm run soak`: what no test has the time for. Either a mixed load for some minutes, sampled, drawn and judged, or faults
// in numbers, counted. Ends with 1 when anything was lost, doubled, stuck or grew.
//   --minutes 30 [--people 200] [--page soak.html]
//   --kills 200 --cuts 100 --stops 50 --reloads 50 --disk-errors 40
//   --restart-gb 2
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import type { Disturbance } from "../test/support/endurance/endure.ts"
import { randomFrom } from "../test/support/endurance/load.ts"
import { Ends } from "./soak/ends.ts"
import { type Row, renderTable } from "./soak/table.ts"

const text = { type: "string" } as const
const { values } = parseArgs({
  options: {
    minutes: text,
    people: text,
    page: text,
    kills: text,
    cuts: text,
    stops: text,
    reloads: text,
    "disk-errors": text,
    "restart-gb": text,
    seed: text,
  },
})

const seed = readNumber("seed") ?? Date.now() % 1_000_000
const faults: readonly [keyof typeof values, Disturbance][] = [
  ["kills", "kill"],
  ["cuts", "cut"],
  ["stops", "stop"],
  ["reloads", "reload"],
  ["disk-errors", "disk-error"],
]

function readNumber(name: keyof typeof values): number | undefined {
  const value = values[name]
  if (value === undefined) return undefined
  const number = Number(value)
  if (number > 0) return number
  console.error(`--${name} must be a number above 0, not "${value}"`)
  process.exit(2)
}

const rows: Row[] = []
const say = (line: string) => void process.stderr.write(`${line}\n`)

for (const [name, disturbance] of faults) {
  const times = readNumber(name)
  if (times === undefined) continue
  const { countFaults } = await import("./soak/faults.ts")
  rows.push(await countFaults({ disturbance, times, random: randomFrom(seed), say }))
}
const gigabytes = readNumber("restart-gb")
if (gigabytes !== undefined) {
  const { measureLargeDatabase } = await import("./soak/large-database.ts")
  rows.push(...(await Ends.run((ends) => measureLargeDatabase(ends, { gigabytes, say }))))
}
const minutes = readNumber("minutes")
if (minutes !== undefined) {
  const { runMixedLoad } = await import("./soak/mixed.ts")
  const { renderPage } = await import("./soak/page.ts")
  const { judge } = await import("./soak/judge.ts")
  const people = readNumber("people") ?? 200
  const run = await Ends.run((ends) => runMixedLoad(ends, { minutes, people, random: randomFrom(seed), say }))
  const verdicts = judge(run)
  rows.push(...verdicts)
  const page = values.page ?? "soak.html"
  writeFileSync(page, renderPage(run, verdicts))
  say(`drawn: ${page}`)
}
if (rows.length === 0) {
  say("nothing to do: --minutes N, --kills N, --cuts N, --stops N, --reloads N, --disk-errors N, --restart-gb N")
  process.exit(2)
}
console.log(renderTable(rows))
process.exit(rows.every((row) => row.met) ? 0 : 1)
