// Everybody who may write to the agent, of all channels: who asks, who was let in, owners, and the groups that there are
// with what somebody unknown meets in each.
import type { Approvals } from "../approvals/index.ts"
import { type Channel, type Pairing, type PairingList, readMemberships } from "../channels/index.ts"
import { type Config, formatConfigPath, listChatappAccounts, resolveChatappAccount } from "../config/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import type { Core } from "./core.ts"
import { ownersKey, plainEntry } from "./pairing.ts"

type People = Awaited<ReturnType<GatewayActions["listPeople"]>>

interface PeopleParts {
  channels: () => ReadonlyMap<string, Channel>
  pairing: Pairing
  listPairing: GatewayActions["listPairing"]
}

/** The one channel whose people the configuration lists. */
const chatapp = "chatapp"
const statusTimeoutMs = 2_000
/** Of nobody: what is asked with it no list answers. */
const nobody = "1"

export async function listPeople(core: Core, parts: PeopleParts): Promise<People> {
  const channel = parts.channels().get(chatapp)
  if (!channel) return { accounts: [], requests: [], allowed: [], owners: [], groups: [], shared: [] }
  const config = core.config()
  const { requests, allowed, shared } = await parts.listPairing({ channel: chatapp })
  const accounts = listChatappAccounts(config)
  const statuses = await channel.status({ probe: false, signal: AbortSignal.timeout(statusTimeoutMs) })
  const pins = new Map(
    statuses.flatMap(({ account, pins: own }) => own.map(({ name, id }) => [`${account} ${name}`, id] as const)),
  )
  const own = { channel: chatapp }
  return {
    accounts: accounts.map((account) => ({ ...own, account })),
    requests: requests.map((request) => ({ ...own, ...request })),
    allowed: allowed.map((person) => ({ ...own, ...person })),
    owners: accounts.flatMap((account) => ownersOf(core, account, { pins, allowed })),
    groups: groupsOf(core, config, channel),
    shared,
  }
}

interface KnownPeople {
  pins: ReadonlyMap<string, string>
  allowed: readonly Pick<PairingList["approved"][number], "account" | "senderId" | "label">[]
}

function ownersOf(core: Core, account: string, { pins, allowed }: KnownPeople): People["owners"] {
  const key = formatConfigPath(ownersKey(core.config(), account))
  return resolveChatappAccount(core.config(), account).allowFrom.map((written) => {
    const entry = plainEntry(written)
    const senderId = /^-?\d+$/.test(entry)
      ? entry
      : (pins.get(`${account} ${entry.replace(/^@/, "").toLowerCase()}`) ?? null)
    const paired = allowed.find((person) => person.account === account && person.senderId === senderId)
    return { channel: chatapp, account, entry, senderId, label: paired?.label ?? null, key }
  })
}

function groupsOf({ store }: Core, config: Config, channel: Channel): People["groups"] {
  const members = readMemberships(store, chatapp)
  return listChatappAccounts(config).flatMap((account) => {
    const own = members.filter((row) => row.account === account)
    const listed = Object.keys(resolveChatappAccount(config, account).groups ?? {}).map(plainEntry)
    const ids = new Set([...own.map(({ chatId }) => chatId), ...listed].filter((id) => /^-\d+$/.test(id)))
    return [...ids].sort().map((chatId) => {
      const { outcome, reason, key, mention } = channel.explain({ account, chat: chatId, user: nobody })
      return {
        channel: chatapp,
        account,
        chatId,
        isMember: own.some((row) => row.chatId === chatId && row.isMember),
        stranger: { outcome, reason, ...(key === undefined ? {} : { key }), ...(mention ? { mention } : {}) },
      }
    })
  })
}

/** More questions are never open. */
const mostAsked = 100

export function countWaiting({ channels, pairing, agent }: Pick<PeopleParts, "channels" | "pairing"> & Approving) {
  const { approvals } = agent.approvals.list({ state: "asked", limit: mostAsked })
  return {
    approvals: approvals.filter(({ state }) => state === "asked").length,
    pairing: channels().has(chatapp) ? pairing.list(chatapp).requests.length : 0,
  }
}

interface Approving {
  agent: { approvals: Pick<Approvals, "list"> }
}
