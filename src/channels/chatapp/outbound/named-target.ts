// `@name` -> the chat that it means, asked before anything is queued: the platform finds channels and public groups under
// their names (from then on they go by their ids, as everywhere), but people only under their ids. A person is found among those whom the bot knows, by asking the platform
// for each one's present name: what people are called in a list may be old, or an invention of theirs.
import { AppError } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { Client } from "../client.ts"

export interface NamedTargetOptions {
  /** Undefined while the account does not run: nobody can be asked. */
  client: Client | undefined
  /** Who is known, by id, those first whose name has been seen to be this one. */
  known: (name: string) => readonly string[]
  signal: AbortSignal
}

const askTimeoutMs = 2_500
/** More would try the platform's patience. */
const maxAsked = 30

/** Throws `target-invalid` when the name means nobody who can be written to. */
export async function findNamedTarget(route: Route, options: NamedTargetOptions): Promise<Route> {
  const { client, signal } = options
  if (!client || !route.chatId.startsWith("@")) return route
  const name = route.chatId.slice(1).toLowerCase()
  const limits = { timeoutMs: askTimeoutMs, signal }
  const chat = await client.call("getChat", { chat_id: route.chatId }, limits)
  if (chat.ok) return { ...route, chatId: String(chat.value.id), chatKind: chat.value.type }
  // A platform that does not answer, or is out of order, proves nothing against the name: the outbox goes on trying.
  if (chat.failure.kind !== "refused" || chat.failure.code === 429 || chat.failure.code >= 500) return route
  const asked = options.known(name).slice(0, maxAsked)
  const people = await Promise.all(asked.map((id) => client.call("getChat", { chat_id: Number(id) }, limits)))
  const found = people.findIndex((person) => person.ok && person.value.username?.toLowerCase() === name)
  const id = asked[found]
  if (id !== undefined) return { ...route, chatId: id, chatKind: "private" }
  throw new AppError(
    "target-invalid",
    `${route.chatId} is nobody whom the bot can write to: ${chat.failure.description}`,
    {
      hint: "A channel or group must have the bot as a member. A person must have written to the bot and be listed or paired; then the numeric id works too (svc pairing list chatapp)",
    },
  )
}
