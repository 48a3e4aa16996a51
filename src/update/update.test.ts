import assert from "node:assert/strict"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import type { UpdateParts } from "./contract.ts"
import { packageBeside } from "./new-version.ts"
import { keptDatabase, putNewInPlace, workFolder } from "./switch.ts"
import { settleInterrupted, switchOver, update } from "./update.ts"

function writePackage(folder: string, version: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "svc-gateway", version }))
}

/** An update that has come to its switch, and a gateway that is stopped and started in name only. */
function atTheSwitch(copyDatabase: UpdateParts["copyDatabase"]) {
  const stateFolder = temporaryFolder()
  const modules = temporaryFolder()
  const place = {
    package: join(modules, "svc-gateway"),
    program: join(modules, "svc-gateway", "dist", "svc.cjs"),
    version: "1.0.0",
    beside: join(modules, ".beside"),
    before: join(modules, ".before"),
    lock: join(modules, ".lock"),
  }
  writePackage(place.package, "1.0.0")
  writePackage(packageBeside(place), "2.0.0")
  const database = new DatabaseSync(join(stateFolder, "svc.db"))
  for (const table of ["inbox", "job", "event", "outbox"]) database.exec(`create table ${table} (id integer)`)
  database.exec("insert into inbox values (1)")
  database.close()
  const started: string[] = []
  const parts: UpdateParts = {
    place,
    stateFolder,
    configPath: join(stateFolder, "svc.json"),
    node: process.execPath,
    runner: {
      kind: "service",
      stop: async () => undefined,
      start: async (version) => void started.push(version),
    },
    tryLock: () => ({ release: () => undefined }),
    createBackup: async () => "",
    copyDatabase,
    canUse: () => true,
    owner: undefined,
    variables: {},
    progress: () => undefined,
    signal: new AbortController().signal,
  }
  const inbox = () => {
    const there = new DatabaseSync(join(stateFolder, "svc.db"), { readOnly: true })
    try {
      return there.prepare("select count(*) as n from inbox").get()?.["n"]
    } finally {
      there.close()
    }
  }
  return { parts, started, inbox }
}

test("a switch whose copy of the database is cut off goes back to the database that was in use", async () => {
  const { parts, started, inbox } = atTheSwitch(async (target) => {
    assert.ok(existsSync(dirname(target)))
    writeFileSync(target, "")
    throw new Error("the disk is full")
  })
  await assert.rejects(switchOver(parts, "2.0.0"), { code: "update-failed", message: /the disk is full/ })
  assert.equal(inbox(), 1)
  assert.deepEqual(started, ["1.0.0"])
  assert.match(readFileSync(join(parts.place.package, "package.json"), "utf8"), /"1\.0\.0"/)
})

/** As a new version has left it that was not seen to become ready: its own database in use, the one before kept. */
function cutOff(parts: UpdateParts): void {
  const { place, stateFolder } = parts
  mkdirSync(workFolder(stateFolder))
  copyFileSync(databaseOf(parts), keptDatabase(stateFolder))
  putNewInPlace(place)
  takeIn(parts)
}

function takeIn(parts: UpdateParts): void {
  const database = new DatabaseSync(databaseOf(parts))
  database.exec("insert into inbox values (2)")
  database.close()
}

test("the way back has both versions in their places until the database is back", async () => {
  const { parts, started, inbox } = atTheSwitch(async (target) => copyFileSync(databaseOf(parts), target))
  const { place } = parts
  const found: unknown[] = []
  parts.runner.start = async (version) => {
    started.push(version)
    if (version === "1.0.0") return
    takeIn(parts)
    throw new Error("it is not ready")
  }
  parts.canUse = () => {
    // Whoever is cut off here finds the update as one that was cut off, and goes back again.
    found.push(existsSync(place.before), readFileSync(join(place.package, "package.json"), "utf8"))
    return false
  }
  await assert.rejects(switchOver(parts, "2.0.0"), { code: "update-failed", hint: /its own database; 1 things/ })
  assert.deepEqual(found, [true, '{"name":"svc-gateway","version":"2.0.0"}'])
  assert.deepEqual(started, ["2.0.0", "1.0.0"])
  assert.equal(inbox(), 1)
})

