// `svc service ...`: the commands are the service's own, in a file of their own that only this group loads.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { registerServiceCommands } from "../../src/main/service-cli.ts"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples, addLocalOptions, wholeNumber } from "../options.ts"
import { printable } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

interface ServiceCommands {
  registerServiceCommands: typeof registerServiceCommands
}

export async function addService(program: Command, context: CliContext): Promise<void> {
  const path = siblingProgram(context, "service-commands.mjs", "src/main/service-cli.ts")
  const commands = (await import(pathToFileURL(path).href)) as ServiceCommands
  commands.registerServiceCommands(program, {
    print: (text) => context.output.line(printable(context.output.named(text))),
    printContent: (text) => context.output.line(printable(text)),
    printJson: (value) => context.output.json(value),
    note: (text) => context.output.note(printable(text)),
    time: describeTime,
    variables: context.environment,
    programFile: context.programFile,
    interrupted: () => context.interrupted(),
    setExitCode(code) {
      context.exitCode = code
    },
    addOptions: (command) => void addLocalOptions(command),
    addExamples: (command, ...lines) => void addExamples(command, ...lines),
    wholeNumber: (name) => wholeNumber(name, 1, 3600),
  })
}
