// What every command of `svc browser` is made of: one call of the control service, and a few words or JSON about it.
import type { Command } from "commander"
import type { ActReply, ReplyName } from "../contract.ts"

export interface BrowserCall {
  query?: Record<string, string | number | boolean | undefined>
  body?: Record<string, unknown>
  /** How long the service itself may take, with a margin for the way. */
  timeoutMs: number
  /** All option values of the command, also those that `addOptions` added. */
  options: Readonly<Record<string, unknown>>
}

/** What the commands need of the program around them. */
export interface BrowserCommandIo {
  /** Calls the control service; resolves with the answer's JSON, or throws the AppError that the service sent. */
  call(method: "GET" | "POST" | "DELETE", path: string, request: BrowserCall): Promise<unknown>
  /** Makes a file of the person's one that may be uploaded; resolves with its name for the service. */
  lend(path: string, options: Readonly<Record<string, unknown>>): Promise<string>
  /** Moves a finished download to where the person wants it; resolves with its path. */
  place(from: string, wanted: string, suggestedName: string): Promise<string>
  /** One or more lines for people. */
  print(text: string): void
  /** Advice of our own words for a line that is printed: commands in it get the name by which they can be called here. */
  named(text: string): string
  printJson(value: unknown): void
  /** What was asked for was not done, though there is an answer: the program does not end with 0. */
  failed(): void
  /** A line beside the answer: progress. */
  note(text: string): void
  /** Asks the agent as the person's own message, and prints its answer. */
  ask(question: { message: string; context: string }, options: Readonly<Record<string, unknown>>): Promise<void>
  /** Options that every command of the program has (where the gateway is, for one). */
  addOptions?(command: Command): void
}

export interface CommonOptions {
  json?: true
  browserProfile?: string
  /** Name or id of the machine. */
  node?: string
  targetId?: string
}

export type Send = <Reply>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  request?: Omit<BrowserCall, "options" | "timeoutMs"> & { timeoutMs?: number },
) => Promise<Reply>

export interface Run {
  options: CommonOptions & Record<string, unknown>
  send: Send
  io: BrowserCommandIo
}

export interface Performed {
  reply: unknown
  /** Runs unless `--json` prints the reply as it is. */
  show: () => void
  /** What follows once that is printed. */
  after?: () => Promise<void>
}

export type Perform = (run: Run, ...names: string[]) => Promise<Performed>

export type Flag = [flags: string, description: string, choices?: string[]]

export interface CommandSpec {
  /** As commander writes it: `click <ref>`. */
  usage: string
  description: string
  example: string
  /** What `--json` prints, by its name in the OpenAPI document. */
  json: ReplyName
  /** Flags, their descriptions, and the values that they take when these are fixed. */
  flags?: Flag[]
  /** Whether `--target-id` makes sense. */
  tab?: boolean
  perform: Perform
}

export const quickMs = 10_000
export const pageMs = 30_000
/** A start may have to end an old browser first. */
export const startMs = 60_000
/** Above the service's own limit: its error says more than ours would. */
export const marginMs = 5_000

export function addCommand(parent: Command, spec: CommandSpec, io: BrowserCommandIo): void {
  const command = parent
    .command(spec.usage, spec.usage === "list" ? { isDefault: true } : {})
    .description(spec.description)
  command
    .option("--json", "print JSON")
    .option("--browser-profile <name>", "browser profile (default: the configured one)")
    .option("--node <name>", "browser of this node (default: that of the gateway's machine)")
  if (spec.tab) command.option("--target-id <id>", "tab, by id or unique prefix (default: the one used last)")
  for (const [flags, description, choices] of spec.flags ?? []) {
    const option = command.createOption(flags, description)
    command.addOption(choices === undefined ? option : option.choices(choices))
  }
  io.addOptions?.(command)
  const path = spec.usage.split(" ", 1)
  for (let above: Command | null = parent; above?.parent; above = above.parent) path.unshift(above.name())
  // The words behind `svc browser`.
  const words = path.slice(1).join(" ")
  command.addHelpText("after", `\nExample:\n  ${spec.example}\n\nJSON: ${spec.json} (svc browser schema ${words})`)
  command.action(async (...values: unknown[]) => {
    const names = values
      .slice(0, -2)
      .flat()
      .map((value) => String(value ?? ""))
    const options = command.optsWithGlobals<Run["options"]>()
    const send: Send = async <Reply>(
      method: "GET" | "POST" | "DELETE",
      path: string,
      request: Parameters<Send>[2] = {},
    ) =>
      (await io.call(method, path, {
        ...request,
        query: { profile: options.browserProfile, node: options.node, ...request.query },
        // Whoever speaks of a tab may be the one for whom the browser is started or connected to first.
        timeoutMs: limitOf(request.timeoutMs) + (spec.tab ? startMs : 0),
        options,
      })) as Reply
    const { reply, show, after } = await spec.perform({ options, send, io }, ...names)
    if (options.json) io.printJson(reply)
    else show()
    await after?.()
  })
}

/** What is no number is refused by the service, which names the option: there must be time for that. */
function limitOf(timeoutMs: number | undefined): number {
  return timeoutMs !== undefined && Number.isFinite(timeoutMs) ? timeoutMs : quickMs
}

export const timeoutFlag: Flag[] = [["--timeout-ms <n>", "time limit of the action (default 8000)"]]

export const snapshotFlag: Flag = [
  "--snapshot [mode]",
  "print a short snapshot afterwards; diff: only what has changed",
  ["efficient", "diff"],
]

export function freshMode(options: Run["options"]): unknown {
  return options["snapshot"] === true ? "efficient" : options["snapshot"]
}

export function freshWords(reply: { snapshot?: string }): string {
  return reply.snapshot === undefined ? "" : `\n${reply.snapshot}`
}

/** Kinds whose own limit is 20 seconds. */
const slowKinds = new Set(["scroll", "scrollIntoView", "wait", "evaluate"])

export function act({ send, options }: Run, body: Record<string, unknown>, keys = 0): Promise<ActReply> {
  const timeoutMs = typeof options["timeoutMs"] === "string" ? Number(options["timeoutMs"]) : undefined
  // Typing slowly takes its own time on top of the limit.
  const limitMs = timeoutMs ?? (slowKinds.has(String(body["kind"])) ? 20_000 : 8_000)
  const serviceMs = limitMs + 10_000 + keys * 150 + Number(body["timeMs"] ?? 0)
  return send<ActReply>("POST", "/act", {
    body: { ...body, targetId: options.targetId, timeoutMs: options["timeoutMs"], snapshot: freshMode(options) },
    timeoutMs: serviceMs + marginMs,
  })
}

export function dialogWords(reply: ActReply): string {
  const closed = reply.closed ? "; the page closed its tab" : ""
  const asks = reply.dialog ? `; the page asks (${reply.dialog.type}): ${plain(reply.dialog.message)}` : ""
  return closed + asks + freshWords(reply)
}

/** Words of a page on one line, without what a terminal would obey. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim()
}
