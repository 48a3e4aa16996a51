// `/approve`: an owner's answer to what the agent has asked; mostly by the buttons below the question.
import { AppError } from "../../../kernel/index.ts"
import type { ChatCommand } from "../contract.ts"

const usage = "allow|deny <id>"

export const approve: ChatCommand = {
  name: "approve",
  summary: "Answers what the agent asks to be allowed",
  usage,
  access: "owner",
  time: "now",
  async run({ args, sender }, { approvals }) {
    const [word = "", id = ""] = args.trim().toLowerCase().split(/\s+/)
    if ((word !== "allow" && word !== "deny") || id === "") {
      throw new AppError("bad-request", "The answer is not complete", { hint: `/approve ${usage}` })
    }
    // It names what was asked for as the turn, or the page that it had open, calls it.
    return { text: await approvals.decide(id, word, `chat:${sender.id}`), isForeign: true }
  },
}
