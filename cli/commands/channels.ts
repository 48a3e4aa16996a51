// `svc channels ...`: each account of each chat platform, with --probe also what the platform says, and the ids that
// listed @names are pinned to.
import type { Command } from "commander"
import type { ChannelAccountStatus } from "../../src/channels/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../terminal-text.ts"
import { describeDuration } from "../time.ts"

// The platform may be slow, and several accounts are asked.
const probeTimeoutMs = 30_000

export function addChannels(program: Command, context: CliContext): void {
  const channels = program.command("channels").description("Show the connections to chat platforms")
  addStatus(channels, context)
  addUnpin(channels, context)
  addExamples(channels, "svc channels status", "svc channels status --probe")
}

function addStatus(channels: Command, context: CliContext): void {
  const status = channels.command("status").description("Show each account and whether it runs")
  addGatewayOptions(status)
    .option("--probe", "ask each platform whether it answers")
    .action(async (options: GatewayOptions & { probe?: true }, command: Command) => {
      const usual = command.getOptionValueSource("timeout") === "default"
      const answer = await connectGateway(context, options).call("GET", "/api/channels", {
        query: { probe: options.probe },
        ...(options.probe && usual ? { timeoutMs: probeTimeoutMs } : {}),
      })
      if (options.json) return context.output.json(answer)
      const accounts = readItems<ChannelAccountStatus>(answer, "channels")
      if (accounts.length === 0) return context.output.line("no channel is configured")
      context.output.write(describeAccounts(accounts, options.probe === true, Date.now()))
    })
  addExamples(status, "svc channels status --probe")
}

function addUnpin(channels: Command, context: CliContext): void {
  const unpin = channels
    .command("unpin")
    .description("Let a listed @name mean whoever writes under it next")
    .argument("<channel>", "such as chatapp")
    .argument("<name>", "the @name, as in: svc channels status --json")
  addGatewayOptions(unpin)
    .option("--account <id>", "of this account only")
    .action(async (channel: string, name: string, options: GatewayOptions & { account?: string }) => {
      const path = `/api/channels/${encodeURIComponent(channel)}/unpin`
      const body = { name, account: options.account }
      const answer = await connectGateway(context, options).call("POST", path, { body })
      if (options.json) return context.output.json(answer)
      const accounts = readItems<string>(answer, "accounts")
      context.output.line(`unpinned ${printableLine(name)} (${printableLine(accounts.join(", "))})`)
    })
  addExamples(unpin, "svc channels unpin chatapp @ann")
}

function describeAccounts(accounts: readonly ChannelAccountStatus[], probed: boolean, now: number): string {
  const headings = ["Channel", "Account", "State", "Mode", "Token", "Bot", "Polled", "Last in", "Last out", "Problem"]
  const rows = accounts.map((account) => [
    account.channel,
    account.name === undefined ? account.account : `${account.account} (${account.name})`,
    account.state,
    account.mode,
    account.tokenSource,
    describeBot(account),
    describeAge(account.lastPollAt, now),
    describeAge(account.lastInboundAt, now),
    describeAge(account.lastOutboundAt, now),
    describeProblem(account),
    ...(probed ? [describeProbe(account.probe)] : []),
  ])
  const table = formatTable(probed ? [...headings, "Probe"] : headings, rows)
  return table + describeWarnings(accounts)
}

function describeBot({ botName, probe }: ChannelAccountStatus): string | undefined {
  const name = botName ?? probe?.bot?.name
  return name === undefined ? undefined : `@${name}`
}

function describeAge(time: number | undefined, now: number): string {
  return time === undefined ? "-" : `${describeDuration(now - time)} ago`
}

function describeProblem({ error, webhook, probe }: ChannelAccountStatus): string | undefined {
  const said = probe?.webhook?.lastError ?? webhook?.lastError
  return error ?? (said === undefined ? undefined : `webhook: ${said}`)
}

function describeProbe(probe: ChannelAccountStatus["probe"]): string {
  if (!probe) return "-"
  if (!probe.ok) return `failed: ${probe.error ?? "no reason given"}`
  const groups = probe.groups ?? []
  const missing = groups.filter(({ ok }) => !ok).length
  const audit =
    groups.length === 0 ? "" : missing === 0 ? ", groups ok" : `, ${missing} of ${groups.length} groups failed`
  return `works, ${probe.elapsedMs} ms${audit}`
}

function describeWarnings(accounts: readonly ChannelAccountStatus[]): string {
  const lines = accounts.flatMap(({ channel, account, probe }) =>
    (probe?.warnings ?? []).flatMap(({ problem, fix }) => [`- ${channel} ${account}: ${problem}`, `  fix: ${fix}`]),
  )
  return lines.length === 0 ? "" : `\nWarnings:\n${lines.map((line) => `${printableLine(line)}\n`).join("")}`
}
