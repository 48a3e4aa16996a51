// `svc completion <shell>`: a script that completes commands and options; made from the commands themselves.
import type { Command } from "commander"
import { readCommandTree, type CommandNode } from "../command-tree.ts"
import { bashCompletion } from "../completion/bash.ts"
import { fishCompletion } from "../completion/fish.ts"
import { zshCompletion } from "../completion/zsh.ts"
import type { CliContext } from "../context.ts"
import { addExamples } from "../options.ts"

const scripts: Record<string, (tree: CommandNode) => string> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

export function addCompletion(program: Command, context: CliContext): void {
  const command = program
    .command("completion")
    .description("Print a script that completes svc's commands in a shell")
    .option("--json", "print the script inside of JSON")
  command
    .addArgument(command.createArgument("<shell>", "the shell").choices(Object.keys(scripts)))
    .action(async (shell: string, options: { json?: true }) => {
      const script = scripts[shell]?.(await readCommandTree(context)) ?? ""
      if (options.json) context.output.json({ shell, script })
      else context.output.write(script)
    })
  addExamples(command, "source <(svc completion bash)", "svc completion fish | source")
}
