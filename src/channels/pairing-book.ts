// The pairing state of one account: who asked, who was let in. Memory follows the tables: a change is made here,
// written by `flush` in the transaction of its message, and undone by `reload` when that transaction fails.
import type { Ids } from "../kernel/index.ts"
import type { Store, Write } from "../store/index.ts"
import type { PairedSender, PairingRequest } from "./store.ts"
import {
  deleteRequest,
  readMessage,
  readMessageSenders,
  readPaired,
  readRequests,
  saveMessage,
  saveRequest,
} from "./store.ts"

export const codeLifetimeMs = 60 * 60 * 1000
/** As far as clocks are adjusted. */
const aheadMs = 60_000

/** Letters and digits that nobody mistakes for one another: 32 symbols, eight of them are forty bits. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
const codeLength = 8

/**
 * Beyond this the oldest request gives way. Strangers are answered five times a second at most, so even in a flood
 * fewer are told within the hour that a code lives.
 */
export const maxRequests = 20_000
/** Of all accounts together: each has its share, so that a flood at one takes nothing from those who wrote to another. */
export const maxRequestsOfAll = 40_000
/** A long message with its formatting; what is larger is not kept, and its sender is asked to write again. */
export const maxMessageCharacters = 16_000
/** People name themselves; a label is one line for the operator. */
const maxLabelCharacters = 120

/** `issued` is told to the sender; `seen` is not: one answer per sender and hour. */
export type PairingAnswer = { kind: "issued"; code: string } | { kind: "seen" }

export class PairingBook {
  readonly channel: string
  readonly account: string
  readonly #store: Store
  readonly #ids: Ids
  readonly #accounts: () => number
  /** By sender, oldest first. */
  #requests = new Map<string, PairingRequest>()
  #senderOfCode = new Map<string, string>()
  #paired = new Map<string, PairedSender>()
  #pairedIds: ReadonlySet<string> = new Set()
  readonly #changed = new Set<string>()
  /** Of whom a message is kept. */
  #kept = new Set<string>()
  /** What the next `flush` writes. */
  readonly #messages = new Map<string, string>()

  /** `accounts`: how many books there are. */
  constructor(options: { store: Store; ids: Ids; channel: string; account: string; accounts: () => number }) {
    this.channel = options.channel
    this.account = options.account
    this.#store = options.store
    this.#ids = options.ids
    this.#accounts = options.accounts
    this.reload()
  }

  get paired(): ReadonlySet<string> {
    return this.#pairedIds
  }

