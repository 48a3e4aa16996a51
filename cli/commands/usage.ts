// `svc usage`: what the calls of models took, in tokens and dollars, as sums by day, model, session and so on.
import type { Command } from "commander"
import { formatCount, formatDollars } from "../../src/budget/amounts.ts"
import {
  type CapState,
  type UsageGroup,
  type UsageSummary,
  type UsageSums,
  usageGroups,
} from "../../src/budget/contract.ts"
import { describeAmounts, describeCap, noCapIsNear } from "../../src/budget/cap-words.ts"
import type { BudgetLook } from "../../src/gateway/bounds.ts"
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { addExamples, addGatewayOptions, type GatewayOptions, wholeNumber } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

interface UsageOptions extends GatewayOptions {
  by: UsageGroup
  since?: string
  until?: string
  limit: number
}

export function addUsage(program: Command, context: CliContext): void {
  const usage = program.command("usage").description("Show the tokens and the cost of model calls")
  addGatewayOptions(usage)
    .addOption(usage.createOption("--by <group>", "what to add up").choices(usageGroups).default("day"))
    .option("--since <time>", "from then on: 7d (the last seven days), 12h, 2026-11-01 (default: 30d)")
    .option("--until <time>", "up to then; a day is meant as a whole (default: today)")
    .option("--limit <n>", "how many rows", wholeNumber("--limit", 1, 500), 50)
    .action(async ({ by, since, until, limit, ...options }: UsageOptions) => {
      const query = { by, since, until, limit }
      const gateway = connectGateway(context, options)
      const answer = (await gateway.call("GET", "/api/usage", { query })) as UsageSummary
      const { caps = [] } = (await gateway.call("GET", "/api/budget")) as Partial<BudgetLook>
      if (options.json) return context.output.json({ ...answer, caps })
      context.output.write(`${describeSummary(answer)}${describeCaps(caps)}`)
      if (answer.totals.calls === 0) context.output.note(adviceWhenEmpty)
      else if (answer.more)
        context.output.note("there are more: narrow the time with --since and --until, or raise --limit (to 500)")
      if (caps.length === 0) context.output.note("no cap on spending is set: svc config set budget.day.dollars 5")
    })
  addExamples(
    usage,
    "svc usage",
    "svc usage --by model --since 7d",
    "svc usage --by session --since 2026-11-01 --until 2026-11-30",
    "svc usage --by job --since 1d --limit 10",
    "svc usage allow day --dollars 1",
  )
  addAllow(usage, context)
}

interface AllowOptions extends GatewayOptions {
  dollars?: number
  tokens?: number
  untilTomorrow?: boolean
}

function addAllow(usage: Command, context: CliContext): void {
  const allow = usage
    .command("allow")
    .description("Allow more than a cap on spending; what it has stopped goes on")
    .argument("<cap>", "the cap, as svc usage lists it: day, month, agent:main")
  addGatewayOptions(allow)
    .option("--dollars <amount>", "so many dollars more", amount)
    .option("--tokens <count>", "so many tokens more", wholeNumber("--tokens", 1, 1_000_000_000))
    .option("--until-tomorrow", "no cap until the next day begins")
    .action(async (cap: string, { dollars, tokens, untilTomorrow, ...options }: AllowOptions) => {
      if (dollars === undefined && tokens === undefined && !untilTomorrow) {
        throw new AppError("bad-request", "Say what to allow: --dollars, --tokens or --until-tomorrow")
      }
      const body = { cap, dollars, tokens, untilTomorrow }
      const answer = await connectGateway(context, options).call("POST", "/api/budget/allow", { body })
      if (options.json) return context.output.json(answer)
      const { cap: state, resumed } = answer as { cap: CapState; resumed: number }
      context.output.line(printableLine(`${describeCap(state)}: ${stateOf(state)}`))
      if (resumed > 0) context.output.line(`${resumed} stopped ${resumed === 1 ? "run goes" : "runs go"} on`)
    })
  addExamples(allow, "svc usage allow day --dollars 2", "svc usage allow agent:main --until-tomorrow")
}

function amount(text: string): number {
  const dollars = Number(text.replace(/^\$/, ""))
  if (Number.isFinite(dollars) && dollars > 0) return dollars
  throw new AppError(
    "bad-request",
    `--dollars must be an amount above 0, such as 1.50, and not ${JSON.stringify(text)}`,
  )
}

function describeCaps(caps: readonly CapState[]): string {
  if (caps.length === 0) return ""
  const rows = caps.filter(({ isListed }) => isListed).map((cap) => [cap.id, stateOf(cap)])
  if (rows.length === 0) return `\nCaps: ${noCapIsNear}\n`
  return `\n${formatTable(["Cap", "Used"], rows)}`
}

function stateOf(cap: CapState): string {
  const share = `${Math.floor(cap.share * 100)} %`
  const until = cap.liftedUntil === null ? "" : `, lifted until ${describeTime(cap.liftedUntil)}`
  return `${describeAmounts(cap)} (${share}${cap.state === "reached" ? ", reached" : until})`
}

const adviceWhenEmpty =
  "A call is counted when its provider has answered; those of the offline model are not.\nLook further back with --since 400d, or set up a model: svc config set agents.defaults.model <provider/model>"

const titles: Readonly<Record<UsageGroup, string>> = {
  day: "Day",
  model: "Model",
  session: "Session",
  job: "Run",
  agent: "Agent",
  purpose: "Purpose",
}

const headings = ["Calls", "Input", "Output", "Cache read", "Cache write", "Reasoning", "Cost"]

function describeSummary(summary: UsageSummary): string {
  const { by, rows, totals } = summary
  const range = describeRange(summary)
  if (totals.calls === 0) return `no model calls ${range}\n`
  const cells = rows.map((row) => [row.key, ...amounts(row)])
  const table = formatTable([titles[by], ...headings], [...cells, ["Total", ...amounts(totals)]], { numbersFrom: 1 })
  const gaps = describeGaps(totals)
  return `Model calls ${range}\n\n${table}${gaps === "" ? "" : `\n${gaps}`}`
}

function amounts({ calls, input, output, cacheRead, cacheWrite, reasoning, cost }: UsageSums): string[] {
  return [...[calls, input, output, cacheRead, cacheWrite, reasoning].map(formatCount), formatDollars(cost)]
}

function describeRange({ since, until, timeZone }: UsageSummary): string {
  // The Swedish form is year-month-day.
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" })
  return `from ${format.format(since)} to ${format.format(until)}, ${printableLine(timeZone)}`
}

/** What the sums leave out, so that nobody takes them for the whole. */
function describeGaps({ calls, unpriced, uncounted }: UsageSums): string {
  const lines = []
  if (unpriced > 0) lines.push(`The cost of ${formatCount(unpriced)} of ${formatCount(calls)} calls is not known.`)
  if (uncounted > 0) lines.push(`The tokens of ${formatCount(uncounted)} of ${formatCount(calls)} calls are not known.`)
  return lines.map((line) => `${line}\n`).join("")
}
