// `/reasoning`: whether this session shows what the model thinks.
import { choiceButtons, readChoice } from "../choices.ts"
import type { ChatCommand } from "../contract.ts"
import { changeSettings } from "../settings.ts"

const choices = ["on", "off", "stream"] as const

const effects: Record<(typeof choices)[number], string> = {
  on: "The model's thinking stands in front of its answers now.",
  off: "The model's thinking is not shown any more.",
  stream: "The model's thinking is shown while it thinks, where drafts are shown; answers come without it.",
}

export const reasoning: ChatCommand = {
  name: "reasoning",
  aliases: ["reason"],
  summary: "Shows or hides what the model thinks",
  usage: choices.join(" | "),
  access: "authorised",
  time: (args) => (readChoice(args, choices) === undefined ? "now" : "in-turn"),
  run(call, services) {
    const choice = readChoice(call.args, choices)
    if (choice === undefined) {
      const current = services.sessions.find(call.sessionKey)?.settings.reasoning ?? "off"
      return {
        text: `${call.args === "" ? "" : "There is no such choice. "}Reasoning is ${current}.`,
        buttons: choiceButtons(
          "reasoning",
          choices.map((each) => ({ label: each, args: each })),
        ),
      }
    }
    return {
      text: effects[choice],
      commit: (write) => changeSettings(services.sessions, write, call, { reasoning: choice }),
    }
  },
}
