import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import { Command } from "commander"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { registerUpdateCommands } from "./update-cli.ts"

function writePackage(folder: string, version: string): string {
  const program = join(folder, "dist", "svc.cjs")
  mkdirSync(dirname(program), { recursive: true })
  writeFileSync(program, "")
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "svc-gateway", version }))
  return program
}

test("svc update --back goes on where a way back was cut off between the two databases", async () => {
  const [stateFolder, modules] = [temporaryFolder(), join(temporaryFolder(), "node_modules")]
  const programFile = writePackage(join(modules, "svc-gateway"), "2.0.0")
  writePackage(join(modules, ".svc-gateway-before"), "1.0.0")
  const kept = join(stateFolder, "update", "before.db")
  mkdirSync(dirname(kept))
  const database = new DatabaseSync(kept)
  for (const table of ["inbox", "job", "event", "outbox"]) database.exec(`create table ${table} (id integer)`)
  database.close()
  const said: unknown[] = []
  const program = new Command()
  registerUpdateCommands(program, {
    print: (text) => void said.push(text),
    printJson: (value) => void said.push(value),
    note: () => undefined,
    variables: { PATH: "/usr/bin:/bin", HOME: temporaryFolder(), SVC_STATE_DIR: stateFolder },
    programFile,
    interrupted: () => new AbortController().signal,
    addOptions: (command) => void command.option("--state-dir <dir>").option("--json"),
    addExamples: () => undefined,
  })
  await program.parseAsync(["node", "svc", "update", "--back", "--json"])
  assert.deepEqual(said, [{ ok: true, settled: "back", database: { kind: "old" } }])
  assert.ok(existsSync(join(stateFolder, "svc.db")))
  assert.match(readFileSync(join(modules, "svc-gateway", "package.json"), "utf8"), /"1\.0\.0"/)
})
