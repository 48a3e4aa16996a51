// `/bash`: a command of the owner in the agent's sandbox, where the agent's own commands run. It reaches nothing else.
import { AppError } from "../../../kernel/index.ts"
import type { ChatCommand } from "../contract.ts"

/** Of one message, with what stands around it. */
const maxShown = 3_000

export const bash: ChatCommand = {
  name: "bash",
  summary: "Runs a command in the agent's sandbox",
  usage: "<command>",
  access: "owner",
  where: "private",
  time: "now",
  takesLines: true,
  async run({ args, agentId, sessionKey }, { shell }) {
    if (!shell.isOn()) {
      return { text: "`/bash` is switched off. Set `commands.bash` to true in the configuration file." }
    }
    const command = args.trim()
    if (command === "") throw new AppError("bad-request", "The command is missing", { hint: "/bash ls -la" })
    const { output, end } = await shell.run({ agentId, sessionKey, command })
    const cut = output.length > maxShown ? `${output.slice(0, maxShown)}\n[...]` : output
    // A fence longer than any in the output, so that none of it leaves the block.
    const longest = Math.max(2, ...(cut.match(/`{3,}/g) ?? []).map(({ length }) => length))
    const fence = "`".repeat(longest + 1)
    if (cut === "") return { text: `(no output) ${end}` }
    // A file that it shows may be anybody's.
    return { text: `${fence}\n${cut}\n${fence}\n${end}`, isForeign: true }
  },
}
