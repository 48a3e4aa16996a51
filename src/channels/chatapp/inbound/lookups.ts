// What planning asks the store: single rows by index, and only for the few updates that need them. Made for each batch,
// because what the batch itself adds counts too.
import { turnJobKind } from "../../../agent/turn-input.ts"
import type { Route } from "../../../sessions/route.ts"
import {
  type Provenance,
  type Store,
  isRunning,
  leastTrusted,
  provenanceOf,
  waitingEvents,
} from "../../../store/index.ts"
import type { BotKey } from "../../store.ts"
import { type ButtonValue, readButtonValue } from "../outbound/buttons.ts"

export interface Lookups {
  isTurnRunning(sessionKey: string): boolean
  /** The route of a message that this bot has sent; undefined for messages of others. */
  sentRoute(chat: { id: number; username?: string | undefined }, messageId: number): Route | undefined
  /** Whose words a message is made of that this bot has sent; undefined where that is not known. */
  writtenBy(chat: { id: number; username?: string | undefined }, messageId: number): Provenance | undefined
  buttonValue(data: string): ButtonValue | undefined
  /** Texts of the events that wait in a session, at most `maxEvents`; what is pushed counts for the rest of the batch. */
  waitingEvents(sessionKey: string): string[]
  /** Whether this is the name of a model that may be chosen. */
  isModel(name: string): boolean
}

export const maxEvents = 50

/** Ids of an album follow each other, and its row knows the first. */
const maxAlbumItems = 10

export function createLookups(options: { store: Store; bot: BotKey; isModel: (name: string) => boolean }): Lookups {
  const { store, bot, isModel } = options
  const events = new Map<string, string[]>()
  return {
    isModel,
    isTurnRunning: (sessionKey) => isRunning(store, sessionKey, turnJobKind),
    sentRoute(chat, messageId) {
      const [row] = sentRows(store, bot, chat, messageId)
      return row && (JSON.parse(row.route) as Route)
    },
    writtenBy(chat, messageId) {
      const known = sentRows(store, bot, chat, messageId).map(provenanceOf)
      return known.includes(undefined) ? undefined : leastTrusted(known.filter((each) => each !== undefined))
    },
    buttonValue: (data) => readButtonValue(store, data),
    waitingEvents(sessionKey) {
      const known = events.get(sessionKey) ?? waitingEvents(store, sessionKey, maxEvents)
      events.set(sessionKey, known)
      return known
    },
  }
}

interface SentRow {
  route: string
  remote_id: string
  items: number
  origin: string | null
  trusted: number | null
}

/** The row that has sent the message, and those that have edited it since. */
function sentRows(
  store: Store,
  bot: BotKey,
  chat: { id: number; username?: string | undefined },
  messageId: number,
): SentRow[] {
  const first = messageId - maxAlbumItems + 1
  const ids = Array.from({ length: maxAlbumItems }, (_, index) => String(first + index))
  const chats = [String(chat.id), ...(chat.username === undefined ? [] : [`@${chat.username}`])]
  const rows = store.handle
    .prepare(
      `select route, remote_id, origin, trusted,
         case kind when 'album' then coalesce(json_array_length(payload, '$.items'), 1) else 1 end as items
       from outbox where channel = ? and account = ? and chat_id in (select value from json_each(?))
         and remote_id in (select value from json_each(?)) order by id`,
    )
    .all(bot.channel, bot.account, JSON.stringify(chats), JSON.stringify(ids)) as unknown as SentRow[]
  return rows.filter(({ remote_id: id, items }) => Number(id) <= messageId && messageId < Number(id) + items)
}
