// Where a row of the outbox goes: its lane, and the chat of its route.
import type { Json } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { NewOutbox } from "../../../store/index.ts"
import { channelName } from "../settings.ts"

export function addressOf(route: Route): Pick<NewOutbox, "laneKey" | "channel" | "account" | "chatId" | "route"> {
  return {
    laneKey: `${channelName}:${route.account}:${route.chatId}`,
    channel: channelName,
    account: route.account,
    chatId: route.chatId,
    route: route as unknown as Json,
  }
}
