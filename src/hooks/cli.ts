// The commands `svc hooks ...`: what webhooks have brought, once more if wanted, and what a payload would do.
// Only types are imported besides the kernel's errors: nothing here may slow the program's start.
import type { Command } from "commander"
import { AppError } from "../kernel/errors.ts"
import type {
  HookDeliveryDetail,
  HookDeliveryPage,
  HookDeliverySummary,
  HookOutcome,
  HookTestPlan,
} from "./contract.ts"

export interface HookCall {
  query?: Record<string, string | number | undefined>
  body?: unknown
  /** All option values of the command. */
  options: Readonly<Record<string, unknown>>
}

/** What the commands need of the program around them. */
export interface HooksCommandIo {
  /** Calls the gateway's API; resolves with the answer's JSON, or throws the AppError that it sent. */
  call(method: "GET" | "POST", path: string, request: HookCall): Promise<unknown>
  /** One or more lines for people. */
  print(text: string): void
  /** Advice of our own words, with the name by which the program can be called. */
  named(text: string): string
  printJson(value: unknown): void
  table(headings: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string
  time(milliseconds: number | null): string
  /** Throws AppError when it cannot be read. */
  readFile(path: string): string
  /** Looks again and again, until Ctrl-C. */
  follow(look: () => Promise<void>): Promise<void>
  /** Options that every command of the program has. */
  addOptions(command: Command): void
}

interface CommonOptions extends Record<string, unknown> {
  json?: true
}

export function registerHooksCommands(program: Command, io: HooksCommandIo): void {
  const hooks = program.command("hooks").description("Look at deliveries of webhooks, replay them, try mappings")
  addList(hooks, io)
  addShow(hooks, io)
  addReplay(hooks, io)
  addTail(hooks, io)
  addTest(hooks, io)
  hooks.addHelpText("after", "\nExample:\n  svc hooks test github --file payload.json --dry-run")
}

function finish(command: Command, io: HooksCommandIo, example: string): Command {
  io.addOptions(command)
  return command.option("--json", "print JSON").addHelpText("after", `\nExample:\n  ${example}`)
}

function addList(hooks: Command, io: HooksCommandIo): void {
  const list = hooks
    .command("deliveries", { isDefault: true })
    .alias("list")
    .description("List what senders have delivered, newest first")
  list
    .option("--limit <n>", "at most this many (default 50)", wholeNumber("--limit"))
    .option("--before <id>", "only those before this one", wholeNumber("--before"))
    .option("--mapping <id>", "only those of a mapping, or of wake or agent")
    .action(async (options: CommonOptions & { limit?: number; before?: number; mapping?: string }) => {
      const { limit, before, mapping } = options
      const page = (await io.call("GET", "/api/hooks", {
        query: { limit, before, mapping },
        options,
      })) as HookDeliveryPage
      if (options.json) return io.printJson(page)
      io.print(
        page.items.length === 0
          ? "no deliveries"
          : io.table(
              headings,
              page.items.map((item) => listRow(io, item)),
            ),
      )
      const refused = Object.entries(page.refused).map(([code, count]) => `${code} ${count}`)
      if (refused.length > 0) io.print(`turned away since the start: ${refused.join(", ")}`)
      if (page.next !== null) io.print(io.named(`older ones: svc hooks deliveries --before ${page.next}`))
    })
  finish(list, io, "svc hooks deliveries --mapping github")
}

const headings = ["Id", "Time", "Mapping", "Path", "Verdict", "Status", "Runs", "Took", "Error"]

function listRow(io: HooksCommandIo, item: HookDeliverySummary): (string | number | null)[] {
  const runs = item.runIds.length > 1 ? `${item.runIds.length} runs` : (item.runIds[0] ?? null)
  const took = `${item.tookMs.toFixed(1)} ms`
  const error = item.times > 1 ? `${item.error ?? ""} (${item.times} times)` : item.error
  return [item.id, io.time(item.receivedAt), item.mapping, item.path, item.verdict, item.status, runs, took, error]
}

function addShow(hooks: Command, io: HooksCommandIo): void {
  const show = hooks
    .command("show")
    .description("Show one delivery whole")
    .argument("<id>", "id as in the list", wholeNumber("<id>"))
    .action(async (id: number, options: CommonOptions) => {
      const detail = (await io.call("GET", `/api/hooks/${id}`, { options })) as HookDeliveryDetail
      if (options.json) return io.printJson(detail)
      io.print(describe(io, detail))
    })
  finish(show, io, "svc hooks show 42")
}

function describe(io: HooksCommandIo, detail: HookDeliveryDetail): string {
  const rows: (string | number | null)[][] = [
    ["Received", io.time(detail.receivedAt)],
    ["Request", `${detail.method} ${detail.path}`],
    ["Mapping", detail.mapping],
    ["Verdict", `${detail.verdict}, status ${detail.status}, ${detail.tookMs.toFixed(1)} ms`],
    ["Error", detail.error],
    ["From", detail.address === null ? null : `${detail.address}, ${detail.times} times within the hour`],
    ["Replay of", detail.replayOf],
    ["Answer", detail.answer === null ? null : JSON.stringify(detail.answer)],
    ...Object.entries(detail.headers).map(([name, value]) => [`header ${name}`, value]),
    ...Object.entries(detail.query).map(([name, value]) => [`query ${name}`, value]),
    ...detail.runs.map((run) => [`run ${run.runId}`, [run.state, run.delivered, run.error].filter(Boolean).join(", ")]),
  ]
  const replies = detail.runs.flatMap((run) =>
    run.reply === null ? [] : [`\nReply of ${run.runId}\n${indent(run.reply)}`],
  )
  return [io.table(["Delivery", String(detail.id)], rows), `Body\n${indent(detail.body)}`, ...replies].join("\n")
}

function indent(text: string): string {
  return text.replace(/^/gm, "  ")
}

function addReplay(hooks: Command, io: HooksCommandIo): void {
  const replay = hooks
    .command("replay")
    .description("Do a kept delivery once more, with the mappings of now")
    .argument("<id>", "id as in the list", wholeNumber("<id>"))
    .action(async (id: number, options: CommonOptions) => {
      const outcome = (await io.call("POST", `/api/hooks/${id}/replay`, { body: {}, options })) as HookOutcome
      if (options.json) return io.printJson(outcome)
      io.print(`delivery ${id} was done once more: ${describeOutcome(outcome)}`)
    })
  finish(replay, io, "svc hooks replay 42")
}

function describeOutcome({ status, answer }: HookOutcome): string {
  return `${status} ${JSON.stringify(answer)}`
}

const tailLimit = 200

function addTail(hooks: Command, io: HooksCommandIo): void {
  const tail = hooks
    .command("tail")
    .description("Print deliveries as they come, until Ctrl-C")
    .option("--mapping <id>", "only those of a mapping, or of wake or agent")
    .action(async (options: CommonOptions & { mapping?: string }) => {
      let last: number | undefined
      await io.follow(async () => {
        const news = await newsSince(io, options, last)
        if (last !== undefined) for (const item of news.toReversed()) printDelivery(io, options, item)
        last = news[0]?.id ?? last ?? 0
      })
    })
  finish(tail, io, "svc hooks tail --mapping github")
}

/** Newest first, however many came at once; only the newest where nothing is known yet. */
async function newsSince(
  io: HooksCommandIo,
  options: CommonOptions & { mapping?: string },
  last: number | undefined,
): Promise<HookDeliverySummary[]> {
  const news: HookDeliverySummary[] = []
  let before: number | undefined
  for (;;) {
    const query = { limit: last === undefined ? 1 : tailLimit, before, mapping: options.mapping }
    const page = (await io.call("GET", "/api/hooks", { query, options })) as HookDeliveryPage
    const added = page.items.filter(({ id }) => id > (last ?? 0))
    news.push(...added)
    if (last === undefined || page.next === null || added.length < page.items.length) return news
    before = page.next
  }
}

function printDelivery(io: HooksCommandIo, { json }: CommonOptions, item: HookDeliverySummary): void {
  if (json) io.printJson(item)
  else {
    const cells = listRow(io, item)
    io.print(cells.map((cell) => cell ?? "-").join("  "))
  }
}

function addTest(hooks: Command, io: HooksCommandIo): void {
  const collect = (text: string, all: Record<string, string> = {}) => ({ ...all, ...parseHeader(text) })
  const test = hooks
    .command("test")
    .description("Send a payload through the mappings; with --dry-run only show what it would do")
    .argument("<path>", "path below the hooks' base, such as github")
    .requiredOption("--file <file>", "file with the body")
    .option("--header <name: value>", "header of the request; may be repeated", collect)
    .option("--dry-run", "show the mapping, the message and where it would go; do nothing")
    .action(
      async (
        path: string,
        options: CommonOptions & { file: string; header?: Record<string, string>; dryRun?: true },
      ) => {
        const body = {
          path,
          body: io.readFile(options.file),
          headers: options.header ?? {},
          dryRun: options.dryRun === true,
        }
        const answer = await io.call("POST", "/api/hooks/test", { body, options })
        if (options.json) return io.printJson(answer)
        io.print(options.dryRun ? describePlan(answer as HookTestPlan) : describeOutcome(answer as HookOutcome))
      },
    )
  finish(test, io, "svc hooks test github --file payload.json --header 'X-GitHub-Event: issues' --dry-run")
}

function describePlan({ mapping, actions }: HookTestPlan): string {
  if (actions.length === 0) return `mapping ${mapping}: nothing would be done (204)`
  const blocks = actions.map((action) =>
    Object.entries(action as Record<string, unknown>)
      .map(([name, value]) => {
        const text = typeof value === "string" ? value : JSON.stringify(value)
        return text.includes("\n") ? `  ${name}:\n${indent(indent(text))}` : `  ${name}: ${text}`
      })
      .join("\n"),
  )
  return `mapping ${mapping}: ${actions.length} action${actions.length === 1 ? "" : "s"}\n${blocks.join("\n\n")}`
}

function parseHeader(text: string): Record<string, string> {
  const mark = text.indexOf(":")
  if (mark < 1) throw new AppError("bad-request", `--header "${text}" is not of the form "Name: value"`)
  return { [text.slice(0, mark).trim()]: text.slice(mark + 1).trim() }
}

function wholeNumber(name: string): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,15}$/.test(text)) throw new AppError("bad-request", `${name} must be a whole number above 0`)
    return Number(text)
  }
}
