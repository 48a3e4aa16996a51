// Letting people in, as the gateway's API asks for it: who waits, who was let in and with whom they share a conversation;
// an owner is written to the configuration, where the spec has owners.
import type { Decided, Pairing } from "../channels/index.ts"
import {
  type ConfigPath,
  configInvalid,
  listChatappAccounts,
  resolveChatappAccount,
  setConfigValue,
} from "../config/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import type { Core } from "./core.ts"

type PairingActions = Pick<GatewayActions, "listPairing" | "approvePairing" | "denyPairing" | "revokePairing">

export function createPairingActions(core: Core, pairing: Pairing): PairingActions {
  return {
    async listPairing({ channel, account }) {
      const { requests, approved } = pairing.list(channel, account)
      const allowed = approved.map((sender) => ({ ...sender, isOwner: isOwner(core, sender) }))
      return { requests, allowed, shared: [...sharers(core, pairing, channel)] }
    },
    async approvePairing({ channel, code, account, notify, owner, by }) {
      const before = sharers(core, pairing, channel)
      const approval = await pairing.approve(channel, code, account, {
        notify: notify ?? true,
        ...(by === undefined ? {} : { by }),
        ...(owner ? { makeOwner: (sender: Decided) => makeOwner(core, sender) } : {}),
      })
      before.delete(approval.senderId)
      return { ...approval, isOwner: isOwner(core, approval), sharesWith: before.size }
    },
    denyPairing: ({ channel, code, account, notify }) =>
      pairing.deny(channel, code, account, { notify: notify ?? false }),
    async revokePairing({ channel, senderId, account }) {
      await pairing.revoke(channel, senderId, account)
      const accounts = account === undefined ? listChatappAccounts(core.config()) : [account]
      const still = accounts.filter((each) => isOwner(core, { account: each, senderId: senderId.trim() }))
      return { removed: true, listedIn: [...new Set(still.map((each) => ownersKey(core, each).join(".")))] }
    },
  }
}

function isOwner(core: Core, { account, senderId }: { account: string; senderId: string }): boolean {
  return idsOf(core, account).has(senderId)
}

function idsOf(core: Core, account: string): Set<string> {
  return new Set(resolveChatappAccount(core.config(), account).allowFrom.map(plainEntry).filter(isId))
}

/** Without the platform's name before it. */
export function plainEntry(entry: string): string {
  return entry.trim().replace(/^(?:chatapp|telegram|tg):/i, "")
}

const isId = (entry: string) => /^-?\d+$/.test(entry)

/** Ids of the people whose direct chats are one conversation; empty where each has one of their own. */
function sharers(core: Core, pairing: Pairing, channel: string): Set<string> {
  const config = core.config()
  if (config.session.dmScope !== "main" && config.session.scope !== "global") return new Set()
  const listed = listChatappAccounts(config).flatMap((account) => [...idsOf(core, account)])
  return new Set([...pairing.list(channel).approved.map(({ senderId }) => senderId), ...listed])
}

/** Where owners of an account are listed: an account with a list of its own has that instead of the channel's. */
export function ownersKey(core: Core, account: string): ConfigPath {
  const isOwn = core.config().channels.chatapp.accounts[account]?.allowFrom !== undefined
  return ["channels", "chatapp", ...(isOwn ? ["accounts", account] : []), "allowFrom"]
}

/** Added behind what the list holds, so that placeholders and comments in it stay. In use when it returns. */
function makeOwner(core: Core, sender: Decided): void {
  if (isOwner(core, sender)) return
  const { configPath: path, variables: env } = core.environment
  const key = ownersKey(core, sender.account)
  const length = resolveChatappAccount(core.config(), sender.account).allowFrom.length
  const result = setConfigValue({ path, env, key: [...key, length], value: sender.senderId })
  if (result.kind === "invalid") throw configInvalid(path, result.issues)
  if (core.config().gateway.reload.mode !== "off") core.holder.reload()
}
