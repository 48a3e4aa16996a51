// `svc audit`: who did what through which door, without contents.
import type { Command } from "commander"
import type { AuditItem, AuditPage } from "../../src/gateway/audit/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { follow } from "../gateway/follow.ts"
import { addExamples, addGatewayOptions, type GatewayOptions, wholeNumber } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

interface AuditOptions extends GatewayOptions {
  since: string
  until?: string
  action?: string
  limit: number
  follow?: true
}

export function addAudit(program: Command, context: CliContext): void {
  const audit = program.command("audit").description("Show who did what through which door")
  addGatewayOptions(audit)
    .option("--since <time>", "from then on: 1h, 7d (the last seven days), 2026-11-01", "1d")
    .option("--until <time>", "up to then (default: now)")
    .option("--action <name>", "only this: token.create, or all that begins with its first word: token")
    .option("--limit <n>", "how many rows", wholeNumber("--limit", 1, 500), 50)
    .option("--follow", "go on with what happens from now on")
    .action(async ({ since, until, action, limit, follow: isFollowed, ...options }: AuditOptions) => {
      const query = { since, until, action, limit }
      const answer = (await connectGateway(context, options).call("GET", "/api/audit", { query })) as AuditPage
      if (options.json) context.output.json(answer)
      else context.output.write(describeAudit(answer.items))
      if (answer.more && !options.json) {
        context.output.note("there are more: narrow the time with --since and --until, or raise --limit (to 500)")
      }
      if (isFollowed)
        await followAudit(context, options, {
          query: { action, limit: followLimit },
          seen: answer.items,
          since: answer.since,
        })
    })
  addExamples(audit, "svc audit", "svc audit --since 1h --action auth.failed", "svc audit --since 90d --action token")
}

const followLimit = 500
/** Of what is asked for again each time: more than a row can wait for being written. */
const followSince = "1h"

interface Following {
  query: { action: string | undefined; limit: number }
  seen: readonly AuditItem[]
  /** Where what was asked for begins: what is older was not wanted. */
  since: number
}

/** A counted row is shown once, when its hour begins. Ends with Ctrl-C. */
async function followAudit(
  context: CliContext,
  options: GatewayOptions,
  { query, seen, since }: Following,
): Promise<void> {
  const call = { query: { ...query, since: followSince } }
  const shownUntil = Math.max(since, ...seen.map((item) => item.lastAt))
  let known = new Set(seen.map(keyOf))
  await follow(context, async () => {
    const { items } = (await connectGateway(context, options).call("GET", "/api/audit", call)) as AuditPage
    const news = items.filter((item) => item.lastAt >= shownUntil && !known.has(keyOf(item)))
    for (const item of news.toReversed()) print(context, options, item)
    known = new Set(items.map(keyOf))
  })
}

function print(context: CliContext, options: GatewayOptions, item: AuditItem): void {
  if (options.json) context.output.json(item)
  else context.output.line(printableLine(cells(item).join("  ")))
}

function keyOf({ at, door, who, action, target, outcome }: AuditItem): string {
  return JSON.stringify([at, door, who.kind, who.id, action, target, outcome])
}

function describeAudit(items: readonly AuditItem[]): string {
  if (items.length === 0) return "nothing in this time\n"
  return formatTable(["Time", "Door", "Who", "Action", "Target", "Outcome", "Count"], items.map(cells))
}

function cells({ lastAt, door, who, action, target, outcome, count }: AuditItem): (string | number)[] {
  return [describeTime(lastAt), door, describeWho(who), action, target || "-", outcome || "-", count]
}

function describeWho({ kind, id, name }: AuditItem["who"]): string {
  if (kind === "token") return `token ${name} (${id})`
  if (kind === "person") return `person ${id}`
  if (kind === "stranger") return `stranger ${id || name}`
  if (kind === "signature") return `signature of ${name}`
  return kind === "cli" ? "svc" : name || kind
}
