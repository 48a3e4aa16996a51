// A machine with Tailscale, as far as its command goes: a folder for PATH, and what the command has done.
import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../temporary.ts"

export interface TailscaleState {
  state: "Running" | "Stopped" | "NeedsLogin"
  /** Of this machine, with its tailnet. */
  name: string
  /** Whether the tailnet allows funnels. */
  funnel: boolean
  /** Whether a refused funnel ends at once; the real one waits for somebody to allow it. */
  endsWhenRefused: boolean
  paths: Record<string, { target: string; public: boolean }>
  calls: string[]
}

export function installTailscale(state: Partial<TailscaleState> = {}) {
  const folder = temporaryFolder()
  const file = join(folder, "state.json")
  const whole: TailscaleState = {
    state: "Running",
    name: "machine.tailnet.ts.net",
    funnel: true,
    endsWhenRefused: true,
    paths: {},
    calls: [],
    ...state,
  }
  writeFileSync(file, JSON.stringify(whole))
  symlinkSync(join(import.meta.dirname, "tailscale.mjs"), join(folder, "tailscale"))
  const path = `${folder}:${process.env["PATH"] ?? ""}`
  return {
    environment: { PATH: path, TAILSCALE_STAND_IN: file },
    state: () => JSON.parse(readFileSync(file, "utf8")) as TailscaleState,
  }
}
