// Where an owner is told what nobody has asked for: the private chat from which one was last heard.
import type { Channel } from "../channels/contract.ts"
import { AppError } from "../kernel/index.ts"
import { type Route, type Sessions, mainKey } from "../sessions/index.ts"

export interface OwnersChatParts {
  sessions: Sessions
  channels: () => ReadonlyMap<string, Channel>
}

/** Undefined when no owner has written to the agent in a private chat yet, or that chat is nobody's of standing any more. */
export function ownersChat({ sessions, channels }: OwnersChatParts, agentId: string): Route | undefined {
  const last = sessions.lastRoute(mainKey(agentId))
  const channel = last && channels().get(last.channel)
  if (!channel || !isOwners(channel, last)) return undefined
  const { messageId: _answered, ...place } = last
  return place
}

/** A private chat is its person's; who that is to us the rules of access say. */
function isOwners(channel: Channel, { account, chatId, chatKind }: Route): boolean {
  if (chatKind !== "private") return false
  try {
    const { outcome, origin } = channel.explain({ account, chat: chatId })
    return outcome === "accept" && origin === "owner"
  } catch (error) {
    // An account that the configuration has lost.
    if (error instanceof AppError) return false
    throw error
  }
}
