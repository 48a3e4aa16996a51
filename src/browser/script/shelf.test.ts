// Kept scripts that are changed while they run: what was changed stays.
import assert from "node:assert/strict"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { silentLog } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemClock } from "../../kernel/index.ts"
import { Shelf } from "./shelf.ts"

const scriptOf = (url: string) => ({ start: "", sites: ["a.example"], named: [], steps: [{ kind: "navigate", url }] })
const shelfIn = (folder: string) => new Shelf({ folder, clock: systemClock, log: silentLog, holdsSecret: () => false })

test("a run is noted in the script as it is by then, and brings none back that was changed or removed meanwhile", async () => {
  const folder = join(temporaryFolder(), "scripts")
  const shelf = shelfIn(folder)
  await shelf.keep("buy", scriptOf("https://a.example/one"))
  const running = await shelf.read("buy")
  await Promise.all([shelf.note(running, undefined), shelf.note(running, "step 1: timeout")])
  const noted = await shelf.read("buy")
  assert.deepEqual([noted.runs, noted.lastStop], [2, "step 1: timeout"])
  writeFileSync(join(folder, "buy.json"), JSON.stringify({ ...noted, steps: scriptOf("https://a.example/two").steps }))
  await shelf.note(running, undefined)
  assert.deepEqual((await shelf.read("buy")).steps, scriptOf("https://a.example/two").steps)
  await shelf.remove("buy")
  await shelf.note(running, undefined)
  assert.deepEqual(await shelf.list(), [])
})

test("steps that were done are not told as undone because their script could not be written", async () => {
  const folder = join(temporaryFolder(), "scripts")
  const shelf = shelfIn(folder)
  await shelf.keep("buy", scriptOf("https://a.example/one"))
  const running = await shelf.read("buy")
  rmSync(folder, { recursive: true })
  writeFileSync(folder, "in its place")
  await shelf.note(running, undefined)
  assert.match((await shelf.keep("buy", scriptOf("https://a.example/two"))) ?? "", /^it could not be written: /)
})
