// The new version, beside the old one: put there by npm, and made to show that it can migrate a copy of the database and
// start on that. It runs in processes of its own; nothing of it is loaded into this one.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, existsSync, mkdirSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { AppError, describeError } from "../kernel/index.ts"
import { readVersion } from "./place.ts"
import type { UpdateParts } from "./contract.ts"

const installMs = 10 * 60_000
const migrateMs = 30 * 60_000
const selfTestMs = 60_000

/** Answers its version. What is not a whole package of ours does not stay. */
export async function installBeside({ place, ...parts }: UpdateParts, from: string): Promise<string> {
  rmSync(place.beside, { recursive: true, force: true })
  mkdirSync(place.beside, { mode: 0o755 })
  const spec = existsSync(from) ? from : `svc-gateway@${from}`
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  const words = ["install", "--global", "--prefix", place.beside, ...flags, spec]
  // Not as the owner of the state folder: the program belongs to whoever installed it.
  await runProgram({ ...parts, owner: undefined }, ["npm", ...words], installMs)
  const version = readVersion(packageBeside(place))
  if (!existsSync(programBeside(place))) throw new Error("the package holds no dist/svc.cjs")
  return version
}

export function packageBeside(place: { beside: string }): string {
  return join(place.beside, "lib", "node_modules", "svc-gateway")
}

export function programBeside(place: { beside: string }): string {
  return programOf(packageBeside(place))
}

/** In the folder of a package. */
export function programOf(folder: string): string {
  return join(folder, "dist", "svc.cjs")
}

/** The migrations that a version has run on the database of a folder. */
export async function migrateCopy(parts: UpdateParts, program: string, folder: string): Promise<string[]> {
  const words = [parts.node, program, "update", "migrate", "--state-dir", folder, "--json"]
  const said = await runProgram(parts, words, migrateMs)
  return (JSON.parse(said) as { migrations: string[] }).migrations
}

/** Starts it on the copy, with the real configuration, without whatever takes in, works or sends. */
export async function selfTest(parts: UpdateParts, folder: string): Promise<void> {
  const flags = ["--self-test", "--quiet", "--state-dir", folder, "--config", parts.configPath]
  const port = String(await freePort())
  await runProgram(parts, [parts.node, programBeside(parts.place), "gateway", ...flags, "--port", port], selfTestMs)
}

/** What it has said on standard output; throws an Error with its last words. */
async function runProgram(
  { variables, owner, signal }: Pick<UpdateParts, "variables" | "owner" | "signal">,
  [program = "", ...words]: string[],
  timeoutMs: number,
): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const child = spawn(program, words, {
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
    signal: limit,
    killSignal: "SIGKILL",
    ...owner,
  })
  const said = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (piece: Buffer) => (said[name] += piece.toString()))
  try {
    const [code] = (await once(child, "close")) as [number | null]
    if (code === 0) return said.stdout
    throw new Error(lastWords(said) || `it ended with ${code ?? "a signal"}`)
  } catch (error) {
    if (signal.aborted) throw new AppError("aborted", "Stopped; nothing was changed")
    if (limit.aborted) throw new Error(`it has not ended after ${timeoutMs / 1000} s`, { cause: error })
    throw new Error(describeError(error), { cause: error })
  }
}

/** An error in JSON goes to standard output. */
function lastWords({ stdout, stderr }: { stdout: string; stderr: string }): string {
  if (stderr.trim() !== "") return stderr.trim().split("\n").slice(-8).join("\n  ")
  try {
    const { error } = JSON.parse(stdout) as { error: { message: string; hint?: string } }
    return error.message
  } catch {
    return stdout.trim().split("\n").slice(-8).join("\n  ")
  }
}

/** With the one two above it, which the control service takes. */
async function freePort(): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const port = await listenBriefly(0)
    const isFree = await listenBriefly(port + 2).then(
      () => true,
      () => false,
    )
    if (isFree || tries > 20) return port
  }
}

async function listenBriefly(port: number): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address ? address.port : port
}

/** A folder of its owner's alone. */
export function makeFolder(folder: string, owner: UpdateParts["owner"]): void {
  mkdirSync(folder, { mode: 0o700 })
  if (owner) chownSync(folder, owner.uid, owner.gid)
}
