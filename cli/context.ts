// What every command is given: the environment, where the program stands, its output, and Ctrl-C as a signal.
import { existsSync, realpathSync } from "node:fs"
import { homeFolder } from "../src/kernel/home.ts"
import { dirname, join, resolve } from "node:path"
import { AppError } from "../src/kernel/errors.ts"
import type { Output } from "./output.ts"

export interface CliContext {
  environment: NodeJS.ProcessEnv
  output: Output
  /** Real path of the started file: `dist/svc.cjs`, or `cli/main.ts` when run from the sources. */
  programFile: string
  /** Aborted by Ctrl-C. Asking for it is what takes the signal away from Node's own handling. */
  interrupted(): AbortSignal
  /** What the program ends with when nothing is thrown; a command may set it. */
  exitCode: number
}

export function createContext(parts: { environment: NodeJS.ProcessEnv; output: Output; programFile: string }) {
  const controller = new AbortController()
  let listening = false
  const context: CliContext = {
    ...parts,
    programFile: realpathSync(parts.programFile),
    exitCode: 0,
    interrupted() {
      if (!listening) process.once("SIGINT", () => controller.abort())
      listening = true
      return controller.signal
    },
  }
  return context
}

/** Absolute path of the state folder: `--state-dir`, else SVC_STATE_DIR, else `~/.svc`. */
export function stateFolder(context: CliContext, option?: string): string {
  const home = homeFolder(context.environment["HOME"])
  const written = option ?? context.environment["SVC_STATE_DIR"]?.trim()
  if (written === undefined || written === "") return join(home, ".svc")
  if (written === "~") return home
  return /^~[/\\]/.test(written) ? join(home, written.slice(2)) : resolve(written)
}

/** The file of another of our programs: its bundle beside ours, or its source when we run from the sources. */
export function siblingProgram(context: CliContext, bundle: string, source: string): string {
  const folder = dirname(context.programFile)
  const path = context.programFile.endsWith(".ts") ? join(dirname(folder), source) : join(folder, bundle)
  if (existsSync(path)) return path
  throw new AppError("not-found", `A part of this installation is missing: ${path}`, {
    hint: "install the package again, or run: npm run build",
  })
}
