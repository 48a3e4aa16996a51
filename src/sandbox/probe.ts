// Tries the backend as it will be used: a box with nothing to do, and in it one more user namespace, which Chromium's own
// sandbox makes. Nothing is believed of a machine that was not tried.
import { AppError } from "../kernel/index.ts"
import type { Backend, BoxSpec, Probe } from "./contract.ts"
import type { LimiterFound } from "./limits.ts"
import { type Look, succeeded } from "./look.ts"
import { type MachineFacts, type Mending, whyMissing, whyNotLinux, whyRefused } from "./mend.ts"

export interface ProbeOptions {
  look: Look
  machine: MachineFacts
  limiter: LimiterFound
  /** The words behind `bwrap` for a box. */
  bubblewrap(spec: BoxSpec): string[]
}

const nothing = (argv: string[]): BoxSpec => ({
  kind: "exec",
  session: "probe",
  agentId: "",
  argv,
  limits: { memoryMb: 64, tasks: 16 },
})

export async function probeBubblewrap(options: ProbeOptions): Promise<Probe> {
  const { look, machine, limiter, bubblewrap } = options
  const base = { backend: "bubblewrap" as const, limiter: limiter.kind }
  const both = (mending: Mending): Probe => ({ ...base, ...faults(mending, mending) })
  if (machine.platform !== "linux") return both(whyNotLinux())
  const version = await look("bwrap", ["--version"])
  if (!succeeded(version)) return both(whyMissing(machine))
  const nested = ["bwrap", "--unshare-all", "--dev-bind", "/", "/", "true"]
  const whole = await look("bwrap", bubblewrap(nothing(nested)))
  const named = { ...base, version: version.text.replace(/^bubblewrap\s*/, "") }
  if (succeeded(whole)) return named
  const plain = await look("bwrap", bubblewrap(nothing(["true"])))
  if (!succeeded(plain)) {
    const mending = whyRefused(plain.text, machine, false)
    return { ...named, ...faults(mending, mending) }
  }
  return { ...named, ...faults(undefined, whyRefused(whole.text, machine, true)) }
}

export async function probeDocker(look: Look, { command, image }: { command: string; image: string }): Promise<Probe> {
  const base = { backend: "docker" as const, limiter: "engine" as const }
  const both = (mending: Mending): Probe => ({ ...base, ...faults(mending, mending, "docker") })
  const version = await look(command, ["version", "--format", "{{.Server.Version}}"])
  if (version.code === undefined) {
    return both({ reason: `${command} cannot be run (${version.text})`, command: "sudo apt-get install docker.io" })
  }
  if (!succeeded(version)) {
    const said = version.text.split("\n").at(-1) ?? ""
    return both({ reason: `the engine of ${command} does not answer: ${said}`, command: "sudo systemctl start docker" })
  }
  const found = await look(command, ["image", "inspect", "--format", "{{.Id}}", image])
  if (succeeded(found)) return { ...base, version: version.text }
  const build = `${command} build -t ${image} <folder with the Dockerfile of docs/guides/sandbox.md>`
  return { ...both({ reason: `there is no image ${image}`, command: build }), version: version.text }
}

function faults(exec: Mending | undefined, browser: Mending | undefined, backend: Backend = "bubblewrap") {
  const tell = ({ reason, command }: Mending) =>
    new AppError("sandbox-unavailable", `The sandbox (${backend}) does not work here: ${reason}`, { hint: command })
  return { ...(exec ? { exec: tell(exec) } : {}), ...(browser ? { browser: tell(browser) } : {}) }
}
