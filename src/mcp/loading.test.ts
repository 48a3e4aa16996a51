// The protocol's library is a third of a second and thirty megabytes: nothing of it is loaded before it is used.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { build } from "esbuild"
import { moduleOptions } from "../../scripts/bundle-options.ts"

const root = join(import.meta.dirname, "../..")

test("the gateway loads nothing of the library at its start", async () => {
  const { metafile } = await build({
    ...moduleOptions,
    absWorkingDir: root,
    entryPoints: ["src/main.ts"],
    outdir: "unused",
    write: false,
    metafile: true,
  })
  const start = Object.keys(metafile.outputs).find((path) => metafile.outputs[path]?.entryPoint === "src/main.ts")
  const reached = new Set<string>()
  const walk = (path: string) => {
    if (reached.has(path)) return
    reached.add(path)
    for (const { path: next, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === "import-statement") walk(next)
  }
  walk(start ?? "")
  const inputsOf = (paths: Iterable<string>) =>
    [...paths].flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}))
  const isLibrary = (path: string) => path.includes("@modelcontextprotocol")
  assert.ok(inputsOf(reached).includes("src/mcp/client/servers.ts"), "the start was not found")
  assert.deepEqual(inputsOf(reached).filter(isLibrary), [])
  assert.ok(inputsOf(Object.keys(metafile.outputs)).some(isLibrary), "the library is not there at all")
})
