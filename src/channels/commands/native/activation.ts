// `/activation`: whether the agent answers every message of a group, or those that mention it. A setting of the session
// alone: the configuration stays as it is.
import { choiceButtons, readChoice } from "../choices.ts"
import type { ChatCommand } from "../contract.ts"
import { changeSettings } from "../settings.ts"

const choices = ["always", "mention"] as const

export const activation: ChatCommand = {
  name: "activation",
  summary: "Chooses whether every message of this group is answered",
  usage: choices.join(" | "),
  access: "authorised",
  where: "group",
  time: "now",
  run(call, services) {
    const choice = readChoice(call.args, choices)
    if (choice === undefined) {
      const current = services.sessions.find(call.sessionKey)?.settings.activation ?? "as configured"
      return {
        text: `${call.args === "" ? "" : "There is no such choice. "}Activation is ${current}.`,
        buttons: choiceButtons(
          "activation",
          choices.map((each) => ({ label: each, args: each })),
        ),
      }
    }
    return {
      text: choice === "always" ? "I answer every message here now." : "I answer here when I am mentioned.",
      commit: (write) => changeSettings(services.sessions, write, call, { activation: choice }),
    }
  },
}