test("where the version before does not start again either, both reasons are told, and where the data are", async () => {
  const { parts, inbox } = atTheSwitch(async (target) => copyFileSync(databaseOf(parts), target))
  parts.runner.start = async (version) => {
    if (version === "2.0.0") takeIn(parts)
    throw new Error(`${version} finds no room`)
  }
  parts.canUse = () => false
  await assert.rejects(switchOver(parts, "2.0.0"), {
    code: "update-failed",
    message: /2\.0\.0 finds no room; and svc 1\.0\.0 does not start again: 1\.0\.0 finds no room/,
    hint: /svc 1\.0\.0 is in place again, and does not run, .*1 things .* are only in .*svc\.db\.tried-update-/,
  })
  assert.equal(inbox(), 1)
})

for (const [what, program, expected] of [
  ["cannot use what the new one has made", "process.exit(1)", { kind: "set-aside", inbox: 1 }],
  ["can use it", "process.stdout.write('{\"migrations\":[]}')", { kind: "kept", inbox: 2 }],
] as const) {
  test(`the way back from an update that was cut off asks the version before, which ${what}`, async () => {
    const { parts, started, inbox } = atTheSwitch(async (target) => copyFileSync(databaseOf(parts), target))
    cutOff(parts)
    writeProgram(parts.place.before, program)
    // The new version, which runs this, would judge for itself.
    const back = await settleInterrupted({ ...parts, canUse: () => expected.kind === "set-aside" }, "back")
    assert.deepEqual({ kind: back?.kind, inbox: inbox() }, expected)
    assert.deepEqual(started, ["1.0.0"])
    assert.equal(existsSync(workFolder(parts.stateFolder)), false)
  })
}

for (const [what, isProgramBack] of [
  ["before the program", false],
  ["behind the program", true],
] as const) {
  test(`a way back that was cut off ${what}, its database away, is gone on with`, async () => {
    const { parts, started, inbox } = atTheSwitch(async (target) => copyFileSync(databaseOf(parts), target))
    const { place, stateFolder } = parts
    cutOff(parts)
    writeProgram(place.before, "process.exit(1)")
    const isCutOff = { ...parts, place: { ...place, beside: join(place.beside, "of", "no", "folder") } }
    await assert.rejects(settleInterrupted(isCutOff, "back"), { code: "ENOENT" })
    // A start of the new version, which would bring what it finds up to its own schema.
    if (existsSync(databaseOf(parts))) takeIn(parts)
    if (isProgramBack) {
      rmSync(place.package, { recursive: true })
      renameSync(place.before, place.package)
    }
    await assert.rejects(settleInterrupted(parts, "keep"), { code: "update-refused", hint: /svc update --back/ })
    await assert.rejects(update(parts, { from: "latest", force: false, check: false }), { hint: /svc update --back/ })
    const back = await settleInterrupted(parts, "back")
    assert.deepEqual([back?.kind, inbox(), started], ["set-aside", 1, ["1.0.0"]])
    assert.match(readFileSync(join(place.package, "package.json"), "utf8"), /"1\.0\.0"/)
    const [tried = "", ...more] = readdirSync(stateFolder).filter((name) => name.startsWith("svc.db."))
    assert.deepEqual([back, more], [{ kind: "set-aside", accepted: 1, tried: join(stateFolder, tried) }, []])
    assert.equal(existsSync(workFolder(stateFolder)), false)
  })
}

test("what a person has put in the place of a database that was set aside does not replace it", async () => {
  const { parts, inbox } = atTheSwitch(async (target) => copyFileSync(databaseOf(parts), target))
  const { place, stateFolder } = parts
  cutOff(parts)
  writeProgram(place.before, "process.exit(1)")
  const isCutOff = { ...parts, place: { ...place, beside: join(place.beside, "of", "no", "folder") } }
  await assert.rejects(settleInterrupted(isCutOff, "back"))
  const [tried = ""] = readdirSync(stateFolder).filter((name) => name.startsWith("svc.db."))
  copyFileSync(join(stateFolder, tried), databaseOf(parts))
  takeIn(parts)
  const back = await settleInterrupted(parts, "back")
  assert.deepEqual([back?.kind, back?.kind === "set-aside" && back.accepted, inbox()], ["set-aside", 2, 1])
  assert.equal(readdirSync(stateFolder).filter((name) => name.startsWith("svc.db.")).length, 2)
})

function databaseOf({ stateFolder }: UpdateParts): string {
  return join(stateFolder, "svc.db")
}

function writeProgram(folder: string, source: string): void {
  mkdirSync(join(folder, "dist"), { recursive: true })
  writeFileSync(join(folder, "dist", "svc.cjs"), source)
}
