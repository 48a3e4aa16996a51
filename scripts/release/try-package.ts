// Tries a packed program as a stranger's machine has it: an empty prefix, an empty home, no git, nothing but Node on PATH.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { installPackage } from "./package.ts"

export interface TryOptions {
  tarball: string
  /** Empty; everything happens in it. */
  folder: string
  offline: boolean
}

export interface Tried {
  version: string
  packages: number
  bytes: number
  /** What `/readyz` said. */
  ready: unknown
  /** The folder with the program's names. */
  bin: string
}

/** Throws an Error that says what did not work. */
export async function tryPackage({ tarball, folder, offline }: TryOptions): Promise<Tried> {
  const prefix = join(folder, "prefix")
  installPackage({ tarball, prefix, offline })
  const bin = join(prefix, "bin")
  const home = join(folder, "home")
  mkdirSync(join(home, ".svc"), { recursive: true, mode: 0o700 })
  const env = { PATH: `${bin}:${dirname(process.execPath)}`, HOME: home }
  const version = run("svc", ["--version"], env)
  if (run("svc-gateway", ["--version"], env) !== version) throw new Error("svc-gateway is not the same program as svc")
  const port = await freePort()
  writeFileSync(join(home, ".svc", "svc.json"), JSON.stringify({ gateway: { port }, browser: { enabled: false } }))
  run("svc", ["config", "validate"], env)
  const modules = join(prefix, "lib", "node_modules")
  return { version, packages: countPackages(modules), bytes: sizeOf(modules), ready: await start(port, env), bin }
}

function run(program: string, words: string[], env: NodeJS.ProcessEnv): string {
  const result = spawnSync(program, words, { env, encoding: "utf8", cwd: "/", timeout: 60_000 })
  if (result.status === 0) return result.stdout.trim()
  throw new Error(`${program} ${words.join(" ")} ended with ${result.status}: ${result.stderr || String(result.error)}`)
}

const startTimeoutMs = 60_000

async function start(port: number, env: NodeJS.ProcessEnv): Promise<unknown> {
  const child = spawn("svc", ["gateway"], { env, cwd: "/", stdio: ["ignore", "ignore", "pipe"] })
  let said = ""
  child.stderr.on("data", (piece: Buffer) => (said += piece.toString()))
  const ended = once(child, "exit")
  const end = performance.now() + startTimeoutMs
  try {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
      const text = await answer?.text()
      if (answer?.ok) return JSON.parse(text ?? "")
      if (child.exitCode !== null) throw new Error(`svc gateway ended with ${child.exitCode}: ${said}`)
      if (performance.now() > end) throw new Error(`svc gateway is not ready after a minute: ${said}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  } finally {
    child.kill("SIGTERM")
    await ended
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address ? address.port : 0
}

/** Folders of installed packages, nested ones too. */
function countPackages(modules: string): number {
  let count = 0
  for (const name of readdirSync(modules)) {
    if (name.startsWith(".")) continue
    const names = name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name]
    for (const each of names) {
      const nested = join(modules, each, "node_modules")
      count += 1 + (statSync(nested, { throwIfNoEntry: false }) ? countPackages(nested) : 0)
    }
  }
  return count
}

function sizeOf(path: string): number {
  const info = statSync(path)
  if (!info.isDirectory()) return info.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
