// `svc channels status`: each account of each chat platform, and with --probe whether the platform answers.
import type { Command } from "commander"
import type { ChannelAccountStatus } from "../../src/channels/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { describeTime } from "../time.ts"

// The platform may be slow, and several accounts are asked.
const probeTimeoutMs = 30_000

export function addChannels(program: Command, context: CliContext): void {
  const channels = program.command("channels").description("Show the connections to chat platforms")
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
      context.output.write(describeAccounts(accounts, options.probe === true))
    })
  addExamples(status, "svc channels status --probe")
  addExamples(channels, "svc channels status")
}

function describeAccounts(accounts: readonly ChannelAccountStatus[], probed: boolean): string {
  const headings = ["Channel", "Account", "State", "Mode", "Token", "Bot", "Last in", "Last out", "Problem"]
  const rows = accounts.map((account) => [
    account.channel,
    account.account,
    account.state,
    account.mode,
    account.tokenSource,
    account.botName ?? account.probe?.botName,
    describeTime(account.lastInboundAt),
    describeTime(account.lastOutboundAt),
    account.error,
    ...(probed ? [describeProbe(account.probe)] : []),
  ])
  return formatTable(probed ? [...headings, "Probe"] : headings, rows)
}

function describeProbe(probe: ChannelAccountStatus["probe"]): string {
  if (!probe) return "-"
  return probe.ok ? `answered in ${probe.elapsedMs} ms` : `failed: ${probe.error ?? "no reason given"}`
}
