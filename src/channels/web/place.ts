// Which conversation is meant: the main session of an agent, or one of the page's own beside it. Nothing else can be
// spoken into from here: other chats have people of their own.
import { AppError } from "../../kernel/index.ts"
import type { Route } from "../../sessions/route.ts"
import { agentOfKey, mainKey, normalizeAgentId } from "../../sessions/index.ts"
import { webAccount, webChannel } from "./contract.ts"

export interface PlaceOptions {
  defaultAgentId: () => string
  isAgent: (agentId: string) => boolean
}

export interface Place {
  agentId: string
  sessionKey: string
}

const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Throws `not-found` for agents that there are not, `bad-request` for what is no name. */
export function placeOf({ defaultAgentId, isAgent }: PlaceOptions, chat: string): Place {
  const wanted = chat.trim().toLowerCase()
  const agentId = normalizeAgentId(agentOfKey(wanted) ?? defaultAgentId())
  if (!isAgent(agentId)) {
    throw new AppError("not-found", `There is no agent named ${JSON.stringify(agentId)}`, {
      hint: "Agents stand in the configuration: svc config get agents.list",
    })
  }
  const rest = wanted.replace(/^agent:[^:]+:/, "")
  if (rest === "main") return { agentId, sessionKey: mainKey(agentId) }
  const name = rest.replace(/^web:/, "")
  if (!namePattern.test(name)) {
    throw new AppError("bad-request", `${JSON.stringify(chat)} is no conversation of the page`, {
      hint: "Take main, or letters, digits and . _ - such as notes",
    })
  }
  return { agentId, sessionKey: `agent:${agentId}:${webChannel}:${name}` }
}

/** The chat of a conversation. */
export function routeOf(sessionKey: string, messageId?: string): Route {
  const route: Route = { channel: webChannel, account: webAccount, chatId: sessionKey, chatKind: "private" }
  return messageId === undefined ? route : { ...route, messageId }
}
