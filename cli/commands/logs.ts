// `svc logs`: reads the log files of the state folder itself, so that it works when no gateway runs.
import { join } from "node:path"
import type { Command } from "commander"
import { AppError } from "../../src/kernel/errors.ts"
import { stateFolder, type CliContext } from "../context.ts"
import { closeLog } from "../logs/files.ts"
import { followLog } from "../logs/follow.ts"
import { acceptsLevel, formatAsJson, formatForPeople } from "../logs/line.ts"
import { readTail } from "../logs/tail.ts"
import { addExamples, addLocalOptions, wholeNumber } from "../options.ts"
import { logLevels } from "./gateway.ts"

interface Options {
  follow?: true
  limit: number
  maxBytes: number
  level?: string
  json?: true
  color: boolean
  stateDir?: string
}

export function addLogs(program: Command, context: CliContext): void {
  const command = program.command("logs").description("Show the gateway's log; works without a running gateway too")
  addLocalOptions(command)
    .option("--follow", "go on with new lines until Ctrl-C, across rotations")
    .option("--limit <n>", "how many lines to begin with", wholeNumber("--limit", 0, 100_000), 200)
    .option("--max-bytes <n>", "how far back to read", wholeNumber("--max-bytes", 1, 1_000_000_000), 1_000_000)
    .addOption(command.createOption("--level <level>", "only lines of this level and above").choices(logLevels))
    .option("--no-color", "no colours on a terminal")
    .action((options: Options) => showLogs(options, context))
  addExamples(command, "svc logs --follow --level warn", "svc logs --limit 1000 --json")
}

async function showLogs(options: Options, context: CliContext): Promise<void> {
  const { output } = context
  const folder = join(stateFolder(context, options.stateDir), "logs")
  const accepts = acceptsLevel(options.level)
  const colour = options.color && output.colour()
  const format = (line: string) => (options.json ? formatAsJson(line) : formatForPeople(line, colour))
  // Ctrl-C is the usual end of --follow, not a failure.
  const signal = options.follow ? context.interrupted() : undefined
  const tail = readTail(folder, { limit: options.limit, maxBytes: options.maxBytes, accepts })
  if (!tail.newest && !signal) {
    throw new AppError("not-found", `There is no log in ${folder}`, {
      hint: "the gateway writes one once it has been started: svc gateway",
    })
  }
  output.write(tail.lines.map(format).join(""))
  await output.drained()
  if (!signal) {
    for (const line of tail.splitter.finish()) if (accepts(line)) output.write(format(line))
    if (tail.newest) closeLog(tail.newest)
    return
  }
  if (!tail.newest) output.note(`waiting for a log in ${folder} ...`)
  const onLine = (line: string) => {
    if (accepts(line)) output.write(format(line))
  }
  await followLog({ folder, from: tail, signal, onLine, onPause: () => output.drained() })
}
