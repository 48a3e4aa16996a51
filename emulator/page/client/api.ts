// Calls of the control API. The secret comes in the address's fragment, is kept for this tab, and leaves the address at
// once.
import type { BotCommand, Chat, Message, User, UserFromGetMe } from "grammy/types"
import type { Requests } from "../../control/requests.ts"
import type { Draft, NumberedEvent } from "../../feed.ts"
import type { MemberStatus, Topic } from "../../world/room.ts"

interface Results {
  bots: { token: string; user: UserFromGetMe }[]
  users: User[]
  chats: Chat[]
  addBot: { token: string; user: UserFromGetMe }
  addUser: User
  addChat: Chat
  addTopic: { threadId: number; name: string }
  topics: Topic[]
  members: Record<string, MemberStatus>
  messages: Message[]
  chatReactions: Record<string, Record<string, string[]>>
  reactions: Record<string, string[]>
  drafts: Draft[]
  menu: BotCommand[]
  events: NumberedEvent[]
  click: { queryId: string }
}

function takeToken(): string {
  const given = location.hash.slice(1)
  if (given === "") return sessionStorage.getItem("token") ?? ""
  sessionStorage.setItem("token", given)
  history.replaceState(null, "", location.pathname)
  return given
}

const token = takeToken()
export const hasToken = token !== ""

/** Over the long wait of `events`. */
const timeoutMs = 60_000

export async function call<Name extends keyof Requests>(
  method: Name,
  request: Requests[Name],
): Promise<Name extends keyof Results ? Results[Name] : unknown> {
  const response = await fetch(`/_emulator/${method}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw new Error("The emulator does not answer. Is it still running?", { cause })
  })
  const answer = (await response.json()) as { ok: true; result: never } | { ok: false; error: { message: string } }
  if (!answer.ok) throw new Error(answer.error.message)
  return answer.result
}

const addresses = new Map<string, Promise<string>>()
const keptFiles = 200

/** An address of this page's own at which the bytes of a file are, for as long as it is among the newest. */
export function addressOf(fileId: string): Promise<string> {
  const known = addresses.get(fileId)
  if (known) return known
  const address = load(fileId)
  addresses.set(fileId, address)
  address.catch(() => addresses.delete(fileId))
  const [oldest] = addresses.keys()
  if (addresses.size > keptFiles && oldest !== undefined) {
    addresses.get(oldest)?.then(URL.revokeObjectURL, () => undefined)
    addresses.delete(oldest)
  }
  return address
}

async function load(fileId: string): Promise<string> {
  const response = await fetch(`/_emulator/file/${encodeURIComponent(fileId)}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!response.ok) throw new Error("The file is gone")
  return URL.createObjectURL(await response.blob())
}

export async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const step = 0x8000
  let binary = ""
  for (let at = 0; at < bytes.length; at += step) binary += String.fromCharCode(...bytes.subarray(at, at + step))
  return btoa(binary)
}
