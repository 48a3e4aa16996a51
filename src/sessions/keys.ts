// Session keys, as the spec has them. A key names a conversation; it never says who may be trusted.
import { AppError } from "../kernel/index.ts"

/** Lower-case, at most 64 characters, everything else than letters, digits, `_` and `-` becomes a dash. */
export function normalizeAgentId(id: string): string {
  const plain = id
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .slice(0, 64)
  return plain === "" ? "main" : plain
}

export function mainKey(agentId: string): string {
  return `agent:${agentId}:main`
}

/** The agent whose session it is; undefined for what is no key of a session. */
export function agentOfKey(key: string): string | undefined {
  return /^agent:([^:]+):/.exec(key)?.[1]
}

export type DirectScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer"

/**
 * The session of a direct chat, as `session.dmScope` wants it; `links` (`session.identityLinks`) make one peer of
 * several ids, written `<id>` or `<channel>:<id>`.
 */
export function directKey(
  agentId: string,
  chat: { channel: string; account: string; chatId: string },
  { dmScope, identityLinks }: { dmScope: DirectScope; identityLinks: Record<string, readonly string[]> },
): string {
  if (dmScope === "main") return mainKey(agentId)
  const { channel, account, chatId } = chat
  const linked = Object.entries(identityLinks).find(([, ids]) =>
    ids.some((id) => id.trim().toLowerCase() === chatId || id.trim().toLowerCase() === `${channel}:${chatId}`),
  )
  const peer = linked ? normalizeAgentId(linked[0]) : chatId
  const place = {
    "per-peer": "",
    "per-channel-peer": `${channel}:`,
    "per-account-channel-peer": `${channel}:${account}:`,
  }
  return `agent:${agentId}:${place[dmScope]}dm:${peer}`
}

/**
 * The session of somebody who is heard but not trusted: always one of its own, whatever `session.dmScope` says, so that
 * nobody comes into a conversation that holds the words of others. No `identityLinks` count for it.
 */
export function guestKey(
  agentId: string,
  { channel, account, chatId }: { channel: string; account: string; chatId: string },
): string {
  return `agent:${agentId}:${channel}:${account}:guest:${chatId}`
}

export function groupKey(agentId: string, channel: string, chatId: string, topicId?: string): string {
  const group = `agent:${agentId}:${channel}:group:${chatId}`
  return topicId === undefined ? group : `${group}:topic:${topicId}`
}

/** Ids of chats and phone numbers begin with a sign. */
const hookKeyPattern = /^[a-z0-9_@+-][a-z0-9._:@/+-]{0,199}$/

/** What a requested key names below `hook:`; undefined for what cannot be a session of a webhook. */
function hookName(requested: string): string | undefined {
  const plain = requested.normalize("NFKC").trim().toLowerCase()
  const name = plain.startsWith("hook:") ? plain.slice("hook:".length) : plain
  const isForeign = name.startsWith("agent:") || name === "main" || name === "global" || name.includes("..")
  return isForeign || !hookKeyPattern.test(name) ? undefined : name
}

/** Whether `hookKey` takes it. */
export function isHookKey(requested: string): boolean {
  return hookName(requested) !== undefined
}

/**
 * The session of a webhook. Whatever the caller asked for lives under `hook:`, so that no caller can reach a chat's
 * or the main session by its key; an `agent:` key, or one that normalises to something else, is refused.
 */
export function hookKey(agentId: string, requested: string): string {
  const name = hookName(requested)
  if (name === undefined) {
    throw new AppError("bad-request", "sessionKey is not acceptable", {
      hint: "Use a name of your own of at most 200 letters, digits and . _ : @ / + - such as hook:orders, which begins with no . : or / and has no .. in it; chat and main sessions cannot be addressed",
    })
  }
  return `agent:${agentId}:hook:${name}`
}
