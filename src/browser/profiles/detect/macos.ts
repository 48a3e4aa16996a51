// Finding a browser on macOS: the default handler of http if it speaks CDP, then /Applications and ~/Applications.
import { type BrowserKind, type Detected, kindOfName, order } from "./kinds.ts"
import type { Machine } from "./machine.ts"

const applications: Record<Exclude<BrowserKind, "custom">, { name: string; program: string }> = {
  chrome: { name: "Google Chrome", program: "Google Chrome" },
  brave: { name: "Brave Browser", program: "Brave Browser" },
  edge: { name: "Microsoft Edge", program: "Microsoft Edge" },
  chromium: { name: "Chromium", program: "Chromium" },
  canary: { name: "Google Chrome Canary", program: "Google Chrome Canary" },
}

export async function detectOnMacos(machine: Machine): Promise<Detected | undefined> {
  const preferred = await systemDefault(machine)
  if (preferred) return preferred
  for (const kind of order) {
    const { name, program } = applications[kind]
    for (const folder of ["/Applications", `${machine.homeFolder}/Applications`]) {
      const path = `${folder}/${name}.app/Contents/MacOS/${program}`
      if (machine.isExecutable(path)) return { kind, path }
    }
  }
  return undefined
}

interface Handler {
  LSHandlerURLScheme?: string
  LSHandlerRoleAll?: string
}

async function systemDefault(machine: Machine): Promise<Detected | undefined> {
  const list = `${machine.homeFolder}/Library/Preferences/com.apple.LaunchServices/com.apple.launchservices.secure.plist`
  const json = await machine.run("/usr/bin/plutil", ["-convert", "json", "-o", "-", list])
  const bundle = json === undefined ? undefined : handlerOf(json)
  const kind = bundle === undefined ? undefined : kindOfName(bundle)
  if (bundle === undefined || !kind || !/^[\w.-]+$/.test(bundle)) return undefined
  const found = await machine.run("/usr/bin/mdfind", [`kMDItemCFBundleIdentifier == "${bundle}"`])
  const app = found?.split("\n").find((line) => line.endsWith(".app"))
  if (app === undefined) return undefined
  const program = (
    await machine.run("/usr/bin/defaults", ["read", `${app}/Contents/Info`, "CFBundleExecutable"])
  )?.trim()
  const path = `${app}/Contents/MacOS/${program}`
  return program && machine.isExecutable(path) ? { kind, path } : undefined
}

/** The bundle that handles http, else https. */
export function handlerOf(json: string): string | undefined {
  let handlers: Handler[]
  try {
    handlers = (JSON.parse(json) as { LSHandlers?: Handler[] }).LSHandlers ?? []
  } catch {
    // A preference file of a form we do not know names no default.
    return undefined
  }
  const of = (scheme: string) => handlers.find((handler) => handler.LSHandlerURLScheme === scheme)?.LSHandlerRoleAll
  return of("http") ?? of("https")
}
