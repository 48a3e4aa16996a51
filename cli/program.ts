// From the words of the command line to an exit code: pick the group, load it, let commander parse, and turn
// whatever was thrown into two lines and 0 (done), 1 (failed), 2 (bad usage) or 130 (Ctrl-C).
import { realpathSync } from "node:fs"
import { Command, CommanderError, type OutputConfiguration } from "commander"
import { AppError, describeError } from "../src/kernel/errors.ts"
import { createContext, type CliContext } from "./context.ts"
import { commandGroups, type CommandGroup } from "./groups.ts"
import { LeanCommand } from "./lean-command.ts"
import { createOutput } from "./output.ts"
import { programName, withProgramName } from "./program-name.ts"
import { mostSimilar } from "./similar.ts"

/** Runs this process: its arguments, its environment, its exit code. */
export async function runProcess(): Promise<void> {
  const programFile = realpathSync(process.argv[1] ?? "")
  let name: string | undefined
  const named = (text: string) => {
    if (!text.includes("svc ")) return text
    name ??= programName({ environment: process.env, programFile, workingFolder: process.cwd() })
    return withProgramName(text, name, (word) => word === "help" || findGroup(word) !== undefined)
  }
  const output = createOutput(process.env, named)
  const context = createContext({ environment: process.env, output, programFile })
  process.exitCode = await runProgram(process.argv.slice(2), context)
}

export async function runProgram(words: readonly string[], context: CliContext): Promise<number> {
  const json = words.includes("--json")
  try {
    if (words[0] === "--version" || words[0] === "-V") {
      const { version } = await import("./version.ts")
      context.output.line(version)
      return 0
    }
    const route = words[0] === "help" ? await helpRoute(words.slice(1), context) : [...words]
    const group = findGroup(route[0])
    const done = group !== undefined && (await runLean(route, group, context))
    if (!done) {
      const program = await buildProgram(context, group ? [group] : [])
      await program.parseAsync(route, { from: "user" })
    }
    return context.exitCode
  } catch (thrown) {
    return await report(thrown, words, json, context)
  }
}

/** Asks a command for its help. What is no command stays alone, and is told as wherever else it is typed. */
async function helpRoute(asked: readonly string[], context: CliContext): Promise<string[]> {
  const [first = "-"] = asked
  if (!first.startsWith("-") && !findGroup(first)) return [first]
  const { path, next = "-", commands } = await locate(asked, context)
  if (commands.length > 0 && !next.startsWith("-")) throw unknownCommand(next, path, commands)
  return [...asked, "--help"]
}

function findGroup(word: string | undefined): CommandGroup | undefined {
  return commandGroups.find(({ name, aliases }) => name === word || (word !== undefined && aliases?.includes(word)))
}

/**
 * The usual way: only the command that is meant is set up. False when the words do not fit it; nothing has been done
 * then, since commander checks all words before it acts, and the whole group finds out what is wrong.
 */
async function runLean(route: readonly string[], group: CommandGroup, context: CliContext): Promise<boolean> {
  if (route.includes("--help") || route.includes("-h")) return false
  const program = new LeanCommand(new Set(route), "svc")
  prepare(program, { writeOut: () => undefined, writeErr: () => undefined })
  await (
    await group.load()
  )(program, context)
  if (program.lacksAny()) return false
  let acted = false
  program.hook("preAction", () => {
    acted = true
  })
  try {
    await program.parseAsync(route, { from: "user" })
    return true
  } catch (error) {
    if (error instanceof CommanderError && !acted) return false
    throw error
  }
}

function prepare(program: Command, streams: Pick<OutputConfiguration, "writeOut" | "writeErr">): Command {
  return (
    program
      .enablePositionalOptions()
      .exitOverride()
      // Errors are printed by `report`, once, in the form of all our errors.
      .configureOutput({ ...streams, outputError: () => undefined })
  )
}

/** A program with the given groups; without any, all groups stand in it by name, for help and suggestions. */
export async function buildProgram(context: CliContext, loaded: readonly CommandGroup[]): Promise<Command> {
  const program = new Command("svc")
    .description("A gateway that hosts an AI agent and connects it to a browser, to webhooks and to a chat platform")
    .usage("<command> [options]")
  prepare(program, {
    writeOut: (text) => context.output.write(context.output.named(text)),
    writeErr: (text) => context.output.note(text.trimEnd()),
  })
  if (loaded.length > 0) {
    for (const group of loaded) await (await group.load())(program, context)
    return program
  }
  program.option("-V, --version", "print the version")
  for (const group of commandGroups) program.command(group.name).description(group.description)
  program.addHelpText("after", "\nExample:\n  svc gateway\n\nHelp of one command: svc <command> --help")
  return program
}

async function report(thrown: unknown, words: readonly string[], json: boolean, context: CliContext): Promise<number> {
  if (thrown instanceof CommanderError) {
    if (thrown.code === "commander.helpDisplayed" || thrown.code === "commander.version") return 0
    context.output.error(await usageError(thrown, words, context), json)
    return 2
  }
  if (isAppError(thrown)) {
    if (thrown.code === "aborted") return 130
    const isBare = thrown.code === "bad-request" && thrown.hint === undefined
    const hint = isBare ? `see: ${(await locate(words, context)).path} --help` : undefined
    context.output.error(hint === undefined ? thrown : new AppError(thrown.code, thrown.message, { hint }), json)
    return thrown.code === "bad-request" ? 2 : 1
  }
  context.output.error(new AppError("internal", `svc itself failed: ${describeError(thrown)}`), json)
  return 1
}

/** Also true for an error of another bundle (the gateway's, the configuration's), which has a class of its own. */
function isAppError(thrown: unknown): thrown is AppError {
  return thrown instanceof Error && thrown.name === "AppError" && (thrown as Partial<AppError>).code !== undefined
}

interface Located {
  /** `svc pairing approve`, as far as the words lead. */
  path: string
  /** The first word behind it. */
  next?: string
  /** What may stand there instead. */
  commands: string[]
}

async function locate(words: readonly string[], context: CliContext): Promise<Located> {
  const route = words[0] === "help" ? words.slice(1) : words
  const group = findGroup(route[0])
  if (!group) return { path: "svc", commands: [] }
  let command: Command = await buildProgram(context, [group])
  let path = "svc"
  for (const word of route) {
    const found = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (!found) return { path, next: word, commands: command.commands.map((each) => each.name()) }
    command = found
    path += ` ${command.name()}`
  }
  return { path, commands: [] }
}

function unknownCommand(word: string, path: string, commands: readonly string[]): AppError {
  const meant = mostSimilar(word, commands)
  const advice = meant === undefined ? `Commands: ${commands.join(", ")}.` : `Did you mean ${meant}?`
  return new AppError("bad-request", `unknown command '${word}'`, { hint: `${advice} see: ${path} --help` })
}

async function usageError(error: CommanderError, words: readonly string[], context: CliContext): Promise<AppError> {
  const { path, next = "", commands } = await locate(words, context)
  const hint = `see: ${path} --help`
  if (error.code === "commander.help") return new AppError("bad-request", `${path} needs a command`, { hint })
  // A group with a command that may be left out takes a wrong one for that one's arguments.
  if (error.code === "commander.excessArguments" && commands.length > 0 && !next.startsWith("-"))
    return unknownCommand(next, path, commands)
  const [message = "", ...suggestion] = error.message.replace(/^error: /, "").split("\n")
  const more = suggestion.join(" ").replace(/^\(|\)$/g, "")
  return new AppError("bad-request", message, { hint: more === "" ? hint : `${more} ${hint}` })
}
