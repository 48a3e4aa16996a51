// One account's settings in the form that the hot paths need, made once per configuration and not per message.
import {
  type ChatappAccountConfig,
  type Config,
  listChatappAccounts,
  resolveChatappAccount,
} from "../../config/index.ts"
import { type Envelope, createEnvelope } from "./inbound/envelope.ts"
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
  /** Every @name of any list, lower-case, without the `@`. */
  listedNames: ReadonlySet<string>
  envelope: Envelope
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
  return {
    ...account,
    envelope: createEnvelope(config),
    debounceMs: inbound.byChannel[channelName] ?? inbound.debounceMs,
    textChunkLimit: Math.min(account.textChunkLimit, maxTextChars),
    allow: parseAllowList(account.allowFrom, idPrefixes),
    groupAllow: parseAllowList(account.groupAllowFrom ?? [], idPrefixes),
    groupBook: createGroupBook(account.groups, idPrefixes),
    listedNames: parseAllowList(allLists(account), idPrefixes).names,
  }
}

function allLists({ allowFrom, groupAllowFrom, groups }: ChatappAccountConfig): string[] {
  const ofGroups = Object.values(groups ?? {}).flatMap((group) => [
    ...(group.allowFrom ?? []),
    ...Object.values(group.topics ?? {}).flatMap((topic) => topic.allowFrom ?? []),
  ])
  return [...allowFrom, ...(groupAllowFrom ?? []), ...ofGroups]
}
