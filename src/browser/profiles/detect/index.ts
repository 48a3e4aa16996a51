// Finds the browser to launch: the configured one, else the system's default, else the first of a fixed order.
import { AppError } from "../../../kernel/index.ts"
import { type Detected, kindOfProgram } from "./kinds.ts"
import { detectOnLinux } from "./linux.ts"
import type { Machine } from "./machine.ts"
import { detectOnMacos } from "./macos.ts"
import { detectOnWindows } from "./windows.ts"

export { type BrowserKind, type Detected, kindOfProgram } from "./kinds.ts"
export { type Machine, systemMachine } from "./machine.ts"

/** Throws `browser-not-found`; a configured path that does not exist is an error, never replaced by a guess. */
export async function detectBrowser(machine: Machine, executablePath: string | undefined): Promise<Detected> {
  if (executablePath !== undefined) {
    if (!machine.isExecutable(executablePath)) {
      throw new AppError("browser-not-found", `browser.executablePath is not a program: ${executablePath}`, {
        hint: "Correct the path, or remove the key to have a browser found",
      })
    }
    return { kind: kindOfProgram(executablePath), path: executablePath }
  }
  const found = await detectFor(machine)
  if (found) return found
  throw new AppError("browser-not-found", "No browser that speaks CDP was found (Chrome, Brave, Edge, Chromium)", {
    hint: "Install one (on Debian: apt install chromium), or set browser.executablePath",
  })
}

const keptMs = 30_000

/** For those who only tell what would be started, and are asked often: the system's helpers take their time. */
export function rememberDetection(
  machine: Machine,
  now: () => number,
): (executablePath: string | undefined) => Promise<Detected> {
  let known: { path: string | undefined; until: number; found: Promise<Detected> } | undefined
  return (executablePath) => {
    if (known && known.path === executablePath && known.until > now()) return known.found
    const found = detectBrowser(machine, executablePath)
    known = { path: executablePath, until: now() + keptMs, found }
    // Whoever has just installed one looks again.
    found.catch(() => (known = undefined))
    return found
  }
}

function detectFor(machine: Machine): Promise<Detected | undefined> {
  if (machine.platform === "darwin") return detectOnMacos(machine)
  if (machine.platform === "win32") return detectOnWindows(machine)
  return detectOnLinux(machine)
}
