// `/model`: which model answers in this session; only models that may be chosen.
import { choiceButtons } from "../choices.ts"
import type { ChatCommand, CommandServices } from "../contract.ts"
import { changeSettings } from "../settings.ts"

/** Buttons below one message; `/model list` shows all. */
const maxButtons = 20

export const model: ChatCommand = {
  name: "model",
  aliases: ["models"],
  summary: "Shows or chooses the model of this session",
  usage: "list | default | <name>",
  access: "authorised",
  time: (args) => (args === "" || args.toLowerCase() === "list" ? "now" : "in-turn"),
  run(call, services) {
    const { agentId, sessionKey } = call
    const models = services.models.selectable(agentId)
    if (call.args === "" || call.args.toLowerCase() === "list") {
      const settings = services.sessions.find(sessionKey)?.settings
      const { id } = services.models.describe({ agentId, model: settings?.model })
      if (call.args !== "") return { text: models.map((each) => modelLine(each, id)).join("\n") }
      const choices = models.slice(0, maxButtons).map((each) => ({ label: each.alias ?? each.id, args: each.id }))
      return {
        text: `The model of this session is \`${id}\`.`,
        buttons: choiceButtons("model", [...choices, { label: "Default", args: "default" }]),
      }
    }
    const wanted = call.args.toLowerCase() === "default" ? undefined : choosable(services, agentId, call.args)
    const { id } = services.models.describe({ agentId, model: wanted })
    return {
      text: `From now on \`${id}\` answers here${wanted === undefined ? ", as configured" : ""}.`,
      commit: (write) => changeSettings(services.sessions, write, call, { model: wanted }),
    }
  },
}

/** The id of the model that is meant. Throws AppError with the models that there are. */
export function choosable(services: CommandServices, agentId: string, name: string): string {
  return services.models.describe({ agentId, model: name }).id
}

function modelLine({ id, alias }: { id: string; alias?: string }, current: string): string {
  return `${id === current ? "→" : "•"} \`${id}\`${alias === undefined ? "" : ` (${alias})`}`
}
