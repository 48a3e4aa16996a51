// `/nodes`: the machines that offer their browser; letting one in, mostly by the buttons below its request.
import { AppError } from "../../../kernel/index.ts"
import type { ChatCommand } from "../contract.ts"

const usage = "approve|revoke <code or name>"

export const nodes: ChatCommand = {
  name: "nodes",
  summary: "Shows the machines that offer their browser, and lets one in or puts it out",
  usage,
  access: "owner",
  where: "private",
  time: "now",
  async run({ args, sender }, services) {
    const [word = "", ...rest] = args.trim().split(/\s+/)
    const wanted = rest.join(" ")
    // Machines that ask to be let in have named themselves.
    if (word === "") return { text: services.nodes.describe(), isForeign: true }
    const decision = word.toLowerCase()
    if ((decision !== "approve" && decision !== "revoke") || wanted === "") {
      throw new AppError("bad-request", "The command is not complete", { hint: `/nodes ${usage}` })
    }
    return { text: await services.nodes.decide(decision, wanted, `chat:${sender.id}`) }
  },
}
