// The settings of one chat account, with everything decided: account over channel over `channels.defaults`, `messages`
// and `commands` over the built-in default. Code of the channel looks here and nowhere else.
import type { ChatappAccountOverrides, ChatappConfig } from "../channels/chatapp/config.ts"
import type { Config } from "./schema.ts"

export const defaultAccountId = "default"

interface DraftChunk {
  minChars: number
  maxChars: number
  breakPreference: "paragraph" | "newline" | "sentence"
}

const defaultDraftChunk: DraftChunk = { minChars: 200, maxChars: 800, breakPreference: "paragraph" }
const defaultCoalesce = { minChars: 800, maxChars: 1200, idleMs: 1000 }
/** The outbox ends what has no other end. */
const defaultRetry = { attempts: Number.POSITIVE_INFINITY, minDelayMs: 400, maxDelayMs: 30_000, jitter: 0.1 }
const defaultCapabilities: { inlineButtons: "off" | "dm" | "group" | "all" | "allowlist" } = {
  inlineButtons: "allowlist",
}
const defaultActions = { reactions: true, sendMessage: true, deleteMessage: true, editMessage: true, sticker: false }

/** Ids of all accounts, sorted; `default` alone when the configuration names none. */
export function listChatappAccounts(config: Config): string[] {
  const { accounts, botToken, tokenFile } = config.channels.chatapp
  const named = Object.keys(accounts)
  if (named.length === 0) return [defaultAccountId]
  const hasOwn = botToken !== undefined || tokenFile !== undefined
  return [...new Set(hasOwn ? [defaultAccountId, ...named] : named)].sort()
}

export type ChatappAccountConfig = ReturnType<typeof resolveChatappAccount>

/**
 * Sections such as `retry` and `actions` are merged key by key; `groups`, `dms` and lists of an account replace those of
 * the channel. `botToken` and `tokenFile` are the account's own: only the default account has those of the channel.
 */
export function resolveChatappAccount(config: Config, accountId: string) {
  const { accounts, ...channel } = config.channels.chatapp
  const own: ChatappAccountOverrides = accounts[accountId] ?? {}
  const merged: Omit<ChatappConfig, "accounts"> = fill(channel, own)
  const isDefault = accountId === defaultAccountId
  const { defaults } = config.channels
  return {
    ...merged,
    accountId,
    enabled: channel.enabled && own.enabled !== false,
    botToken: own.botToken ?? (isDefault ? channel.botToken : undefined),
    // A file wins over a token that stands beside it, never over one of the account's own.
    tokenFile: own.tokenFile ?? (isDefault && own.botToken === undefined ? channel.tokenFile : undefined),
    groupPolicy: merged.groupPolicy ?? defaults.groupPolicy ?? "allowlist",
    historyLimit: merged.historyLimit ?? config.messages.groupChat.historyLimit ?? 50,
    capabilities: fill(defaultCapabilities, channel.capabilities, own.capabilities),
    markdown: fill<{ tables: "off" | "bullets" | "code" }>({ tables: "code" }, channel.markdown, own.markdown),
    draftChunk: clampDraftChunk(fill(defaultDraftChunk, channel.draftChunk, own.draftChunk), merged.textChunkLimit),
    blockStreamingCoalesce: fill(defaultCoalesce, channel.blockStreamingCoalesce, own.blockStreamingCoalesce),
    retry: fill(defaultRetry, channel.retry, own.retry),
    network: { autoSelectFamily: own.network?.autoSelectFamily ?? channel.network?.autoSelectFamily },
    actions: fill(defaultActions, channel.actions, own.actions),
    heartbeat: fill(defaults.heartbeat, channel.heartbeat, own.heartbeat),
    commands: {
      native: own.commands?.native ?? channel.commands?.native ?? config.commands.native,
      nativeSkills: own.commands?.nativeSkills ?? channel.commands?.nativeSkills ?? config.commands.nativeSkills,
      text: config.commands.text,
      config: config.commands.config,
      debug: config.commands.debug,
      restart: config.commands.restart,
      useAccessGroups: config.commands.useAccessGroups,
    },
    resetTriggers: config.session.resetTriggers,
    customCommands: merged.customCommands ?? [],
    webhookUrl: ofAccount(own.webhookUrl, channel.webhookUrl, accountId),
    webhookPath: own.webhookPath ?? ofAccount(undefined, channel.webhookPath, accountId) ?? channel.webhookPath,
  }
}

/** Accounts share a listener and are told apart by the path: what an account does not set is the channel's with its id behind. */
function ofAccount(own: string | undefined, channel: string | undefined, accountId: string): string | undefined {
  if (own !== undefined || channel === undefined || accountId === defaultAccountId) return own ?? channel
  if (channel.startsWith("/")) return `${channel.replace(/\/$/, "")}/${accountId}`
  const url = new URL(channel)
  if (url.pathname !== "/") url.pathname = `${url.pathname.replace(/\/$/, "")}/${accountId}`
  return url.href
}

/** Pieces of a draft can be no longer than a message. */
function clampDraftChunk(chunk: DraftChunk, limit: number): DraftChunk {
  const maxChars = Math.min(chunk.maxChars, limit)
  return { ...chunk, maxChars, minChars: Math.min(chunk.minChars, maxChars) }
}

type Overrides<T> = { [Key in keyof T]?: T[Key] | undefined } | undefined

/** The defaults with what the overrides say, the last that says anything winning. */
function fill<T extends object>(defaults: T, ...overrides: Overrides<T>[]): T {
  return Object.assign({}, defaults, ...overrides.map((override) => withoutUndefined(override ?? {}))) as T
}

function withoutUndefined<T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}
