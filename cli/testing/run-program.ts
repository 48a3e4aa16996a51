// Runs the real program in a process of its own, with a clean environment, and gathers what it says.
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { symlinkSync } from "node:fs"
import { delimiter, join } from "node:path"
import { newest } from "../../scripts/newest.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"

export interface RunOptions {
  /** Default: the bundle, as installed; from the sources, cli/main.ts, where it is older than they are. */
  program?: string
  nodeOptions?: readonly string[]
  environment?: NodeJS.ProcessEnv
  workingFolder?: string
  /** On its standard input; nothing is there when not given. */
  input?: string
}

export interface RunResult {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  /** Resolves with the text so far once it contains `text`. */
  printed(text: string, stream?: "stdout" | "stderr"): Promise<string>
  ended: Promise<RunResult>
}

const root = join(import.meta.dirname, "..", "..")
export const sourceProgram = join(root, "cli", "main.ts")
const bundledProgram = join(root, "dist", "svc.cjs")
/** A bundled program starts in a quarter of the time. */
const isBundled =
  process.env["SVC_TEST_FROM_SOURCES"] !== "1" &&
  newest(bundledProgram) > newest(...["src", "cli", "package.json"].map((name) => join(root, name)))
/** What a test starts that has its own way to start processes. */
export const testedProgram = isBundled ? bundledProgram : sourceProgram
/** As for a person who has installed it: then hints name it `svc`. */
const installed = isBundled ? temporaryFolder() : undefined
if (installed !== undefined) symlinkSync(bundledProgram, join(installed, "svc"))

/**
 * The cache holds compiled source only; without it each start compiles the program anew. The others are set where the
 * sources are changed at random places.
 */
const passedOn = ["NODE_COMPILE_CACHE", "NODE_OPTIONS", "SVC_MUTATION", "SVC_TEST_FROM_SOURCES"]

export function inherited(): NodeJS.ProcessEnv {
  const { PATH } = process.env
  const path = installed === undefined ? PATH : [installed, PATH ?? ""].join(delimiter)
  return {
    PATH: path,
    ...Object.fromEntries(passedOn.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : []))),
  }
}

export function startProgram(words: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), options.program ?? testedProgram, ...words], {
    cwd: options.workingFolder,
    env: { ...inherited(), HOME: "/nonexistent", ...options.environment },
    stdio: ["pipe", "pipe", "pipe"],
  })
  // A program that reads nothing may have ended by then.
  child.stdin.on("error", () => undefined)
  child.stdin.end(options.input)
  const texts = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8")
    child[name].on("data", (piece: string) => {
      texts[name] += piece
    })
  }
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...texts }))
  const printed = (text: string, stream: "stdout" | "stderr" = "stdout") =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (texts[stream].includes(text)) resolve(texts[stream])
      }
      look()
      child[stream].on("data", look)
      child.once("close", () => reject(new Error(`ended without printing "${text}": ${JSON.stringify(texts)}`)))
    })
  return { child, printed, ended }
}

export function runProgram(words: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return startProgram(words, options).ended
}
