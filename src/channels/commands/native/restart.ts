// `/restart`: the gateway begins anew. What runs is put back and goes on afterwards; the answer is written before that.
import type { ChatCommand } from "../contract.ts"

export const restart: ChatCommand = {
  name: "restart",
  summary: "Restarts the gateway",
  access: "owner",
  tellsRefused: true,
  switchedBy: "restart",
  time: "now",
  async run({ sender }, services) {
    if (sender.origin !== "owner") return { text: "Only owners may restart the gateway." }
    if (!services.isOn("restart")) {
      return { text: "`/restart` is switched off. Set `commands.restart` to true in the configuration file." }
    }
    const problem = await services.restarts.check()
    if (problem) {
      const next = problem.hint === undefined ? "" : `\n\n${problem.hint}.`
      return { text: `The gateway does not restart: it would not come back.\n\n${problem.message}${next}` }
    }
    return {
      text: "The gateway restarts now. What is under way goes on afterwards.",
      commit: () => services.restarts.begin(`asked for by ${sender.id}`),
    }
  },
}
