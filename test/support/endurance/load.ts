// Senders that number what they send and repeat what was not answered, as real ones do: people in chats, with words and
// photos, and webhooks. What came of it is counted by tally.ts.
import { randomBytes } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import type { User } from "grammy/types"
import type { World } from "../world.ts"

/** A picture of one dot; what stands behind it makes each photo another one. */
const dot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const photoBytes = 30_000
/** Before something that was not answered is sent again. */
const retryMs = 15

export interface LoadOptions {
  people: User[]
  random: () => number
  /** Of the chat messages: from 0 (none) to 1. */
  photoShare?: number
  /** Chat messages of a round. */
  messages?: number
}

export class Load {
  /** Ids of runs that were asked for by webhook and answered with 2xx. */
  readonly acknowledged: string[] = []
  readonly wakes: string[] = []
  readonly chats: { person: User; ids: string[] }[]
  /** By the id of the message that they came with. */
  readonly photos = new Map<string, Buffer>()
  readonly sessions = ["one", "two", "three"]
  readonly #world: World
  readonly #random: () => number
  readonly #photoShare: number
  readonly #messages: number
  readonly #pending = new Map<string, string>()
  #next = 0

  constructor(world: World, { people, random, photoShare = 0, messages = 1 }: LoadOptions) {
    this.#world = world
    this.#random = random
    this.#photoShare = photoShare
    this.#messages = messages
    this.chats = people.map((person) => ({ person, ids: [] }))
  }

  /** Messages of somebody, or of some, and webhooks. Ends when the gateway is gone or everything was answered. */
  async round(isAlive: () => boolean): Promise<void> {
    const first = Math.floor(this.#random() * this.chats.length)
    for (let n = 0; n < this.#messages; n += 1) {
      const chat = this.chats[(first + n) % this.chats.length]
      if (chat) this.say(chat)
    }
    await Promise.all([
      ...this.sessions.map((session) => this.#repeat(() => this.#sendRun(session), isAlive)),
      this.#repeat(() => this.#sendWake(), isAlive),
    ])
  }

  say(chat: { person: User; ids: string[] }): void {
    const id = this.#newId("chat")
    chat.ids.push(id)
    const words = `please do ${id}`
    if (this.#random() >= this.#photoShare) return void this.#world.say(words, chat.person)
    const photo = this.#choosePhoto()
    this.photos.set(id, photo)
    this.#world.emulator.control.sendMedia({ userId: chat.person.id, kind: "photo", data: photo, caption: words })
  }

  /** Half of them have been sent before: the platform gives those the id that they had, and the gateway may have kept them. */
  #choosePhoto(): Buffer {
    const sent = [...this.photos.values()]
    const again = this.#random() < 0.5 ? sent[Math.floor(this.#random() * sent.length)] : undefined
    return again ?? Buffer.concat([dot, randomBytes(photoBytes)])
  }

  /** Twice, for a flow of work; a connection that died with the process before counts for nothing. */
  async #repeat(send: () => Promise<boolean>, isAlive: () => boolean): Promise<void> {
    for (let sent = 0; sent < 2 && isAlive();) {
      if (await send()) sent += 1
      else await delay(retryMs)
    }
  }

  /** Repeats what is still open until it is answered. */
  async finish(): Promise<void> {
    for (const name of this.#pending.keys()) {
      await this.#world.until(`${name} is answered`, async () => {
        const answered = await (name === "wake" ? this.#sendWake() : this.#sendRun(name))
        return answered ? true : undefined
      })
    }
  }

  /** Ids of a session go round the people. */
  receiverOf(id: string): User | undefined {
    return this.chats[Number(/\d+$/.exec(id)?.[0]) % this.chats.length]?.person
  }

  async #sendRun(session: string): Promise<boolean> {
    const id = this.#pending.get(session) ?? this.#newId(session)
    this.#pending.set(session, id)
    const body = {
      message: `please do ${id}`,
      name: id,
      sessionKey: `hook:${session}`,
      channel: "chatapp",
      to: this.receiverOf(id)?.id,
      wakeMode: "next-heartbeat",
    }
    if (!(await this.#post("agent", id, body))) return false
    this.#pending.delete(session)
    this.acknowledged.push(id)
    return true
  }

  async #sendWake(): Promise<boolean> {
    const id = this.#pending.get("wake") ?? this.#newId("wake").replace("job-", "event-")
    this.#pending.set("wake", id)
    if (!(await this.#post("wake", id, { text: `${id} happened`, mode: "next-heartbeat" }))) return false
    this.#pending.delete("wake")
    this.wakes.push(id)
    return true
  }

  /** False when the connection ended with the process, there was none, or the gateway said that it takes nothing now. */
  async #post(path: string, id: string, body: object): Promise<boolean> {
    const answer = await this.#world.hook(path, body, { "idempotency-key": id }).catch(() => undefined)
    if (answer === undefined || answer.status === 503) return false
    if (answer.status === 200 || answer.status === 202) return true
    throw new Error(`a webhook was answered ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  #newId(kind: string): string {
    this.#next += 1
    return `job-${kind}-${this.#next}`
  }
}

/** mulberry32 */
export function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
