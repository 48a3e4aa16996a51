// The way from Google to the push listener through Tailscale: `tailscale funnel` (from the internet) or `tailscale serve`
// (from the tailnet alone) lead one path of this machine's name to the listener. The daemon of Tailscale keeps that, so a
// gateway that restarts finds it as it was; `svc webhooks gmail stop` takes it away.
// The commands as they are since 1.52: https://tailscale.com/docs/reference/tailscale-cli/funnel
import { execFile } from "node:child_process"
import { z } from "zod"
import { AppError } from "../../kernel/index.ts"
import type { GmailView } from "./contract.ts"

export type TunnelMode = "serve" | "funnel"

export interface Tunnel {
  mode: TunnelMode
  /** Of the public address. */
  path: string
  /** Where requests for it go; the path is taken off before, so the target has the listener's own. */
  target: string
}

/** Runs `tailscale` with these arguments. Rejects with `tunnel-failed`, and what it said in the hint. */
export type RunTailscale = (parameters: readonly string[], signal?: AbortSignal) => Promise<string>

/** It asks a server of Tailscale, and waits for ever where a person has to allow it first. */
const commandMs = 30_000
const maxOutputBytes = 4 * 1024 * 1024
/** Of what it printed, in a hint. */
const saidCharacters = 400

/** Undefined where no tunnel is wished. */
export function tunnelOf({ serve, tailscale }: Pick<GmailView, "serve" | "tailscale">): Tunnel | undefined {
  if (tailscale === undefined || tailscale.mode === "off") return undefined
  const host = ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"].includes(serve.bind) ? "127.0.0.1" : serve.bind
  const path = tailscale.path ?? serve.path
  return {
    mode: tailscale.mode,
    path: path.startsWith("/") ? path : `/${path}`,
    target: tailscale.target ?? `http://${host}:${serve.port}${serve.path}`,
  }
}

export const openParameters = ({ mode, path, target }: Tunnel) => [mode, "--bg", "--yes", `--set-path=${path}`, target]
export const closeParameters = ({ mode, path }: Tunnel) => [mode, "--yes", "--https=443", `--set-path=${path}`, "off"]

/** Opens the tunnel, or finds it open; returns the address that leads to the listener. */
export async function openTunnel(tunnel: Tunnel, run: RunTailscale, signal?: AbortSignal): Promise<string> {
  const host = readName(await run(["status", "--json"], signal))
  await run(openParameters(tunnel), signal)
  return `https://${host}${tunnel.path}`
}

export async function closeTunnel(tunnel: Tunnel, run: RunTailscale, signal?: AbortSignal): Promise<void> {
  await run(closeParameters(tunnel), signal)
}

const statusSchema = z.object({ BackendState: z.string(), Self: z.object({ DNSName: z.string() }).nullish() })

/** Of this machine, with its tailnet. */
function readName(text: string): string {
  let status: z.infer<typeof statusSchema> | undefined
  try {
    status = statusSchema.safeParse(JSON.parse(text)).data
  } catch {
    // Said below: no JSON is as good as JSON of another form.
    status = undefined
  }
  if (!status) throw new AppError("tunnel-failed", "tailscale status --json said nothing that can be read")
  const name = status.Self?.DNSName.replace(/\.$/, "") ?? ""
  if (status.BackendState === "Running" && name !== "") return name
  throw new AppError("tunnel-failed", `Tailscale is not connected (${status.BackendState})`, {
    hint: "Run: tailscale up",
  })
}

/** `variables`: the environment, for PATH. */
export function createTailscale(variables: Readonly<Record<string, string | undefined>>): RunTailscale {
  return (parameters, signal) =>
    new Promise((resolve, reject) => {
      const options = {
        env: { ...variables },
        timeout: commandMs,
        maxBuffer: maxOutputBytes,
        ...(signal ? { signal } : {}),
      }
      const child = execFile("tailscale", [...parameters], options, (error, stdout, stderr) => {
        if (error) reject(explain(error, parameters, `${stderr}\n${stdout}`))
        else resolve(stdout)
      })
      child.stdin?.end()
    })
}

function explain(error: Error & { code?: unknown; killed?: boolean }, parameters: readonly string[], said: string) {
  if (error.name === "AbortError") return new AppError("aborted", "The command was ended", { cause: error })
  if (error.code === "ENOENT") {
    return new AppError("tunnel-failed", "tailscale is not installed (or not on PATH)", {
      cause: error,
      hint: "Install it (https://tailscale.com/download) and run: tailscale up; or set hooks.gmail.tailscale.mode to off",
    })
  }
  const words = said.trim().replaceAll(/\s+/g, " ").slice(0, saidCharacters)
  const why = error.killed ? `has not ended in ${commandMs / 1000} s` : "failed"
  return new AppError("tunnel-failed", `tailscale ${parameters[0]} ${why}${words === "" ? "" : `: ${words}`}`, {
    cause: error,
    hint: `See what it says to: tailscale ${parameters.join(" ")}`,
  })
}
