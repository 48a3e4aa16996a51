// Finds the browser to launch: the configured one, else the system's default, else the first of a fixed order.
import { AppError } from "../../../kernel/index.ts"
import { type Detected, kindOfName } from "./kinds.ts"
import { detectOnLinux } from "./linux.ts"
import type { Machine } from "./machine.ts"
import { detectOnMacos } from "./macos.ts"
import { detectOnWindows } from "./windows.ts"

export type { BrowserKind, Detected } from "./kinds.ts"
export { type Machine, systemMachine } from "./machine.ts"

/** Throws `browser-not-found`; a configured path that does not exist is an error, never replaced by a guess. */
export async function detectBrowser(machine: Machine, executablePath: string | undefined): Promise<Detected> {
  if (executablePath !== undefined) {
    if (!machine.isExecutable(executablePath)) {
      throw new AppError("browser-not-found", `browser.executablePath is not a program: ${executablePath}`, {
        hint: "Correct the path, or remove the key to have a browser found",
      })
    }
    return { kind: kindOfName(executablePath.split(/[\\/]/).at(-1) ?? "") ?? "custom", path: executablePath }
  }
  const found = await detectFor(machine)
  if (found) return found
  throw new AppError("browser-not-found", "No browser that speaks CDP was found (Chrome, Brave, Edge, Chromium)", {
    hint: "Install one (on Debian: apt install chromium), or set browser.executablePath",
  })
}

function detectFor(machine: Machine): Promise<Detected | undefined> {
  if (machine.platform === "darwin") return detectOnMacos(machine)
  if (machine.platform === "win32") return detectOnWindows(machine)
  return detectOnLinux(machine)
}
