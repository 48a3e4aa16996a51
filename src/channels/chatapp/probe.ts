// Asks the platform whether an account works and whether what the configuration wants of groups can work, for
// `svc channels status --probe`. Bounded: a person is waiting.
import type { Clock } from "../../kernel/index.ts"
import type { ChannelProbe, ChannelWarning } from "../contract.ts"
import type { Client } from "./client.ts"
import { describeFailure } from "./failure.ts"
import type { AccountSettings } from "./settings.ts"

const probeTimeoutMs = 2_500
/** Groups that are asked about; more would try the person's patience and the platform's. */
const maxGroups = 50

export interface ProbeOptions {
  client: Client
  settings: AccountSettings
  /** The bot's own id, for asking where it is a member. */
  botId: string
  clock: Clock
  signal: AbortSignal
}

export async function probe(options: ProbeOptions): Promise<ChannelProbe> {
  const { client, clock, signal, settings } = options
  const startedAt = clock.monotonic()
  const limits = { timeoutMs: probeTimeoutMs, signal }
  const [me, webhook] = await Promise.all([client.call("getMe", {}, limits), client.call("getWebhookInfo", {}, limits)])
  const elapsedMs = Math.round(clock.monotonic() - startedAt)
  const failure = me.ok ? (webhook.ok ? undefined : webhook.failure) : me.failure
  const groups = failure === undefined ? await auditGroups(options) : []
  const bot = me.ok ? describeBot(me.value) : undefined
  return {
    ok: failure === undefined,
    elapsedMs,
    ...(failure === undefined ? {} : { error: describeFailure(failure) }),
    ...(bot === undefined ? {} : { bot }),
    ...(webhook.ok && webhook.value.url ? { webhook: describeWebhook(webhook.value) } : {}),
    ...(groups.length === 0 ? {} : { groups }),
    warnings: warnings(settings, bot, groups),
  }
}

function describeBot(me: {
  id: number
  username?: string
  can_join_groups?: boolean
  can_read_all_group_messages?: boolean
}): NonNullable<ChannelProbe["bot"]> {
  return {
    id: String(me.id),
    ...(me.username === undefined ? {} : { name: me.username }),
    canJoinGroups: me.can_join_groups === true,
    canReadAllGroupMessages: me.can_read_all_group_messages === true,
  }
}

function describeWebhook(info: {
  url?: string
  pending_update_count: number
  last_error_date?: number
  last_error_message?: string
}): NonNullable<ChannelProbe["webhook"]> {
  return {
    url: info.url ?? "",
    pending: info.pending_update_count,
    ...(info.last_error_date === undefined ? {} : { lastErrorAt: info.last_error_date * 1000 }),
    ...(info.last_error_message === undefined ? {} : { lastError: info.last_error_message }),
  }
}

type Audit = NonNullable<ChannelProbe["groups"]>

/** The groups whose messages the bot is to hear without a mention: it hears them only as a member. */
async function auditGroups({ client, settings, botId, signal }: ProbeOptions): Promise<Audit> {
  const ids = unmentionedGroups(settings).filter(isNumericId).slice(0, maxGroups)
  return await Promise.all(
    ids.map(async (id) => {
      const limits = { timeoutMs: probeTimeoutMs, signal }
      const member = await client.call("getChatMember", { chat_id: Number(id), user_id: Number(botId) }, limits)
      if (!member.ok) return { id, ok: false, status: describeFailure(member.failure) }
      const { status } = member.value
      return { id, ok: ["creator", "administrator", "member"].includes(status), status }
    }),
  )
}

function unmentionedGroups({ groups = {} }: AccountSettings): string[] {
  const usual = groups["*"]?.requireMention
  return Object.entries(groups)
    .filter(([, group]) => group.enabled !== false && (group.requireMention ?? usual) === false)
    .map(([id]) => id)
}

function warnings(settings: AccountSettings, bot: ChannelProbe["bot"], groups: Audit): ChannelWarning[] {
  const found: ChannelWarning[] = []
  const unmentioned = unmentionedGroups(settings)
  const isAdministrator = groups.length > 0 && groups.every(({ status }) => status === "administrator")
  if (unmentioned.length > 0 && bot && !bot.canReadAllGroupMessages && !isAdministrator) {
    found.push({
      problem:
        "requireMention is false, but the bot's privacy mode is on: it hears only mentions, replies and commands",
      fix: "Switch privacy mode off (@BotFather: /setprivacy), then remove the bot from each group and add it again; or make it an administrator",
    })
  }
  if (unmentioned.includes("*")) {
    found.push({
      problem: 'groups["*"] has requireMention false: every message in every group that adds the bot is for the agent',
      fix: "List the groups that you mean by their numeric ids",
    })
  }
  if (bot?.name !== undefined && settings.listedNames.has(bot.name.toLowerCase())) {
    found.push({
      problem: `an allow list names @${bot.name}, which is the bot itself: that lets nobody in`,
      fix: "List the people who may write, by their numeric ids (/whoami shows one)",
    })
  }
  for (const id of Object.keys(settings.groups ?? {})) {
    if (id === "*" || isNumericId(id)) continue
    found.push({
      problem: `groups[${JSON.stringify(id)}] is not a numeric id: it matches no group`,
      fix: "Use the chat's id, such as -1001234567890; it stands in the log when a message of the group is skipped",
    })
  }
  for (const { id, ok, status } of groups) {
    if (ok) continue
    found.push({
      problem: `the bot is not in group ${id} (${status})`,
      fix: "Add the bot to the group, or remove the group",
    })
  }
  return found
}

function isNumericId(id: string): boolean {
  return /^-?\d+$/.test(id)
}
