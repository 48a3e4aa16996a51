// `/new` and `/reset`: a new session in the same chat. What was chosen (model, thinking, activation) stays. Text behind
// the command is a message of its own, which intake has put behind this job.
import { changeSettings } from "../settings.ts"
import type { ChatCommand, CommandAnswer, CommandCall, CommandServices } from "../contract.ts"
import { AppError } from "../../../kernel/index.ts"
import { choosable } from "./model.ts"

export const newSession: ChatCommand = {
  name: "new",
  summary: "Starts a new session, with another model if you name one",
  usage: "[model] [first message]",
  access: "authorised",
  time: "in-turn",
  run: restart,
}

export const reset: ChatCommand = { ...newSession, name: "reset", summary: "Starts a new session" }

function restart(call: CommandCall, services: CommandServices): CommandAnswer {
  const { agentId, sessionKey } = call
  const wanted = call.args === "" ? undefined : choosable(services, agentId, call.args)
  const settings = services.sessions.find(sessionKey)?.settings
  return {
    text: `New session. ${modelText(services, { agentId, model: wanted ?? settings?.model, thinking: settings?.thinking })}`,
    commit(write) {
      services.sessions.renew(write, sessionKey, agentId)
      if (wanted !== undefined) changeSettings(services.sessions, write, call, { model: wanted })
    },
  }
}

/** One that has lost its provider or key keeps nobody from beginning anew. */
function modelText(services: CommandServices, selection: Parameters<CommandServices["models"]["describe"]>[0]): string {
  try {
    return `Model: \`${services.models.describe(selection).id}\``
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return `Its model cannot be used: ${error.message}. ${error.hint ?? ""}`.trim()
  }
}