  pairedSenders(): PairedSender[] {
    return [...this.#paired.values()]
  }

  open(now: number): PairingRequest[] {
    return [...this.#requests.values()].filter((request) => isOpen(request, now) && !request.denied)
  }

  findByCode(code: string, now: number): PairingRequest | undefined {
    const request = this.#requests.get(this.#senderOfCode.get(code) ?? "")
    return request && isOpen(request, now) && !request.denied ? request : undefined
  }

  findBySender(senderId: string, now: number): PairingRequest | undefined {
    return this.open(now).find((request) => request.senderId === senderId)
  }

  /** An unknown sender wrote. `message` is kept, when it is the first and not too long, to be answered once they are let in. */
  ask(
    { message, ...sender }: { senderId: string; chatId: string; label: string; message?: string },
    now: number,
  ): PairingAnswer {
    this.#changed.add(sender.senderId)
    const known = this.#requests.get(sender.senderId)
    if (known && isOpen(known, now)) {
      known.lastSeenAt = now
      if (!known.denied && !this.#kept.has(known.senderId)) this.#keep(known.senderId, message)
      return { kind: "seen" }
    }
    if (known) this.#remove(known)
    this.#makeRoom(now)
    const code = this.#newCode()
    const label = shortLabel(sender.label)
    this.#requests.set(sender.senderId, { ...sender, label, code, createdAt: now, lastSeenAt: now, denied: false })
    this.#senderOfCode.set(code, sender.senderId)
    this.#keep(sender.senderId, message)
    return { kind: "issued", code }
  }

  /** What the sender of a request has written first; undefined when it was not kept. */
  firstMessage(senderId: string): string | undefined {
    return readMessage(this.#store, this.channel, this.account, senderId)
  }

  /** Writes what changed since the last call. */
  flush(write: Write): void {
    for (const senderId of this.#changed) {
      const request = this.#requests.get(senderId)
      const message = this.#messages.get(senderId)
      // A request that lapsed goes with what was said then.
      if (!request || !this.#kept.has(senderId)) deleteRequest(write, this.channel, this.account, senderId)
      if (request) saveRequest(write, this.channel, this.account, request)
      if (message !== undefined) saveMessage(write, this.channel, this.account, senderId, message)
    }
  }

  /** The transaction of `flush` is on the disk. */
  settle(): void {
    this.#changed.clear()
    this.#messages.clear()
  }

  /** The transaction of `flush` failed, or the process starts: the tables say how things stand. */
  reload(): void {
    const requests = readRequests(this.#store, this.channel, this.account)
    const paired = readPaired(this.#store, this.channel, this.account)
    this.settle()
    this.#kept = new Set(readMessageSenders(this.#store, this.channel, this.account))
    this.#requests = new Map(requests.map((request) => [request.senderId, { ...request }]))
    this.#senderOfCode = new Map(requests.map((request) => [request.code, request.senderId]))
    this.#setPaired(new Map(paired.map((sender) => [sender.senderId, sender])))
  }

  /** The wall clock was set. */
  followClock(stepMs: number): void {
    for (const request of this.#requests.values()) {
      request.createdAt += stepMs
      request.lastSeenAt += stepMs
    }
  }

  /** Lets the sender in. Returns the way back. */
  approve(request: PairingRequest, approvedBy: string, now: number): () => void {
    const { senderId, label } = request
    const before = this.#paired.get(senderId)
    const isKept = this.#kept.has(senderId)
    this.#remove(request)
    this.#setPaired(new Map(this.#paired).set(senderId, { senderId, label, approvedAt: now, approvedBy }))
    return () => {
      this.#setSender(senderId, before)
      this.#requests.set(senderId, request)
      this.#senderOfCode.set(request.code, senderId)
      if (isKept) this.#kept.add(senderId)
    }
  }

  /** As if the sender had not asked: they could not be told. */
  forget(senderId: string): void {
    const request = this.#requests.get(senderId)
    if (request) this.#remove(request)
    this.#changed.add(senderId)
  }

  /** It stays until it lapses, so that the sender is not told a new code at once. Returns the way back. */
  deny(request: PairingRequest): () => void {
    const { senderId } = request
    const isKept = this.#kept.has(senderId)
    request.denied = true
    this.#kept.delete(senderId)
    return () => {
      request.denied = false
      if (isKept) this.#kept.add(senderId)
    }
  }

  /** Returns the way back. */
  revoke(senderId: string): () => void {
    const before = this.#paired.get(senderId)
    this.#setSender(senderId, undefined)
    return () => this.#setSender(senderId, before)
  }

  #setSender(senderId: string, sender: PairedSender | undefined): void {
    const paired = new Map(this.#paired)
    if (sender) paired.set(senderId, sender)
    else paired.delete(senderId)
    this.#setPaired(paired)
  }

  #setPaired(paired: Map<string, PairedSender>): void {
    this.#paired = paired
    this.#pairedIds = new Set(paired.keys())
  }

  #remove(request: PairingRequest): void {
    this.#requests.delete(request.senderId)
    this.#senderOfCode.delete(request.code)
    this.#kept.delete(request.senderId)
    this.#messages.delete(request.senderId)
  }

  #keep(senderId: string, message: string | undefined): void {
    if (message === undefined || message.length > maxMessageCharacters) return
    this.#kept.add(senderId)
    this.#messages.set(senderId, message)
  }

  /** Requests are in the order of their creation, so lapsed ones stand first. */
  #makeRoom(now: number): void {
    const most = Math.min(maxRequests, Math.floor(maxRequestsOfAll / this.#accounts()))
    for (const request of this.#requests.values()) {
      if (isOpen(request, now) && this.#requests.size < most) return
      this.#remove(request)
      this.#changed.add(request.senderId)
    }
  }

  #newCode(): string {
    for (;;) {
      const code = Array.from({ length: codeLength }, () => alphabet[this.#ids.below(alphabet.length)]).join("")
      if (!this.#senderOfCode.has(code)) return code
    }
  }
}

function shortLabel(label: string): string {
  const characters = [...label.slice(0, 4 * maxLabelCharacters).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")]
  return characters.length <= maxLabelCharacters
    ? characters.join("")
    : `${characters.slice(0, maxLabelCharacters).join("")}…`
}

/** Times of an earlier process may lie ahead, when the clock was wrong then: such a request must not live for years. */
function isOpen(request: PairingRequest, now: number): boolean {
  const age = now - request.createdAt
  return age > -aheadMs && age < codeLifetimeMs
}
