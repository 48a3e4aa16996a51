// `/model`: which model answers in this session; only models that may be chosen.
import { AppError } from "../../../kernel/index.ts"
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
      const { id, words } = present(services, agentId, settings?.model)
      // The present one first, then in the order of the configuration.
      const listed = models.toSorted((one, other) => Number(other.id === id) - Number(one.id === id))
      if (call.args !== "") return { text: listed.map((each) => modelLine(each, id)).join("\n") }
      const choices = listed.slice(0, maxButtons).map((each) => ({ label: each.alias ?? each.id, args: each.id }))
      return {
        text: words,
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

/** A model that has lost its provider or key must not keep anybody from choosing another. */
function present(
  services: CommandServices,
  agentId: string,
  model: string | undefined,
): { id?: string; words: string } {
  try {
    const { id } = services.models.describe({ agentId, model })
    return { id, words: `The model of this session is \`${id}\`.` }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { words: `The model of this session cannot be used: ${error.message}. ${error.hint ?? ""}`.trim() }
  }
}

function modelLine({ id, alias }: { id: string; alias?: string }, current: string | undefined): string {
  return `${id === current ? "→" : "•"} \`${id}\`${alias === undefined ? "" : ` (${alias})`}`
}
