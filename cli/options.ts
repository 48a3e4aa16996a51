// Options and help that many commands share, and the readers of their values.
import type { Command } from "commander"
import { AppError } from "../src/kernel/errors.ts"

export interface GatewayOptions {
  json?: true
  timeout: number
  stateDir?: string
}

export const defaultTimeoutMs = 10_000

/** The options of every command that calls the gateway. */
export function addGatewayOptions(command: Command): Command {
  return addLocalOptions(command).option(
    "--timeout <ms>",
    "give up after this time",
    wholeNumber("--timeout", 1),
    defaultTimeoutMs,
  )
}

/** The options of every command that reads the state folder. */
export function addLocalOptions(command: Command): Command {
  return command
    .option("--json", "print JSON")
    .option("--state-dir <dir>", "state folder (default: $SVC_STATE_DIR, else ~/.svc)")
}

export interface PageOptions {
  limit: number
  before?: number
}

/** The options of every list that goes by id, newest first. */
export function addPageOptions(command: Command): Command {
  return command
    .option("--limit <n>", "how many", wholeNumber("--limit", 1, 500), 50)
    .option("--before <id>", "only those older than this one, to page on", wholeNumber("--before", 1))
}

export function addExamples(command: Command, ...lines: string[]): Command {
  const title = lines.length === 1 ? "Example:" : "Examples:"
  return command.addHelpText("after", `\n${[title, ...lines.map((line) => `  ${line}`)].join("\n")}`)
}

/** A reader for commander: decimal digits only, within bounds. */
export function wholeNumber(name: string, least: number, most = 2_147_483_647): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    const range = most === 2_147_483_647 ? `of at least ${least}` : `from ${least} to ${most}`
    throw new AppError("bad-request", `${name} must be a whole number ${range}, not "${text}"`)
  }
}
