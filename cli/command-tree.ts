// All commands with their options, read off the program itself: for the completion scripts, the reference page and
// the tests. Loads every group, so it is never on the way of another command.
import type { Command } from "commander"
import type { CliContext } from "./context.ts"
import { commandGroups } from "./groups.ts"
import { buildProgram } from "./program.ts"

export interface CommandNode {
  /** Words after `svc`; none for the program itself. */
  path: string[]
  description: string
  options: { flags: string[]; description: string; takesValue: boolean; choices: string[] }[]
  commands: CommandNode[]
  /** What `--help` prints. */
  help: string
}

export async function readCommandTree(context: CliContext): Promise<CommandNode> {
  const program = await buildProgram(context, commandGroups)
  const root = readNode(program, [])
  const overview = await buildProgram(context, [])
  return { ...root, help: helpOf(overview) }
}

function readNode(command: Command, path: string[]): CommandNode {
  const help = command.createHelp()
  const named = help.visibleCommands(command).filter((child) => child.name() !== "help")
  return {
    path,
    description: command.description(),
    options: help.visibleOptions(command).map((option) => ({
      flags: [option.short, option.long].filter((flag) => flag !== undefined),
      description: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
    commands: named.map((child) => readNode(child, [...path, child.name()])),
    help: helpOf(command),
  }
}

/** The help as printed, which includes what was added behind it; at a fixed width and without colours. */
function helpOf(command: Command): string {
  let text = ""
  const usual = command.configureOutput()
  command.configureOutput({
    ...usual,
    writeOut: (piece) => {
      text += piece
    },
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  command.configureOutput(usual)
  return `${text.trim()}\n`
}
