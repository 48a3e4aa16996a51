// Which agent answers where: account, chat and topic -> agent, by `bindings` of the configuration.
import type { BindingsConfig } from "./config.ts"

export interface BoundPlace {
  channel: string
  account: string
  chatKind: "private" | "group" | "supergroup" | "channel"
  chatId: string
  topicId?: string | undefined
}

/** Undefined: the default agent. */
export function boundAgent(bindings: BindingsConfig, place: BoundPlace): string | undefined {
  let best: { agentId: string; rank: number } | undefined
  for (const { agentId, match } of bindings) {
    const rank = rankOf(match, place)
    if (rank > (best?.rank ?? 0)) best = { agentId, rank }
  }
  return best?.agentId
}

/** 0: it does not match. What is more exact ranks higher, whatever stands first. */
function rankOf({ channel, accountId = "*", peer }: BindingsConfig[number]["match"], place: BoundPlace): number {
  if (channel !== place.channel) return 0
  if (accountId !== "*" && accountId !== place.account) return 0
  const ofAccount = accountId === "*" ? 1 : 2
  if (!peer) return ofAccount
  if (kindOf(place) !== (peer.kind === "direct" ? "dm" : peer.kind)) return 0
  const [chatId = "", topicId] = peer.id.split(":topic:")
  if (chatId !== place.chatId.toLowerCase()) return 0
  if (topicId === undefined) return 4 + ofAccount
  return topicId === place.topicId ? 8 + ofAccount : 0
}

function kindOf({ chatKind }: BoundPlace): "dm" | "group" | "channel" {
  if (chatKind === "private") return "dm"
  return chatKind === "channel" ? "channel" : "group"
}
