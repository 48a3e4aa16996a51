// `/compact`: the older part of the conversation becomes a summary. A job of its own in the lane of the session: it takes a
// model's time, and everything that was said before it counts.
import type { ChatCommand } from "../contract.ts"

const maxInstructions = 1_000

export const compact: ChatCommand = {
  name: "compact",
  summary: "Puts a summary in the place of what was said before, to make room",
  usage: "[what matters]",
  access: "authorised",
  time: "now",
  takesLines: true,
  run(call, services) {
    const { agentId, sessionKey, route } = call
    const instructions = call.args.slice(0, maxInstructions)
    return {
      text: "I sum up what was said so far. You will hear when it is done.",
      commit: (write) =>
        services.archive.compact(write, {
          agentId,
          sessionKey,
          route,
          ...(instructions === "" ? {} : { instructions }),
        }),
    }
  },
}
