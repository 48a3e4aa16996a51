// What a changed configuration file does to a running gateway. Most keys are read where they are used and need nothing;
// some parts start anew; what the listeners and the store stand on needs a restart of the whole gateway.
import type { ConfigChange } from "../config/index.ts"
import { changedPaths } from "../config/index.ts"
import type { Core } from "./core.ts"
import { createConfigWarner } from "./config-findings.ts"
import { warnOfUnknownTools } from "./tools.ts"

export interface ReloadTargets {
  restartHeartbeat: () => void
  restartSchedules: () => Promise<void>
  reconfigureBrowser: () => Promise<void>
  updateChannels: () => Promise<void>
  restartMailWatch: () => Promise<void>
  /** Resolves with false where the gateway goes on, because it could not begin anew. */
  restartGateway: (reason: string) => Promise<boolean>
  /** Nothing has to begin anew any more: the configuration is as it was at the start. */
  restartNotNeeded: () => void
}

/** Keys that only a restart of the gateway can change. */
const restartKeys = ["gateway.port", "gateway.bind", "gateway.auth", "storage.url", "env"]

export function takesRestart(path: string): boolean {
  return restartKeys.some((key) => path === key || path.startsWith(`${key}.`))
}

/**
 * What has changed since the parts were made is a change too: a start takes its time, and a file may be saved twice.
 * To be ended before the first part is: one that has stopped would begin anew, and outlive its store where the process goes on.
 */
export function followConfig(core: Core, targets: ReloadTargets): () => void {
  const warn = createConfigWarner(core.log)
  warnOfUnknownTools(core.config(), core.log)
  warn(core.holder.snapshot())
  return core.holder.subscribe((_changed, change) => {
    warn(core.holder.snapshot())
    apply(core, targets, change)
  }, core.begun)
}

function apply(core: Core, targets: ReloadTargets, change: ConfigChange): void {
  const changed = changedPaths(change.before, change.after, 2)
  const isEnvChanged = change.changed.includes("env")
  const paths = isEnvChanged && !changed.includes("env") ? [...changed, "env"] : changed
  const { mode } = change.after.gateway.reload
  const needsRestart = mode === "restart" ? paths : paths.filter(takesRestart)
  const applyNow = () => applyWithoutRestart(core, targets, change, paths)
  if (needsRestart.length === 0) return applyNow()
  if (mode === "hot") {
    for (const path of needsRestart) core.log.warn({ key: path }, "config change takes effect at the next start")
    return applyNow()
  }
  if (!isEnvChanged && !changedPaths(core.begun.config, change.after, 2).some(takesRestart) && mode !== "restart") {
    targets.restartNotNeeded()
    return applyNow()
  }
  core.background.run("restart", async () => {
    if (!(await targets.restartGateway(`${needsRestart.join(", ")} changed`))) applyNow()
  })
}

function applyWithoutRestart(core: Core, targets: ReloadTargets, { after }: ConfigChange, paths: string[]): void {
  const touches = (key: string) =>
    paths.some((path) => path === key || path.startsWith(`${key}.`) || key.startsWith(`${path}.`))
  if (touches("agents")) {
    warnOfUnknownTools(after, core.log)
    targets.restartHeartbeat()
  }
  if (touches("cron") || touches("agents")) core.background.run("take up schedules", targets.restartSchedules)
  if (touches("browser")) core.background.run("reconfigure browser service", targets.reconfigureBrowser)
  if (touches("hooks")) core.background.run("restart mail watch", targets.restartMailWatch)
  if (touches("channels.chatapp") || touches("commands")) core.background.run("update channels", targets.updateChannels)
}
