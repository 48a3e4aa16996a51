// What runs in a sandbox and with what, whatever it is made with: a box is one process tree with its own root, no way to
// the host's files, processes and network, and an end.
import type { Readable, Writable } from "node:stream"
import type { AppError } from "../kernel/index.ts"

export interface Mount {
  /** On this machine. */
  source: string
  /** In the box. */
  target: string
  writable?: boolean
  /** Left out where the source is not there. */
  optional?: boolean
}

export interface Limits {
  memoryMb: number
  /** Processes and threads. */
  tasks: number
}

/** What a box is to be. */
export interface BoxSpec {
  kind: "browser" | "exec"
  /** For people: the key of the session. */
  session: string
  agentId: string
  /** What runs in it; found in /usr/bin and such. */
  argv: readonly string[]
  mounts?: readonly Mount[]
  environment?: Readonly<Record<string, string>>
  /** Where it begins. */
  folder?: string
  /** Unix socket of a proxy that filters: the only way out. Without it there is no network at all. */
  proxySocket?: string | undefined
  limits: Limits
  /** Uses the pipes 3 and 4 beside its output; Chromium's own protocol takes them. */
  hasPipes?: boolean
}

/** A program to start on this machine, which makes the box. */
export interface Launch {
  path: string
  arguments: string[]
  environment: Record<string, string>
  /** The pipes of `hasPipes` are standard input and output. */
  pipesAreStandard: boolean
  /** Takes away what the box leaves on this machine. After its end. */
  dispose(): Promise<void>
}

export interface RunningBox {
  id: string
  kind: BoxSpec["kind"]
  session: string
  agentId: string
  pid: number
  /** ISO text. */
  startedAt: string
  backend: Backend
}

export type Backend = "bubblewrap" | "docker"

/** How memory and tasks are limited. `prlimit` counts each process by itself. */
export type Limiter = "systemd" | "cgroup" | "prlimit" | "engine" | "none"

/** What the backend can do here. */
export interface Probe {
  backend: Backend
  version?: string
  /** Why no command can be run; unset: it can. */
  exec?: AppError
  /** Why no browser can be run, which needs user namespaces inside too. */
  browser?: AppError
  limiter: Limiter
}

export interface BoxProcess {
  pid: number
  stdin: Writable | null
  stdout: Readable | null
  stderr: Readable | null
}

export const proxyPort = 3128
/** As a program in the box sees it. */
export const proxyAddress = `http://127.0.0.1:${proxyPort}`
export const workFolder = "/work"
export const skillsFolder = "/skills"
