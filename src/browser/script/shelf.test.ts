// Kept scripts that are changed while they run: what was changed stays.
import assert from "node:assert/strict"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { silentLog } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemClock } from "../../kernel/index.ts"
import { Shelf, delicateStep, nameIn, sitesOfUrls } from "./shelf.ts"

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

test("what is noted of a script is of its last run, and never of another that has its name by now", async () => {
  const folder = join(temporaryFolder(), "scripts")
  let at = Date.UTC(2026, 0, 1)
  const shelf = new Shelf({
    folder,
    clock: { ...systemClock, now: () => (at += 1_000) },
    log: silentLog,
    holdsSecret: () => false,
  })
  const noted = async () => {
    const { runs, lastRun, lastStop } = await shelf.read("buy")
    return [runs, lastRun, lastStop]
  }
  await shelf.keep("buy", scriptOf("https://a.example/one"))
  const first = await shelf.read("buy")
  await shelf.note(first, "step 1: timeout")
  assert.deepEqual(await noted(), [1, "2026-01-01T00:00:02.000Z", "step 1: timeout"])
  await shelf.note(first, undefined)
  assert.deepEqual(await noted(), [2, "2026-01-01T00:00:03.000Z", undefined])
  // The same steps, kept anew.
  await shelf.keep("buy", scriptOf("https://a.example/one"))
  await shelf.note(first, "step 1: timeout")
  assert.deepEqual(await noted(), [0, undefined, undefined])
  // Other steps, written by hand.
  const again = await shelf.read("buy")
  writeFileSync(join(folder, "buy.json"), JSON.stringify({ ...again, steps: scriptOf("https://a.example/two").steps }))
  await shelf.note(again, "step 1: timeout")
  assert.deepEqual(await noted(), [0, undefined, undefined])
})

test("what could not be written once can be later", async () => {
  const folder = join(temporaryFolder(), "scripts")
  const shelf = shelfIn(folder)
  writeFileSync(folder, "in its place")
  assert.match((await shelf.keep("buy", scriptOf("https://a.example/"))) ?? "", /^it could not be written: /)
  rmSync(folder)
  assert.equal(await shelf.keep("buy", scriptOf("https://a.example/")), undefined)
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

test("keeps so many, so long, and nothing with a secret in it, and says of each why not", async () => {
  const folder = join(temporaryFolder(), "scripts")
  const shelf = new Shelf({
    folder,
    clock: systemClock,
    log: silentLog,
    holdsSecret: (text) => text.includes("hunter2"),
  })
  assert.deepEqual(await shelf.list(), [])
  await assert.rejects(shelf.read("buy"), { code: "not-found", hint: "None are kept yet" })
  assert.match(
    (await shelf.keep("buy", scriptOf(`https://a.example/${"x".repeat(100_000)}`))) ?? "",
    /longer than 100000/,
  )
  assert.match(
    (await shelf.keep("buy", scriptOf("https://a.example/?hunter2"))) ?? "",
    /secret stands in it: give it by/,
  )
  mkdirSync(folder, { recursive: true })
  for (let count = 0; count < 199; count += 1) writeFileSync(join(folder, `s${count}.json`), "{}")
  for (const name of ["Capital.json", "notes.txt", "-dash.json"]) writeFileSync(join(folder, name), "{}")
  assert.equal(await shelf.keep("last", scriptOf("https://a.example/")), undefined)
  assert.match((await shelf.keep("more", scriptOf("https://a.example/"))) ?? "", /^there are 200 kept scripts already$/)
  assert.equal(await shelf.keep("last", scriptOf("https://a.example/two")), undefined, "in its own place there is one")
  assert.deepEqual(
    (await shelf.list()).map(({ name, runs }) => [name, runs]),
    [["last", 0]],
    "others cannot be read",
  )
  await assert.rejects(shelf.read("s7"), {
    code: "bad-request",
    message: /kept script s7 cannot be read/,
    hint: /s7\.json$/,
  })
  await assert.rejects(shelf.read("none"), { code: "not-found", hint: /^There are: last, s0, s1, / })
  await shelf.remove("s7")
  await assert.rejects(shelf.read("s7"), { code: "not-found" })
  await assert.rejects(shelf.remove("s7"), { code: "not-found" })
})

test("a script has a plain name", () => {
  assert.equal(nameIn(" Buy-2 "), "buy-2")
  assert.equal(nameIn("a".repeat(40)).length, 40)
  for (const name of ["", "-a", "a b", "a.b", "../a", "ä", "a".repeat(41)])
    assert.throws(() => nameIn(name), { code: "bad-request" }, name)
})

test("knows plain words for what sounds like a password, wherever they stand", () => {
  const typing = (find: string, text: unknown) => ({ kind: "type", find, text }) as never
  for (const step of [
    typing("textbox Password", "words"),
    typing("Passcode", "1"),
    typing("Passphrase", "{{a}} and more"),
    typing("Your PIN", "1234"),
    typing("CVC", "1"),
    typing("cvv", "1"),
    typing("One-time code", "1"),
    typing("Security code", "1"),
    {
      kind: "fill",
      fields: [
        { find: "Name", value: "Ada" },
        { find: "Password", value: "words" },
      ],
    } as never,
    { kind: "if", when: "x", steps: [], else: [typing("Password", "words")] } as never,
    { kind: "repeat", times: 1, steps: [{ kind: "if", when: "x", steps: [typing("Password", "words")] }] } as never,
  ])
    assert.match(delicateStep([{ kind: "press" }, step]) ?? "", /was given plain words: give a kept secret by name/)
  for (const step of [
    typing("Password", "{{word}}"),
    typing("Password", " {{word}} "),
    typing("Password", ""),
    typing("Note", "password"),
    typing("Shopping", "1"),
    { kind: "fill", fields: [{ find: "Password", secret: "shop" }] } as never,
    { kind: "click", find: "Forgot password" } as never,
  ])
    assert.equal(delicateStep([step]), undefined, JSON.stringify(step))
})

test("names each site of the addresses once", () => {
  const urls = ["https://a.example/1", "about:blank", "https://a.example/2", "http://127.0.0.1:81/"]
  assert.deepEqual(sitesOfUrls(urls), ["a.example", "127.0.0.1:81"])
})
