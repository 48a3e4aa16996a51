// `/think`: how long the model thinks before it answers in this session.
import { choiceButtons, readChoice } from "../choices.ts"
import type { ChatCommand } from "../contract.ts"
import { changeSettings } from "../settings.ts"

const levels = ["off", "minimal", "low", "medium", "high", "default"] as const

export const think: ChatCommand = {
  name: "think",
  aliases: ["thinking", "t"],
  summary: "Shows or chooses how much the model thinks",
  usage: levels.join(" | "),
  access: "authorised",
  time: (args) => (readChoice(args, levels) === undefined ? "now" : "in-turn"),
  run(call, services) {
    const level = readChoice(call.args, levels)
    if (level === undefined) {
      const settings = services.sessions.find(call.sessionKey)?.settings
      const current =
        settings?.thinking ?? services.models.describe({ agentId: call.agentId, model: settings?.model }).thinking
      return {
        text: `${call.args === "" ? "" : "There is no such level. "}The thinking level is ${current === "default" ? "the model's own default" : current}.`,
        buttons: choiceButtons(
          "think",
          levels.map((each) => ({ label: each, args: each })),
        ),
      }
    }
    const thinking = level === "default" ? undefined : level
    return {
      text: level === "default" ? "The thinking level is as configured again." : `The thinking level is ${level} now.`,
      commit: (write) => changeSettings(services.sessions, write, call, { thinking }),
    }
  },
}
