// Which manager of services this machine has.
import { join } from "node:path"
import { AppError } from "../kernel/index.ts"
import type { ServiceManager } from "./contract.ts"
import { createLaunchd } from "./launchd.ts"
import type { RunCommand } from "./run-command.ts"
import { createSystemd } from "./systemd.ts"

export interface ManagerOptions {
  platform: NodeJS.Platform
  name: string
  scope: "user" | "system"
  home: string
  /** `$XDG_CONFIG_HOME`, if any. */
  configHome: string | undefined
  uid: number
  userName: string
  stateFolder: string
  run: RunCommand
}

/** Throws `service-unsupported` where there is none that we know. */
export function chooseManager(options: ManagerOptions): ServiceManager {
  const { platform, configHome, home } = options
  if (platform === "linux") return createSystemd({ ...options, configHome: configHome ?? join(home, ".config") })
  if (platform === "darwin") return createLaunchd(options)
  throw new AppError("service-unsupported", `svc cannot make a service on ${platform}`, {
    hint: `let what starts programs here run "svc gateway"; it stays in the foreground`,
  })
}
