// A real `systemd --user` for tests, on machines that systemd has not booted too: in a mount namespace of its own, where
// /run is empty but for what systemd itself takes as the sign that it has booted the machine. Needs root for that.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import type { TestContext } from "node:test"
import { temporaryFolder } from "./temporary.ts"
import { until } from "./world.ts"

const systemd = "/lib/systemd/systemd"

/** Why there cannot be one here; undefined when there can. */
export function whyNoUserManager(): string | undefined {
  if (process.platform !== "linux") return "systemd is a program of Linux"
  if (!existsSync(systemd)) return "systemd is not installed (apt-get install systemd)"
  if (process.getuid?.() !== 0) return "making a mount namespace for it takes root"
  const tried = spawnSync("unshare", ["--mount", "true"])
  return tried.status === 0 ? undefined : "this machine lets nobody make a mount namespace"
}

export interface UserManager {
  home: string
  /** Runs a program where the manager is the one of the session; what it said, out and error together. */
  run(command: readonly string[]): Promise<{ code: number | null; output: string }>
}

export async function startUserManager(context: TestContext): Promise<UserManager> {
  const home = join(temporaryFolder(), "home")
  mkdirSync(home, { mode: 0o700 })
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_RUNTIME_DIR: "/run/user/0",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  }
  const prepare = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0 && exec ${systemd} --user`
  const manager = spawn("unshare", ["--mount", "sh", "-c", prepare], { env, stdio: ["ignore", "ignore", "pipe"] })
  let said = ""
  manager.stderr.on("data", (piece: Buffer) => (said += piece.toString()))
  const ended = once(manager, "exit")
  context.after(async () => {
    manager.kill("SIGTERM")
    await ended
  })
  const run: UserManager["run"] = async (command) => {
    const inside = ["--target", String(manager.pid), "--mount", "--wd=/", ...command]
    const child = spawn("nsenter", inside, { env, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Buffer) => (output += piece.toString()))
    const [code] = (await once(child, "close")) as [number | null]
    return { code, output }
  }
  await until("the user's systemd answers", async () => {
    if (manager.exitCode !== null) throw new Error(`systemd --user has ended: ${said}`)
    const { output } = await run(["systemctl", "--user", "is-system-running"])
    return output.startsWith("running") ? true : undefined
  })
  return { home, run }
}
