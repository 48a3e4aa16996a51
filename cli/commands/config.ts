// `svc config ...`: the commands are the configuration's own, with what the models know of it. They bring the schema
// library with them, which is three times the size of this program, so they are a file of their own that only this group
// loads.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { ConfigCommandIo, registerConfigCommands } from "../../src/main/config-cli.ts"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples } from "../options.ts"

interface ConfigCommands {
  registerConfigCommands: typeof registerConfigCommands
}

export async function addConfig(program: Command, context: CliContext): Promise<void> {
  const path = siblingProgram(context, "config-commands.mjs", "src/main/config-cli.ts")
  const commands = (await import(pathToFileURL(path).href)) as ConfigCommands
  const io: ConfigCommandIo = {
    stdout: (text) => context.output.write(text),
    stderr: (text) => void process.stderr.write(context.output.named(text)),
    env: context.environment,
    exit: (code) => {
      context.exitCode = code
    },
  }
  commands.registerConfigCommands(program, io)
  const group = program.commands.find((command) => command.name() === "config")
  if (group) addExamples(group, "svc config validate")
}
