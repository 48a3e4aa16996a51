// What the program `svc` is made of, which is to start fast: its own files, and few of the gateway's.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { build } from "esbuild"
import type * as program from "./main.ts"

/** What this test is about, so that `npm run check` runs it when any of it has changed. */
export type Program = typeof program

/** As scripts/build.mjs makes it. */
async function bundledFiles(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: join(import.meta.dirname, ".."),
    entryPoints: ["cli/main.ts"],
    bundle: true,
    platform: "node",
    target: "node22.18",
    format: "cjs",
    logLevel: "error",
    metafile: true,
    write: false,
  })
  return Object.keys(metafile.inputs)
}

test("the bundle holds nothing but this program, commander and what the import rule allows", async () => {
  const allowed = [
    /^cli\//,
    /^src\/browser\/cli/,
    /^src\/browser\/files\/safe-name\.ts$/,
    /^src\/budget\/(amounts|cap-words|contract)\.ts$/,
    /^src\/gateway\/access\/contract\.ts$/,
    /^src\/hooks\/cli/,
    /^src\/kernel\/(abort|durable-file|errors|home|log-format|process-alive|shell-word|terminal-text|trim|unless-missing)\.ts$/,
    /^src\/sessions\/archive\/render\.ts$/,
    /^src\/store\/run-delivery\.ts$/,
    /(?:^|\/)node_modules\/commander\//,
    /^package\.json$/,
  ]
  const foreign = (await bundledFiles()).filter((path) => !allowed.some((pattern) => pattern.test(path)))
  assert.deepEqual(foreign, [])
})
