// Where the configuration names a group, of the channel and of each account, and whether the channel may write there; and
// whether a binding names it.
import { type Config, type ConfigPath, resolveChatappAccount } from "../../../config/index.ts"
import { channelName } from "../settings.ts"

export interface GroupEntry {
  key: ConfigPath
  mayWrite: boolean
}

export function groupEntries(config: Config, chatId: string): GroupEntry[] {
  const { chatapp } = config.channels
  const own = Object.entries(chatapp.accounts).flatMap(([account, { groups }]) =>
    groups && Object.hasOwn(groups, chatId)
      ? [
          {
            key: ["channels", "chatapp", "accounts", account, "groups", chatId],
            mayWrite: resolveChatappAccount(config, account).configWrites,
          },
        ]
      : [],
  )
  if (!chatapp.groups || !Object.hasOwn(chatapp.groups, chatId)) return own
  return [{ key: ["channels", "chatapp", "groups", chatId], mayWrite: chatapp.configWrites }, ...own]
}

/** Whether a binding says which agent answers in this very chat. */
export function isBound({ bindings }: Pick<Config, "bindings">, chatId: string): boolean {
  return bindings.some(({ match: { channel, peer } }) => channel === channelName && peer?.id.split(":")[0] === chatId)
}

export function hasGroup(config: Config, chatId: string): boolean {
  return groupEntries(config, chatId).length > 0
}
