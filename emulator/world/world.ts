// Everything that exists on the platform: people, chats, bots, files, and the feed of what happens.
// It holds state and answers look-ups; what a message or a click leads to is in deliver.ts.
import type { Chat, User } from "grammy/types"
import { BoundedMap } from "../bounded-map.ts"
import type { Clock } from "../clock.ts"
import { Feed } from "../feed.ts"
import { FileStore } from "../files.ts"
import { LocalFolder } from "../local-folder.ts"
import type { EmulatorOptions } from "../options.ts"
import type { Random } from "../random.ts"
import type { Bot } from "./bot.ts"
import { Room } from "./room.ts"

const maxFileBytes = 256 * 1024 * 1024

export interface Person {
  user: User
  deactivated: boolean
}

export class World {
  readonly clock: Clock
  readonly random: Random
  readonly options: EmulatorOptions
  readonly feed = new Feed()
  readonly files: FileStore
  readonly localFolder = new LocalFolder()
  readonly people = new BoundedMap<number, Person>(20_000)
  /** Shared chats by id; private chats by bot and user. */
  readonly rooms = new BoundedMap<string, Room>(20_000)
  readonly bots = new BoundedMap<string, Bot>(1000)
  #nextBasicMessageId = 0
  #nextAlbum = 13_000_000_000_000_000n

  constructor({ clock, random, options }: { clock: Clock; random: Random; options: EmulatorOptions }) {
    this.clock = clock
    this.random = random
    this.options = options
    this.files = new FileStore({ clock, random, maxBytes: maxFileBytes })
  }

  botById(id: number): Bot | undefined {
    for (const bot of this.bots.values()) if (bot.id === id) return bot
    return undefined
  }

  personByUsername(username: string): Person | undefined {
    const wanted = username.toLowerCase()
    for (const person of this.people.values()) if (person.user.username?.toLowerCase() === wanted) return person
    return undefined
  }

  /** The room that this bot means by a chat id. */
  room(botId: number, chatId: number): Room | undefined {
    return this.rooms.get(chatId > 0 ? `${botId}:${chatId}` : String(chatId))
  }

  roomByUsername(username: string): Room | undefined {
    const wanted = username.toLowerCase()
    for (const room of this.rooms.values()) {
      const { chat } = room
      if (chat.type !== "private" && "username" in chat && chat.username?.toLowerCase() === wanted) return room
    }
    return undefined
  }

  /** The private chat of a bot and a user, made if it is not there yet. */
  openPrivateRoom(bot: Bot, user: User): Room {
    const existing = this.room(bot.id, user.id)
    if (existing) return existing
    const { id, first_name, last_name, username } = user
    const chat: Chat.PrivateChat = {
      id,
      type: "private",
      first_name,
      ...(last_name === undefined ? {} : { last_name }),
      ...(username === undefined ? {} : { username }),
    }
    const room = new Room({ chat, botId: bot.id, nextMessageId: () => bot.takeMessageId() })
    room.members.set(user.id, "member").set(bot.id, "member")
    this.rooms.set(`${bot.id}:${user.id}`, room)
    return room
  }

  openSharedRoom(chat: Chat): Room {
    let lastMessageId = 0
    const own = () => (lastMessageId += 1)
    const room = new Room({ chat, nextMessageId: chat.type === "group" ? () => this.#takeBasicMessageId() : own })
    room.started = true
    this.rooms.set(String(chat.id), room)
    return room
  }

  takeAlbumId(): string {
    this.#nextAlbum += 1n
    return String(this.#nextAlbum)
  }

  userOf(id: number): User | undefined {
    return this.people.get(id)?.user ?? this.botById(id)?.user
  }

  #takeBasicMessageId(): number {
    this.#nextBasicMessageId += 1
    return this.#nextBasicMessageId
  }
}
