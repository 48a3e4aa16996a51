// Runs the real program in a process of its own, with a clean environment, and gathers what it says.
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

export interface RunOptions {
  /** Default: the source, cli/main.ts. */
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

export const sourceProgram = join(import.meta.dirname, "..", "main.ts")

/** The cache holds compiled source only; without it each start compiles the program anew. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
}

export function startProgram(words: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), options.program ?? sourceProgram, ...words], {
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
