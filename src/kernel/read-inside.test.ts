import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { Worker } from "node:worker_threads"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { readInside } from "./read-inside.ts"

function place() {
  const folder = temporaryFolder()
  const root = join(folder, "root")
  mkdirSync(join(root, "below"), { recursive: true })
  writeFileSync(join(root, "plain.txt"), "plain")
  writeFileSync(join(root, "below", "deep.txt"), "deep")
  writeFileSync(join(folder, "secret.txt"), "secret")
  return { folder, root }
}

test("reads files of the folder, also by a link within it and below a folder that is itself a link", () => {
  const { folder, root } = place()
  symlinkSync(join(root, "plain.txt"), join(root, "below", "link.txt"))
  symlinkSync(root, join(folder, "other-name"))
  for (const [from, name, text] of [
    [root, "plain.txt", "plain"],
    [root, "below/deep.txt", "deep"],
    [root, "below/link.txt", "plain"],
    [join(folder, "other-name"), "plain.txt", "plain"],
  ] as const) {
    const file = readInside(from, name, 100)
    assert.ok(file.kind === "file" && file.data.toString() === text, name)
  }
  assert.deepEqual(readInside(root, "nothing", 100), { kind: "none" })
})

test("refuses what leads out, what is no file and what is too large, and waits for nothing", () => {
  const { folder, root } = place()
  symlinkSync(join(folder, "secret.txt"), join(root, "file-link"))
  symlinkSync(folder, join(root, "folder-link"))
  symlinkSync("../secret.txt", join(root, "relative-link"))
  execFileSync("mkfifo", [join(root, "pipe")])
  const names = ["file-link", "folder-link/secret.txt", "relative-link", "../secret.txt", "below", "pipe", "plain.txt"]
  for (const name of names) assert.equal(readInside(root, name, 3).kind, "refused", name)
})

test("refuses what cannot be opened, so that one such file does not end what reads others too", () => {
  const { root } = place()
  symlinkSync("circle", join(root, "circle"))
  assert.deepEqual(readInside(root, "circle", 3), { kind: "refused", reason: "is a link that leads in a circle" })
})

test("never reads what a name is made to lead to while it is opened", async () => {
  const { folder, root } = place()
  // Another thread exchanges the file for a link and back, as fast as it can.
  const worker = new Worker(
    `const { renameSync, symlinkSync, rmSync, writeFileSync } = require("node:fs")
     const [name, secret] = require("node:worker_threads").workerData
     for (;;) {
       symlinkSync(secret, name + ".link"); renameSync(name + ".link", name)
       writeFileSync(name + ".file", "plain"); renameSync(name + ".file", name)
     }`,
    { eval: true, workerData: [join(root, "plain.txt"), join(folder, "secret.txt")] },
  )
  await new Promise((resolve) => worker.once("online", resolve))
  const seen = new Set<string>()
  for (let count = 0; count < 20_000 && seen.size < 2; count += 1) {
    const file = readInside(root, "plain.txt", 100)
    seen.add(file.kind === "file" ? file.data.toString() : file.kind)
  }
  await worker.terminate()
  assert.ok(!seen.has("secret"))
  assert.ok(seen.has("refused") && seen.has("plain"), [...seen].join())
})
