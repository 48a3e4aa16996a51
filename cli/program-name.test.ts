import assert from "node:assert/strict"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../test/support/temporary.ts"
import { programName, withProgramName } from "./program-name.ts"

test("the name is one that works where the hint is read", () => {
  const folder = temporaryFolder()
  const clone = join(folder, "clone")
  const installed = join(folder, "lib", "svc-gateway")
  for (const place of [clone, installed]) {
    mkdirSync(join(place, "dist"), { recursive: true })
    writeFileSync(join(place, "dist", "svc.cjs"), "")
  }
  mkdirSync(join(clone, "scripts"))
  writeFileSync(join(clone, "package.json"), "{}")
  writeFileSync(join(clone, "scripts", "bootstrap.mjs"), "")
  const links = join(clone, "node_modules", ".bin")
  const bin = join(folder, "bin")
  for (const [place, target] of [
    [links, clone],
    [bin, installed],
  ] as const) {
    mkdirSync(place, { recursive: true })
    symlinkSync(join(target, "dist", "svc.cjs"), join(place, "svc"))
  }
  const nameOf = (root: string, workingFolder: string, environment: NodeJS.ProcessEnv) =>
    programName({ environment, programFile: join(root, "dist", "svc.cjs"), workingFolder })
  const PATH = `/usr/bin:${bin}`
  assert.equal(nameOf(installed, "/", { PATH }), "svc")
  // npx and npm put the clone's own programs on the PATH of what they run, not on the person's.
  assert.equal(nameOf(clone, clone, { PATH: `${links}:/usr/bin` }), "npx svc")
  assert.equal(nameOf(clone, join(clone, "docs"), { PATH }), "npx svc")
  // Another folder's `npx svc` would be a stranger's package, and the `svc` on PATH is another installation.
  assert.equal(nameOf(clone, "/", { PATH }), join(clone, "dist", "svc.cjs"))
  assert.equal(nameOf(installed, "/", { PATH: "/usr/bin", npm_command: "exec" }), "npx svc-gateway")
})

test("commands in advice get the name, and words that are none stay", () => {
  const isCommand = (word: string) => ["gateway", "runs", "status"].includes(word)
  const named = (text: string) => withProgramName(text, "npx svc", isCommand)
  assert.equal(
    named("start it with: svc gateway, then (svc runs show 3)"),
    "start it with: npx svc gateway, then (npx svc runs show 3)",
  )
  assert.equal(named("see: svc --help; npx svc status"), "see: npx svc --help; npx svc status")
  assert.equal(
    named("run svc as the user; /usr/bin/svc gateway; my-svc status"),
    "run svc as the user; /usr/bin/svc gateway; my-svc status",
  )
  assert.equal(named("Usage: svc <command> [options]"), "Usage: npx svc <command> [options]")
  assert.equal(withProgramName("svc gateway", "svc", isCommand), "svc gateway")
})
