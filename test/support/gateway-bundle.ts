// The gateway of the tests as one bundle: a process made of some hundred source files starts in seconds when the
// machine is busy, a bundle in a fraction of one. Built once for a state of the sources and shared by all test files.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { buildDashboard } from "../../scripts/build-dashboard.mjs"
import { moduleOptions } from "../../scripts/bundle-options.ts"
import { newest } from "../../scripts/newest.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** Inside the package, so that what is not bundled is found. */
const cache = join(root, "node_modules", ".cache", "svc-tests")
/** Another test file may still be starting processes from an older bundle. */
const keepMs = 10 * 60 * 1000

/** Where single source files are to be looked at or changed; otherwise only a slower start. */
export const isFromSources = process.env["SVC_TEST_FROM_SOURCES"] === "1"

let bundled: Promise<string> | undefined
let page: Promise<void> | undefined

/** The path of the program to start. The sources are looked at once in a process. */
export function bundleGateway(): Promise<string> {
  if (isFromSources) return Promise.resolve(join(root, "test", "support", "gateway-process.ts"))
  bundled ??= bundle()
  return bundled
}

/** Puts the page beside the bundle, for tests that open it. The gateway looks for its files at the first request. */
export function bundlePage(): Promise<void> {
  page ??= bundleGateway().then((program) =>
    // A gateway of source files takes the built page.
    putPage(isFromSources ? join(root, "dist", "dashboard") : join(dirname(program), "dashboard")),
  )
  return page
}

async function putPage(folder: string): Promise<void> {
  const sources = [join(root, "dashboard"), join(root, "scripts", "build-dashboard.mjs")]
  const mark = join(folder, `made-${newest(...sources)}`)
  if (existsSync(mark)) return
  const own = `${folder}-${process.pid}`
  await buildDashboard(own)
  writeFileSync(join(own, basename(mark)), "")
  rmSync(folder, { recursive: true, force: true })
  try {
    renameSync(own, folder)
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(mark)) throw error
    rmSync(own, { recursive: true, force: true })
  }
}

async function bundle(): Promise<string> {
  const sources = ["src", "test/support", "scripts/bundle-options.ts", "scripts/ascii-output.ts", "package-lock.json"]
  const folder = join(cache, `gateway-${newest(...sources.map((name) => join(root, name)))}`)
  const program = join(folder, "gateway-process.mjs")
  if (existsSync(program)) return program
  const own = `${folder}-${process.pid}`
  mkdirSync(own, { recursive: true })
  await build({
    ...moduleOptions,
    absWorkingDir: root,
    entryPoints: ["test/support/gateway-process.ts"],
    outdir: own,
  })
  try {
    renameSync(own, folder)
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(program)) throw error
    rmSync(own, { recursive: true, force: true })
  }
  removeOld(folder)
  return program
}

function removeOld(current: string): void {
  for (const name of readdirSync(cache).filter((each) => each.startsWith("gateway-"))) {
    const path = join(cache, name)
    const info = statSync(path, { throwIfNoEntry: false })
    if (path === current || !info || Date.now() - info.mtimeMs < keepMs) continue
    rmSync(path, { recursive: true, force: true })
  }
}
