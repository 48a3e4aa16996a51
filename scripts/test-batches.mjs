// Test files that can share a process do: a process of its own costs each of them more than most of its tests, since it
// loads much of the source. Each file is a suite of that process, with hooks of its own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/** What changes its process, measures it, or ends it, has one of its own; so has what drives browsers beside ours. */
const wantsItsOwn =
  /process\.(?:chdir|exit|on\(|once\(|emit|kill|memoryUsage|umask)|[mM]emory\(|globalThis\.|eventLoop|EventLoop|monitorEvent|getActive|-gc\b|\bgc\(|heap|handles\.ts|tdl|remote-browser|person-browser|playwright/
/** An environment that is only read stays as it is; but of these files, whose length it decides, each is long by itself. */
const setsItsLength = /process\.env\b/
const changesEnvironment = /delete process\.env|process\.env(?:\.\w+|\[[^\]]+\])\s*(?:\?\?|\|\|)?=[^=]/
/** Files in one process. Those that start gateways and browsers take longer, and a process should not be the last one by far. */
const most = (file) => (/^test\/(e2e|faults)|^src\/browser\//.test(file) ? 4 : 8)

/** Paths relative to the root; `files` are those to give to the runner, which takes none that lie in node_modules. */
export function batchTests(root, tests) {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-batches-"))
  const alone = []
  const groups = new Map()
  for (const file of tests) {
    const text = readFileSync(join(root, file), "utf8")
    const isOwn =
      /^(test\/(?!e2e|faults|recordings)|scripts)/.test(file) ||
      wantsItsOwn.test(text) ||
      changesEnvironment.test(text) ||
      (file.startsWith("test/") && setsItsLength.test(text))
    // What lies in one feature loads much the same; the emulator is small enough to be one.
    const feature = file.startsWith("emulator/") ? "emulator" : file.split("/").slice(0, 2).join("-")
    if (isOwn) alone.push(file)
    else groups.set(feature, [...(groups.get(feature) ?? []), file])
  }
  const batches = [...groups].flatMap(([feature, all]) =>
    Array.from({ length: Math.ceil(all.length / most(all[0])) }, (_, n) => {
      const path = join(folder, `${feature.replace(/\.test\.ts$/, "")}-${n + 1}.test.mjs`)
      writeFileSync(path, programOf(root, all.slice(n * most(all[0]), (n + 1) * most(all[0]))))
      return path
    }),
  )
  return { files: [...batches, ...alone], remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function programOf(root, files) {
  const suite = (file) =>
    `await describe(${JSON.stringify(file)}, { timeout: 300_000 }, () => import(${JSON.stringify(pathToFileURL(join(root, file)).href)}))`
  // Some tests wait for what by itself keeps no process alive.
  return `import { describe } from "node:test"
const alive = setInterval(() => undefined, 60_000)
${files.map(suite).join("\n")}
clearInterval(alive)
`
}
