import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import type { UpdateParts } from "./contract.ts"
import { packageBeside } from "./new-version.ts"
import { switchOver } from "./update.ts"

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
