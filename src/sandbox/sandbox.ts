// The one launcher of everything that runs in a sandbox: browsers of sandboxed sessions, and commands of the agent.
// probe -> box (arguments, limits) -> a process, known by id until it has ended. Where the backend does not work nothing is
// started in another way.
import { type ChildProcess, spawn } from "node:child_process"
import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AppError, type Clock, type Ids, type Log } from "../kernel/index.ts"
import { boxHome, bubblewrapArguments } from "./bubblewrap.ts"
import type { Backend, BoxSpec, Launch, Probe, RunningBox } from "./contract.ts"
import { dockerArguments } from "./docker.ts"
import { withoutInherited } from "./inherited.ts"
import { type LimiterFound, findLimiter, limited, limitedInside } from "./limits.ts"
import { type Look, createLook } from "./look.ts"
import { type MachineFacts, thisMachine } from "./mend.ts"
import { probeBubblewrap, probeDocker } from "./probe.ts"

export interface BackendSettings {
  backend: Backend
  docker: { command: string; image: string; seccompProfile?: string | undefined }
}

export interface SandboxOptions {
  /** Files and sockets of this run; short, since a socket's path may have 107 bytes. */
  folder: string
  /** Of the gateway: of it only what the programs that make boxes need. */
  environment: Readonly<Record<string, string | undefined>>
  userId: number | undefined
  groupId: number | undefined
  clock: Clock
  ids: Ids
  log: Log
  machine?: MachineFacts
}

/** A verdict that was good stays for long; a bad one is looked at again when somebody asks. */
const goodMs = 10 * 60_000
const badMs = 15_000
const passed = /^(PATH|HOME|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS|DOCKER_.+|CONTAINER_HOST|LANG)$/

export class Sandbox {
  readonly #options: SandboxOptions
  readonly #environment: Record<string, string>
  readonly #look: Look
  readonly #boxes = new Map<string, { box: RunningBox; child: ChildProcess; ended: Promise<void>; stop(): void }>()
  readonly #probes = new Map<string, { at: number; probe: Promise<Probe> }>()
  #limiter: Promise<LimiterFound> | undefined
  #isStopped = false

