// Every command by its name and its other names.
import type { ChatCommand } from "./contract.ts"
import { activation } from "./native/activation.ts"
import { approve } from "./native/approve.ts"
import { bash } from "./native/bash.ts"
import { config } from "./native/config.ts"
import { compact } from "./native/compact.ts"
import { debug } from "./native/debug.ts"
import { exportSession } from "./native/export.ts"
import { commandsList, help } from "./native/help.ts"
import { model } from "./native/model.ts"
import { pause, resume } from "./native/pause.ts"
import { queue } from "./native/queue.ts"
import { nodes } from "./native/nodes.ts"
import { reasoning } from "./native/reasoning.ts"
import { newSession, reset } from "./native/reset.ts"
import { restart } from "./native/restart.ts"
import { start } from "./native/start.ts"
import { status } from "./native/status.ts"
import { stop } from "./native/stop.ts"
import { think } from "./native/think.ts"
import { usage } from "./native/usage.ts"
import { whoami } from "./native/whoami.ts"

/** In the order of the menu. */
export const nativeCommands: readonly ChatCommand[] = [
  start,
  help,
  commandsList,
  status,
  usage,
  stop,
  pause,
  resume,
  newSession,
  reset,
  compact,
  exportSession,
  model,
  think,
  reasoning,
  queue,
  activation,
  approve,
  nodes,
  whoami,
  config,
  debug,
  restart,
  bash,
]

const byName = new Map<string, ChatCommand>(
  nativeCommands.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name): [string, ChatCommand] => [name, command]),
  ),
)

export function findCommand(name: string): ChatCommand | undefined {
  return byName.get(name)
}
