// One account's settings in the form that the hot paths need, made once per configuration and not per message.
import {
  type ChatappAccountConfig,
  type Config,
  defaultAccountId,
  listChatappAccounts,
  resolveChatappAccount,
} from "../../config/index.ts"
import { directKey, guestKey } from "../../sessions/keys.ts"
import { type Envelope, createEnvelope } from "./inbound/envelope.ts"
import { type BoundPlace, boundAgent } from "../bindings.ts"
import { type QueueSettings, configuredQueue } from "../queue.ts"
import { type MentionPatterns, compileMentions } from "../mentions.ts"
import { type AllowList, type GroupBook, createGroupBook, parseAllowList } from "../access.ts"

export const channelName = "chatapp"

/** Written in front of ids by people who copy them from logs and other tools. */
export const idPrefixes = ["chatapp:", "telegram:", "tg:"]

/** The platform takes 4096 characters; a larger limit in the configuration would only be refused. */
export const maxTextChars = 4096

export interface AccountSettings extends ChatappAccountConfig {
  allow: AllowList
  groupAllow: AllowList
  groupBook: GroupBook
  /** By which words an agent is called. */
  mentionsOf(agentId: string): MentionPatterns
  /** Every @name of any list, lower-case, without the `@`. */
  listedNames: ReadonlySet<string>
  /** Every id of any list of people. */
  listedIds: ReadonlySet<string>
  envelope: Envelope
  /** The agent that `bindings` name for a chat; undefined: the default one. */
  boundAgent(place: Pick<BoundPlace, "chatKind" | "chatId" | "topicId">): string | undefined
  /** What becomes of messages that come while a turn runs, where their session does not say. */
  queue: QueueSettings
  /** The session of a direct chat. */
  directSession(agentId: string, chatId: string): string
  /** The session of somebody who is heard but not trusted: never one that holds the words of others. */
  guestSession(agentId: string, chatId: string): string
  /** Every conversation of people of standing is the agent's main session. */
  isOneSession: boolean
  /** How long short messages of one person are waited for; 0: not at all. */
  debounceMs: number
}

export interface Settings {
  account(accountId: string): AccountSettings
  accounts(): string[]
}

/** Reads the live configuration; what is derived from it is kept until the configuration object changes. */
export function createSettings(config: () => Config): Settings {
  let source: Config | undefined
  let derived = new Map<string, AccountSettings>()
  const refresh = (): Config => {
    const current = config()
    if (current !== source) {
      source = current
      derived = new Map()
    }
    return current
  }
  return {
    account(accountId) {
      const current = refresh()
      let settings = derived.get(accountId)
      if (!settings) {
        settings = derive(resolveChatappAccount(current, accountId), current)
        derived.set(accountId, settings)
      }
      return settings
    },
    accounts: () => listChatappAccounts(refresh()),
  }
}

function derive(account: ChatappAccountConfig, config: Config): AccountSettings {
  const { inbound } = config.messages
  const listed = parseAllowList(allLists(account), idPrefixes)
  return {
    ...account,
    envelope: createEnvelope(config),
    boundAgent: (place) => boundAgent(config.bindings, { channel: channelName, account: account.accountId, ...place }),
    queue: configuredQueue(config, channelName),
    directSession: (agentId, chatId) =>
      directKey(agentId, { channel: channelName, account: account.accountId, chatId }, config.session),
    guestSession: (agentId, chatId) => guestKey(agentId, { channel: channelName, account: account.accountId, chatId }),
    isOneSession: config.session.scope === "global",
    debounceMs: inbound.byChannel[channelName] ?? inbound.debounceMs,
    textChunkLimit: Math.min(account.textChunkLimit, maxTextChars),
    allow: parseAllowList(account.allowFrom, idPrefixes),
    groupAllow: parseAllowList(account.groupAllowFrom ?? [], idPrefixes),
    groupBook: createGroupBook(account.groups, idPrefixes),
    mentionsOf: mentionsByAgent(config),
    listedNames: listed.names,
    listedIds: listed.ids,
  }
}

/** An agent's own patterns, else those for all, else its name and emoji. */
function mentionsByAgent({ agents, messages }: Config) {
  const compiled = new Map<string, MentionPatterns>()
  return (agentId: string): MentionPatterns => {
    let patterns = compiled.get(agentId)
    if (!patterns) {
      const agent = agents.list.find((entry) => entry.id === agentId)
      const { identity, name, groupChat } = agent ?? {}
      const words = {
        patterns: groupChat?.mentionPatterns ?? messages.groupChat.mentionPatterns,
        name: identity?.name ?? name,
        emoji: identity?.emoji,
      }
      patterns = compileMentions(words)
      compiled.set(agentId, patterns)
    }
    return patterns
  }
}

function allLists({ allowFrom, groupAllowFrom, groups }: ChatappAccountConfig): string[] {
  const ofGroups = Object.values(groups ?? {}).flatMap((group) => [
    ...(group.allowFrom ?? []),
    ...Object.values(group.topics ?? {}).flatMap((topic) => topic.allowFrom ?? []),
  ])
  return [...allowFrom, ...(groupAllowFrom ?? []), ...ofGroups]
}

/** The account that is meant where none is named. */
export function mainAccount(configured: readonly string[]): string {
  return configured.includes(defaultAccountId) ? defaultAccountId : (configured[0] ?? defaultAccountId)
}
