// Letting people in, as the gateway's API asks for it: who waits, who was let in and with whom they share a conversation;
// an owner is written to the configuration, where the spec has owners.
import { type Decided, type Pairing, boundAgent } from "../channels/index.ts"
import {
  type Config,
  type ConfigPath,
  configInvalid,
  listChatappAccounts,
  resolveChatappAccount,
  setConfigValue,
} from "../config/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { directKey } from "../sessions/index.ts"
import type { Core } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"
import { onDisk } from "./settings.ts"

type PairingActions = Pick<GatewayActions, "listPairing" | "approvePairing" | "denyPairing" | "revokePairing">

export function createPairingActions(core: Core, pairing: Pairing): PairingActions {
  return {
    async listPairing({ channel, account }) {
      const { requests, approved } = pairing.list(channel, account)
      const allowed = approved.map((sender) => ({ ...sender, isOwner: isOwner(core, sender) }))
      const { othersOf, shared } = conversations(core, pairing, channel)
      const waiting = requests.map((request) => ({ ...request, sharesWith: othersOf(request) }))
      return { requests: waiting, allowed, shared: shared() }
    },
    async approvePairing({ channel, code, account, notify, owner, by }) {
      const approval = await pairing.approve(channel, code, account, {
        notify: notify ?? true,
        ...(by === undefined ? {} : { by }),
        ...(owner ? { makeOwner: (sender: Decided) => makeOwner(core, sender) } : {}),
      })
      const { othersOf } = conversations(core, pairing, channel)
      return { ...approval, isOwner: isOwner(core, approval), sharesWith: othersOf(approval) }
    },
    denyPairing: ({ channel, code, account, notify }) =>
      pairing.deny(channel, code, account, { notify: notify ?? false }),
    async revokePairing({ channel, senderId, account }) {
      await pairing.revoke(channel, senderId, account)
      const accounts = account === undefined ? listChatappAccounts(core.config()) : [account]
      const still = accounts.filter((each) => isOwner(core, { account: each, senderId: senderId.trim() }))
      return { removed: true, listedIn: [...new Set(still.map((each) => ownersKey(core.config(), each).join(".")))] }
    },
  }
}

function isOwner(core: Core, { account, senderId }: { account: string; senderId: string }): boolean {
  return idsOf(core.config(), account).has(senderId)
}

function idsOf(config: Config, account: string): Set<string> {
  return new Set(resolveChatappAccount(config, account).allowFrom.map(plainEntry).filter(isId))
}

/** Without the platform's name before it. */
export function plainEntry(entry: string): string {
  return entry.trim().replace(/^(?:chatapp|telegram|tg):/i, "")
}

const isId = (entry: string) => /^-?\d+$/.test(entry)

interface Person {
  senderId: string
  account: string
}

/** People by the conversation that their direct chats are, as bindings and `session.dmScope` have it. */
function conversations(core: Core, pairing: Pairing, channel: string) {
  const config = core.config()
  const keyOf = ({ senderId: chatId, account }: Person): string => {
    if (config.session.scope === "global") return "global"
    const place = { channel, account, chatId }
    const agentId = boundAgent(config.bindings, { ...place, chatKind: "private" }) ?? mainAgentId(config)
    return directKey(agentId, place, config.session)
  }
  const listed = listChatappAccounts(config).flatMap((account) =>
    [...idsOf(config, account)].map((senderId) => ({ senderId, account })),
  )
  const people = new Map<string, Set<string>>()
  for (const person of [...pairing.list(channel).approved, ...listed]) {
    const key = keyOf(person)
    people.set(key, (people.get(key) ?? new Set()).add(person.senderId))
  }
  return {
    /** How many others are in the one that this person has or would have. */
    othersOf(person: Person): number {
      const all = people.get(keyOf(person)) ?? new Set()
      return all.size - (all.has(person.senderId) ? 1 : 0)
    },
    /** Ids of those who share one with somebody. */
    shared: () => [...new Set([...people.values()].filter(({ size }) => size > 1).flatMap((ids) => [...ids]))],
  }
}

/** Where owners of an account are listed: an account with a list of its own has that instead of the channel's. */
export function ownersKey(config: Config, account: string): ConfigPath {
  const isOwn = config.channels.chatapp.accounts[account]?.allowFrom !== undefined
  return ["channels", "chatapp", ...(isOwn ? ["accounts", account] : []), "allowFrom"]
}

/**
 * Added behind what the list holds, so that placeholders and comments in it stay. In use when it returns. What the file says
 * counts: what is in use may be older, and a place that is free there is somebody's in the file.
 */
function makeOwner(core: Core, { account, senderId }: Decided): void {
  const { config } = onDisk(core)
  if (idsOf(config, account).has(senderId)) return
  const { configPath: path, variables: env } = core.environment
  const key = ownersKey(config, account)
  const { length } = resolveChatappAccount(config, account).allowFrom
  const result = setConfigValue({ path, env, key: [...key, length], value: senderId })
  if (result.kind === "invalid") throw configInvalid(path, result.issues)
  if (core.config().gateway.reload.mode !== "off") core.holder.reload()
}
