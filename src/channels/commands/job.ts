// A command is a job like a message: durable when it is accepted, done once, answered once. What must be heard while the
// session works has a lane of its own beside the session's, and no place among the turns.
import type { Json } from "../../kernel/index.ts"
import type { NewJob } from "../../store/index.ts"
import type { ChatCommand, CommandCall } from "./contract.ts"

export const commandJobKind = "command"

export function commandJob(runId: string, command: Pick<ChatCommand, "time">, call: CommandCall): NewJob {
  const time = typeof command.time === "function" ? command.time(call.args) : command.time
  const payload = call as unknown as Json
  if (time === "in-turn") return { runId, kind: commandJobKind, laneKey: call.sessionKey, payload }
  return { runId, kind: commandJobKind, laneKey: `control:${call.sessionKey}`, payload, urgent: true }
}
