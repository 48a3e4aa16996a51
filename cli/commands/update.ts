// `svc update`: the command is the update's own, in a file of its own that only this group loads.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { registerUpdateCommands } from "../../src/main/update-cli.ts"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples, addLocalOptions } from "../options.ts"
import { printable } from "../../src/kernel/terminal-text.ts"

interface UpdateCommands {
  registerUpdateCommands: typeof registerUpdateCommands
}

export async function addUpdate(program: Command, context: CliContext): Promise<void> {
  const path = siblingProgram(context, "update-commands.mjs", "src/main/update-cli.ts")
  const commands = (await import(pathToFileURL(path).href)) as UpdateCommands
  commands.registerUpdateCommands(program, {
    print: (text) => context.output.line(printable(context.output.named(text))),
    printJson: (value) => context.output.json(value),
    note: (text) => context.output.note(printable(text)),
    variables: context.environment,
    programFile: context.programFile,
    interrupted: () => context.interrupted(),
    addOptions: (command) => void addLocalOptions(command),
    addExamples: (command, ...lines) => void addExamples(command, ...lines),
  })
}
