// `svc hooks ...`: the commands are the webhooks' own; they get the way to the gateway, to files and to the screen.
import { readFileSync } from "node:fs"
import type { Command } from "commander"
import { registerHooksCommands } from "../../src/hooks/cli.ts"
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { follow } from "../gateway/follow.ts"
import { wholeNumber } from "../options.ts"
import { formatTable } from "../table.ts"
import { printable } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addHooks(program: Command, context: CliContext): void {
  registerHooksCommands(program, {
    call(method, path, { query, body, options }) {
      const { stateDir, timeout } = options as { stateDir?: string; timeout?: number }
      const gateway = connectGateway(context, stateDir === undefined ? {} : { stateDir })
      return gateway.call(method, path, {
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body }),
        ...(timeout === undefined ? {} : { timeoutMs: timeout }),
      })
    },
    // A sender's own words are in it.
    print: (text) => context.output.line(printable(text)),
    named: (text) => context.output.named(text),
    printJson: (value) => context.output.json(value),
    table: (columns, rows) => formatTable(columns, rows).trimEnd(),
    time: describeTime,
    readFile: readText,
    follow: (look) => follow(context, look),
    addOptions: (command) =>
      void command
        .option("--timeout <ms>", "give up after this time (default 10000)", wholeNumber("--timeout", 1))
        .option("--state-dir <dir>", "state folder (default: $SVC_STATE_DIR, else ~/.svc)"),
  })
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new AppError("bad-request", `The file ${path} cannot be read`, { cause: error })
  }
}
