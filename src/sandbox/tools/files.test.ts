import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { until } from "../../../test/support/world.ts"
import type { RunCommand } from "../commands.ts"
import { createFiles } from "./files.ts"

test("two boxes that write the same file at once write one of both whole, and neither fails", async () => {
  const folder = temporaryFolder()
  const begun: ChildProcess[] = []
  // As in a box, where the shell has the same number each time; who feeds it is the test.
  const run: RunCommand = async (_asker, { argv }) => {
    const [program = "", ...words] = argv.map((word) => word.replaceAll("$$", "2"))
    const child = spawn(program, words, { stdio: ["pipe", "ignore", "ignore"] })
    begun.push(child)
    const [code] = (await once(child, "close")) as [number]
    return { end: { kind: "ended", code }, output: Buffer.alloc(0), leftOut: 0, ms: 1 }
  }
  const { write } = createFiles(run)
  const asker = { agentId: "main", sessionKey: "agent:main:main", trusted: true, signal: new AbortController().signal }
  const path = join(folder, "list.txt")
  const first = write(asker, path, Buffer.alloc(0))
  begun[0]?.stdin?.write("the first ")
  await until(
    "half of the first is there",
    () => readdirSync(folder).some((name) => readFileSync(join(folder, name), "utf8") === "the first ") || undefined,
  )
  const second = write(asker, path, Buffer.alloc(0))
  begun[1]?.stdin?.end("the second, whole")
  await second
  assert.equal(readFileSync(path, "utf8"), "the second, whole")
  begun[0]?.stdin?.end("is longer than the second")
  await first
  assert.equal(readFileSync(path, "utf8"), "the first is longer than the second")
  assert.deepEqual(readdirSync(folder), ["list.txt"])
})
