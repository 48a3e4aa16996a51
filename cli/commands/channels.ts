// `svc channels ...`: each account of each chat platform, with --probe also what the platform says, who would be heard
// where, and the ids that listed @names are pinned to.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { explainFromFile as ExplainFromFile } from "../../src/channels/cli.ts"
import type { AccessExplanation, ChannelAccountStatus } from "../../src/channels/contract.ts"
import { AppError, type ErrorCode, errorTable } from "../../src/kernel/errors.ts"
import { type CliContext, siblingProgram, stateFolder } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeDuration } from "../time.ts"
import { addUpdates } from "./channel-updates.ts"

// The platform may be slow, and several accounts are asked.
const probeTimeoutMs = 30_000

export function addChannels(program: Command, context: CliContext): void {
  const channels = program.command("channels").description("Show the connections to chat platforms")
  addStatus(channels, context)
  addExplain(channels, context)
  addUnpin(channels, context)
  addUpdates(channels, context)
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

interface ExplainOptions extends GatewayOptions {
  chat: string
  user?: string
  username?: string
  topic?: string
  account?: string
  channelPost?: true
}

function addExplain(channels: Command, context: CliContext): void {
  const explain = channels
    .command("explain")
    .description("Show whether a sender would be heard in a chat, by which rule, and which key to change")
    .argument("<channel>", "such as chatapp")
  addGatewayOptions(explain)
    .requiredOption("--chat <id>", "id of the chat; groups and channels have negative ids")
    .option("--user <id>", "id of the sender; left out, the chat itself speaks")
    .option("--username <name>", "the sender's @name, where a list holds names")
    .option("--topic <id>", "topic of a forum; the general topic is 1")
    .option("--account <id>", "account of the channel, when there are several")
    .option("--channel-post", "the chat is a channel and the message a post of it")
    .action(async (channel: string, options: ExplainOptions) => {
      const answer = await askGateway(context, channel, options)
      const explanation = answer ?? (await askFile(context, channel, options))
      if (options.json) return context.output.json(explanation)
      context.output.write(describeExplanation(explanation))
    })
  addExamples(
    explain,
    "svc channels explain chatapp --chat 123456789",
    "svc channels explain chatapp --chat -1001234567890 --user 123456789 --topic 5",
  )
}

/** Undefined when no gateway runs. */
async function askGateway(
  context: CliContext,
  channel: string,
  options: ExplainOptions,
): Promise<AccessExplanation | undefined> {
  const { chat, user, username, topic, account, channelPost } = options
  const query = { chat, user, username, topic, account, channelPost }
  const path = `/api/channels/${encodeURIComponent(channel)}/explain`
  try {
    return (await connectGateway(context, options).call("GET", path, { query })) as AccessExplanation
  } catch (error) {
    if (error instanceof AppError && error.code === "gateway-unreachable") return undefined
    throw error
  }
}

async function askFile(context: CliContext, channel: string, options: ExplainOptions): Promise<AccessExplanation> {
  const program = siblingProgram(context, "channel-commands.mjs", "src/channels/cli.ts")
  const { explainFromFile } = (await import(pathToFileURL(program).href)) as {
    explainFromFile: typeof ExplainFromFile
  }
  const { chat, user, username, topic, account, channelPost } = options
  const variables = { ...context.environment, SVC_STATE_DIR: stateFolder(context, options.stateDir) }
  try {
    return explainFromFile(variables, channel, {
      chat,
      ...(user === undefined ? {} : { user }),
      ...(username === undefined ? {} : { username }),
      ...(topic === undefined ? {} : { topic }),
      ...(account === undefined ? {} : { account }),
      ...(channelPost ? { isChannelPost: true } : {}),
    })
  } catch (error) {
    throw ownError(error)
  }
}

/** That program is a file of its own, and so are its error classes. */
function ownError(error: unknown): unknown {
  const { code, message, hint } = error as { code?: unknown; message?: unknown; hint?: unknown }
  if (typeof code !== "string" || !(code in errorTable)) return error
  return new AppError(
    code as ErrorCode,
    String(message),
    typeof hint === "string" ? { hint, cause: error } : { cause: error },
  )
}

const outcomes = { accept: "accepted", pair: "asked to pair", drop: "dropped" } as const

function describeExplanation(explanation: AccessExplanation): string {
  const { outcome, rule, reason, key, origin, trusted, mention, steps, notes } = explanation
  const lines = [
    `${outcomes[outcome] ?? outcome} (${rule}): ${reason}`,
    ...(key === undefined ? [] : [`${outcome === "drop" ? "change" : "by"}: ${key}`]),
    ...(origin === undefined ? [] : [`counts as: ${origin}, ${trusted ? "trusted" : "not trusted"}`]),
    ...(mention ? [`answered: ${mention.isRequired ? "when the bot is called" : "always"} (${mention.by})`] : []),
    `rules: ${steps.map((step) => (step.outcome === "passed" ? step.rule : `${step.rule} -> ${step.outcome}`)).join(", ")}`,
    ...notes.map((note) => `note: ${note}`),
  ]
  return `${lines.map(printableLine).join("\n")}\n`
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
  const headings = [
    "Channel",
    "Account",
    "State",
    "Mode",
    "Token",
    "Bot",
    "Polled",
    "Last in",
    "Last out",
    "In doubt",
    "Problem",
  ]
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
    account.uncertain ? String(account.uncertain) : undefined,
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
