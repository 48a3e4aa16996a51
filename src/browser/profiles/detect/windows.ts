// Finding a browser on Windows: the user's choice for http if it speaks CDP, then the usual install folders.
import { type BrowserKind, type Detected, kindOfName, order } from "./kinds.ts"
import type { Machine } from "./machine.ts"

const places: Record<Exclude<BrowserKind, "custom">, string> = {
  chrome: "Google\\Chrome\\Application\\chrome.exe",
  brave: "BraveSoftware\\Brave-Browser\\Application\\brave.exe",
  edge: "Microsoft\\Edge\\Application\\msedge.exe",
  chromium: "Chromium\\Application\\chrome.exe",
  canary: "Google\\Chrome SxS\\Application\\chrome.exe",
}

const roots = ["LOCALAPPDATA", "ProgramFiles", "ProgramFiles(x86)"]

export async function detectOnWindows(machine: Machine): Promise<Detected | undefined> {
  const preferred = await systemDefault(machine)
  if (preferred) return preferred
  for (const kind of order) {
    for (const root of roots) {
      const folder = machine.environment[root]
      const path = folder === undefined ? undefined : `${folder}\\${places[kind]}`
      if (path !== undefined && machine.isExecutable(path)) return { kind, path }
    }
  }
  return undefined
}

async function systemDefault(machine: Machine): Promise<Detected | undefined> {
  const choice = "HKCU\\Software\\Microsoft\\Windows\\Shell\\Associations\\UrlAssociations\\http\\UserChoice"
  const progId = registryValue(await machine.run("reg", ["query", choice, "/v", "ProgId"]))
  const kind = progId === undefined ? undefined : kindOfName(progId)
  if (progId === undefined || !kind) return undefined
  const command = registryValue(await machine.run("reg", ["query", `HKCR\\${progId}\\shell\\open\\command`, "/ve"]))
  const path = command === undefined ? undefined : programOfCommand(command, machine.environment)
  return path !== undefined && machine.isExecutable(path) ? { kind, path } : undefined
}

/** The value in an answer of `reg query`: name, type, value, with wide gaps between them. */
export function registryValue(output: string | undefined): string | undefined {
  return /\sREG_(?:EXPAND_)?SZ\s{1,40}(\S.*)/.exec(output ?? "")?.[1]?.trim()
}

export function programOfCommand(command: string, environment: Machine["environment"]): string | undefined {
  const expanded = command.replace(/%([^%]+)%/g, (whole, name: string) => environment[name] ?? whole)
  return /^"([^"]+\.exe)"|^(\S+\.exe)/i
    .exec(expanded)
    ?.slice(1)
    .find((part) => part !== undefined)
}
