// `svc webhooks gmail ...`: the commands are the mail watch's own. They bring the schema library and more with them, so
// they are a file of their own that only this group loads.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { GmailCommandIo, registerGmailCommands } from "../../src/hooks/gmail/cli.ts"
import { raceAbort } from "../../src/kernel/abort.ts"
import { AppError } from "../../src/kernel/errors.ts"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples } from "../options.ts"

interface GmailCommands {
  registerGmailCommands: typeof registerGmailCommands
}

export async function addWebhooks(program: Command, context: CliContext): Promise<void> {
  const path = siblingProgram(context, "gmail-commands.mjs", "src/hooks/gmail/cli.ts")
  const commands = (await import(pathToFileURL(path).href)) as GmailCommands
  const ended = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => ended.abort(new AppError("aborted", "Stopped")))
  const io: GmailCommandIo = {
    stdout: (text) => context.output.write(text),
    stderr: (text) => void process.stderr.write(context.output.named(text)),
    env: context.environment,
    exit: (code) => {
      context.exitCode = code
    },
    prompt: (question, { hidden }) => ask(question, hidden, ended.signal),
    signal: ended.signal,
  }
  commands.registerGmailCommands(program, io)
  const group = program.commands.find((command) => command.name() === "webhooks")
  if (group) addExamples(group, "svc webhooks gmail status")
}

/** What is typed is not shown when `hidden`. */
async function ask(question: string, hidden: boolean, signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new AppError("bad-request", `Cannot ask "${question.trim()}": standard input is not a terminal`, {
      hint: "Run it in a terminal, or give the answer by option or environment; see: svc webhooks gmail setup --help",
    })
  }
  const { openTerminal } = await import("../setup/terminal.ts")
  const terminal = openTerminal({ input: process.stdin, output: process.stderr })
  try {
    return await raceAbort(terminal.ask(question, { hidden }), signal)
  } finally {
    terminal.end()
  }
}