  constructor(options: SandboxOptions) {
    this.#options = options
    this.#environment = Object.fromEntries(
      Object.entries(options.environment).filter((entry): entry is [string, string] => {
        return entry[1] !== undefined && passed.test(entry[0])
      }),
    )
    this.#look = createLook(this.#environment)
  }

  /** What the backend can do here. `fresh` tries it now. */
  probe(settings: BackendSettings, { fresh = false } = {}): Promise<Probe> {
    const { clock } = this.#options
    const key = JSON.stringify(settings)
    const known = this.#probes.get(key)
    if (known && !fresh && clock.monotonic() - known.at < goodMs) return this.#renewed(settings, known)
    return this.#try(settings, key)
  }

  async #renewed(settings: BackendSettings, known: { at: number; probe: Promise<Probe> }): Promise<Probe> {
    const probe = await known.probe
    const isBad = probe.exec !== undefined || probe.browser !== undefined
    if (!isBad || this.#options.clock.monotonic() - known.at < badMs) return probe
    return this.#try(settings, JSON.stringify(settings))
  }

  #try(settings: BackendSettings, key: string): Promise<Probe> {
    const { clock, machine = thisMachine } = this.#options
    const work = async (): Promise<Probe> => {
      if (settings.backend === "docker") return await probeDocker(this.#look, settings.docker)
      const limiter = await this.#findLimiter()
      const bubblewrap = (spec: BoxSpec) => bubblewrapArguments(spec, this.#places())
      return await probeBubblewrap({ look: this.#look, machine, limiter, bubblewrap })
    }
    const probe = work()
    this.#probes.set(key, { at: clock.monotonic(), probe })
    probe.catch(() => this.#probes.delete(key))
    return probe
  }

  #findLimiter(): Promise<LimiterFound> {
    this.#limiter ??= findLimiter(this.#options.userId, this.#look)
    return this.#limiter
  }

  /** Throws `sandbox-unavailable`, with the command that mends it. */
  async #launch(spec: BoxSpec, settings: BackendSettings, id: string): Promise<Launch> {
    const { [spec.kind]: fault } = await this.probe(settings)
    if (fault) throw fault
    if (this.#isStopped) throw new AppError("not-ready", "The gateway is stopping")
    const { userId, groupId } = this.#options
    const environment = this.#environment
    if (settings.backend === "docker") {
      const { command, image, seccompProfile } = settings.docker
      const name = `svc-${id}`
      const places = { name, image, seccompProfile, user: userOf(spec, userId, groupId) }
      return {
        path: command,
        arguments: dockerArguments(spec, places),
        environment,
        pipesAreStandard: spec.hasPipes === true,
        // The engine's own process runs on when its client is ended.
        dispose: async () => void (await this.#look(command, ["rm", "--force", name])),
      }
    }
    const limiter = await this.#findLimiter()
    const inside = { ...spec, argv: limitedInside(limiter, spec.limits, spec.argv) }
    const launch: Launch = {
      path: "bwrap",
      arguments: bubblewrapArguments(inside, this.#places()),
      // Its first process can be read in the box. A scope of systemd is asked for over the session's bus.
      environment: limiter.kind === "systemd" ? environment : { PATH: environment["PATH"] ?? "/usr/bin:/bin" },
      pipesAreStandard: false,
      dispose: async () => undefined,
    }
    return limited(limiter, spec.limits, { id, userId, launch })
  }

  /** Starts a box, which is known by its id from then on until it has ended. */
  async start(spec: BoxSpec, settings: BackendSettings): Promise<StartedBox> {
    const { ids, clock, log } = this.#options
    const id = ids
      .token(6)
      .replace(/[^a-zA-Z0-9]/g, "x")
      .toLowerCase()
    const launch = await this.#launch(spec, settings, id)
    const areApart = spec.hasPipes && !launch.pipesAreStandard
    const pipes = areApart
      ? (["ignore", "ignore", "pipe", "pipe", "pipe"] as const)
      : (["pipe", "pipe", "pipe"] as const)
    const child = withoutInherited(pipes, (stdio) =>
      spawn(launch.path, launch.arguments, { env: launch.environment, stdio, detached: true }),
    )
    const ended = hasEnded(child)
      .then(() => launch.dispose())
      .catch((error: unknown) => log.warn({ err: error, box: id }, "sandbox not cleaned up"))
      .then(() => void this.#boxes.delete(id))
    const stop = () => endTree(child)
    if (child.pid !== undefined) {
      const { kind, session, agentId } = spec
      const startedAt = new Date(clock.now()).toISOString()
      const box = { id, kind, session, agentId, pid: child.pid, startedAt, backend: settings.backend }
      this.#boxes.set(id, { box, child, ended, stop })
    }
    return { id, child, pipesAreStandard: launch.pipesAreStandard, ended, stop }
  }

  list(): RunningBox[] {
    return [...this.#boxes.values()].map(({ box }) => box)
  }

  /** Ends boxes by their ids, and gives those that were there. */
  async stopBoxes(match: (box: RunningBox) => boolean): Promise<RunningBox[]> {
    const found = [...this.#boxes.values()].filter(({ box }) => match(box))
    for (const { stop } of found) stop()
    await Promise.all(found.map(({ ended }) => ended))
    return found.map(({ box }) => box)
  }

  /** When nothing of a box is left. */
  async ended(id: string): Promise<void> {
    await this.#boxes.get(id)?.ended
  }

  /** The folder of sockets and files of this run. */
  get folder(): string {
    return this.#options.folder
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.stopBoxes(() => true)
    rmSync(this.#options.folder, { recursive: true, force: true })
  }

  #places() {
    const { folder } = this.#options
    const identity = {
      passwd: `root:x:0:0::/:/bin/false\nagent:x:1000:1000:agent:${boxHome}:/bin/sh\n`,
      group: "root:x:0:\nagent:x:1000:\n",
      hosts: "127.0.0.1 localhost\n",
      "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    const etc = join(folder, "etc")
    mkdirSync(etc, { recursive: true, mode: 0o700 })
    const files = Object.entries(identity).map(([name, text]) => {
      const source = join(etc, name)
      if (!lstatSync(source, { throwIfNoEntry: false })) writeFileSync(source, text, { mode: 0o644 })
      return { source, target: `/etc/${name}` }
    })
    return { roots: findRoots(), identity: files, node: process.execPath }
  }
}

/** What a backend can do on this machine; for looks without a gateway. */
export async function probeSandbox(
  settings: BackendSettings,
  options: Pick<SandboxOptions, "environment" | "clock" | "ids" | "log">,
): Promise<Probe> {
  const folder = mkdtempSync(join(tmpdir(), "svc-probe-"))
  const sandbox = new Sandbox({ ...options, folder, userId: process.getuid?.(), groupId: process.getgid?.() })
  try {
    return await sandbox.probe(settings)
  } finally {
    await sandbox.stop()
  }
}

export interface StartedBox {
  id: string
  child: ChildProcess
  pipesAreStandard: boolean
  /** Resolves when it has ended and nothing of it is left. */
  ended: Promise<void>
  /** Ends all of it at once. */
  stop(): void
}

/** Files of the workspace belong to the gateway's user; a browser must not be root, and writes none of them. */
function userOf({ kind }: BoxSpec, userId = 1000, groupId = 1000): string {
  return kind === "browser" && userId === 0 ? "1000:1000" : `${userId}:${groupId}`
}

/** Distributions differ: links into /usr, or folders of their own. */
function findRoots(): { path: string; link?: string }[] {
  return ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => {
    const info = lstatSync(path, { throwIfNoEntry: false })
    if (!info) return []
    return info.isSymbolicLink() ? [{ path, link: readlinkSync(path) }] : [{ path }]
  })
}

/** Also when it could not be started at all. */
function hasEnded(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve())
    child.once("error", () => resolve())
  })
}

/** What made the box dies, and with it, by the kernel, every process of the box. */
function endTree({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
  }
}
