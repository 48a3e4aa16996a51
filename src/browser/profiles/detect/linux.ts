// Finding a browser on Linux: the desktop's default if it speaks CDP, then names on PATH and usual places.
import { type BrowserKind, type Detected, kindOfName, order } from "./kinds.ts"
import type { Machine } from "./machine.ts"

const names: Record<Exclude<BrowserKind, "custom">, string[]> = {
  chrome: ["google-chrome", "google-chrome-stable", "chrome"],
  brave: ["brave-browser", "brave-browser-stable", "brave"],
  edge: ["microsoft-edge", "microsoft-edge-stable"],
  chromium: ["chromium", "chromium-browser"],
  canary: ["google-chrome-canary", "google-chrome-unstable", "google-chrome-beta"],
}

/** Searched after PATH: services are often started with a short one. */
const usualFolders = ["/usr/local/bin", "/usr/bin", "/snap/bin", "/opt/google/chrome", "/var/lib/flatpak/exports/bin"]

export async function detectOnLinux(machine: Machine): Promise<Detected | undefined> {
  const preferred = await systemDefault(machine)
  if (preferred) return preferred
  for (const kind of order) {
    for (const name of names[kind]) {
      const path = findProgram(machine, name)
      if (path !== undefined) return { kind, path }
    }
  }
  return undefined
}

export function findProgram(machine: Machine, name: string): string | undefined {
  if (name.startsWith("/")) return machine.isExecutable(name) ? name : undefined
  const onPath = (machine.environment["PATH"] ?? "").split(":").filter((folder) => folder.startsWith("/"))
  return [...onPath, ...usualFolders].map((folder) => `${folder}/${name}`).find((path) => machine.isExecutable(path))
}

async function systemDefault(machine: Machine): Promise<Detected | undefined> {
  const id =
    (await machine.run("xdg-settings", ["get", "default-web-browser"]))?.trim() ||
    (await machine.run("xdg-mime", ["query", "default", "x-scheme-handler/http"]))?.trim()
  if (!id || !/^[\w.-]+\.desktop$/.test(id)) return undefined
  const kind = kindOfName(id)
  if (!kind) return undefined
  const folders = [
    `${machine.homeFolder}/.local/share/applications`,
    "/usr/local/share/applications",
    "/usr/share/applications",
    "/var/lib/snapd/desktop/applications",
  ]
  for (const folder of folders) {
    const entry = machine.readText(`${folder}/${id}`)
    const program = entry === undefined ? undefined : programOfEntry(entry)
    const path = program === undefined ? undefined : findProgram(machine, program)
    if (path !== undefined) return { kind, path }
  }
  return undefined
}

/** The program of the first `Exec=` line: past `env` and assignments, quotes honoured. */
export function programOfEntry(entry: string): string | undefined {
  const line = /^Exec=(.*)$/m.exec(entry)?.[1]
  if (line === undefined) return undefined
  const words = [...line.matchAll(/"((?:\\.|[^"\\])*)"|([^\s"]\S*)/g)].map(
    (match) => match[1]?.replace(/\\(.)/g, "$1") ?? (match[2] as string),
  )
  return words.find((word) => word !== "env" && !word.endsWith("/env") && !/^\w+=/.test(word))
}
