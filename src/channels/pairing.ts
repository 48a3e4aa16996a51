// Pairing: an unknown sender gets a code, the operator approves it on the command line, the sender is let in.
// Kept per channel and account. What messages need is in memory, so that planning one costs no query; the tables are
// written in the transaction of the message that caused the change.
import { AppError, type Clock, type Ids, type Log } from "../kernel/index.ts"
import type { NewOutbox, Store, Write } from "../store/index.ts"
import { PairingBook, codeLifetimeMs } from "./pairing-book.ts"
import { type PairedSender, type PairingRequest, deletePaired, deleteRequest, savePaired } from "./store.ts"
import { readPairingAccounts } from "./store.ts"

/** What a channel adds: the words that tell a sender of the approval, as rows of the outbox. */
export interface PairingFace {
  confirm(account: string, sender: { senderId: string; chatId: string }): NewOutbox[]
}

export interface PairingList {
  channel: string
  requests: (PairingRequest & { account: string; expiresAt: number })[]
  approved: (PairedSender & { account: string })[]
}

export interface Approval {
  account: string
  senderId: string
  label: string
}

export interface Pairing {
  /** Called by a channel when it is made: from then on its name is known here. */
  attach(channel: string, face: PairingFace): void
  /** What an account's intake asks and tells. */
  book(channel: string, account: string): PairingBook
  list(channel: string): PairingList
  /**
   * Throws `pairing-not-found` for an unknown or lapsed code, `too-many-failures` after many of them. `notify` tells
   * the sender.
   */
  approve(channel: string, code: string, account?: string, options?: { notify?: boolean }): Promise<Approval>
  /** Throws `not-found` when the sender was not let in. Without an account: in all of them. */
  revoke(channel: string, senderId: string, account?: string): Promise<void>
}

export interface PairingOptions {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
}

/** Forty bits are not guessed with ten tries a minute. */
const maxWrongCodes = 10
const wrongCodeWindowMs = 60_000

export function createPairing(options: PairingOptions): Pairing {
  const faces = new Map<string, PairingFace>()
  const books = new Map<string, PairingBook>()
  const wrong = { count: 0, since: 0 }
  const book = (channel: string, account: string): PairingBook => {
    const key = `${channel}:${account}`
    const known = books.get(key) ?? new PairingBook({ store: options.store, ids: options.ids, channel, account })
    books.set(key, known)
    return known
  }
  const faceOf = (channel: string): PairingFace => {
    const face = faces.get(channel)
    if (!face) throw new AppError("channel-unknown", `There is no channel named ${JSON.stringify(channel)}`)
    return face
  }
  const booksOf = (channel: string, account?: string): PairingBook[] => {
    faceOf(channel)
    if (account !== undefined) return [book(channel, account)]
    for (const name of readPairingAccounts(options.store, channel)) book(channel, name)
    return [...books.values()].filter((each) => each.channel === channel)
  }
  return {
    attach: (channel, face) => void faces.set(channel, face),
    book,
    list(channel) {
      const all = booksOf(channel)
      const now = options.clock.now()
      return {
        channel,
        requests: all.flatMap((each) =>
          each
            .open(now)
            .map((request) => ({ ...request, account: each.account, expiresAt: request.createdAt + codeLifetimeMs })),
        ),
        approved: all.flatMap((each) => each.pairedSenders().map((sender) => ({ ...sender, account: each.account }))),
      }
    },
    async approve(channel, code, account, { notify = false } = {}) {
      const face = faceOf(channel)
      checkThrottle(options.clock, wrong)
      const plain = code.trim().toUpperCase()
      const found = booksOf(channel, account).flatMap((each) => {
        const request = each.findByCode(plain, options.clock.now())
        return request ? [{ book: each, request }] : []
      })
      const match = found[0]
      if (!match || found.length > 1) throw refuseCode(options.clock, wrong, found.length)
      await options.store.write(async (write) => {
        approveInside(write, match.book, match.request)
        if (!notify) return
        for (const row of face.confirm(match.book.account, match.request)) write.addOutbox(row)
      })
      match.book.approve(match.request, options.clock.now())
      const { senderId, label } = match.request
      options.log.info({ channel, account: match.book.account, sender: senderId }, "pairing approved")
      return { account: match.book.account, senderId, label }
    },
    async revoke(channel, senderId, account) {
      const plain = senderId.trim()
      const holders = booksOf(channel, account).filter((each) => each.paired.has(plain))
      if (holders.length === 0) throw new AppError("not-found", `Nobody with id ${plain} was let in by pairing`)
      await options.store.write(async (write) => {
        for (const each of holders) deletePaired(write, channel, each.account, plain)
      })
      for (const each of holders) each.revoke(plain)
      options.log.info({ channel, sender: plain }, "pairing revoked")
    },
  }
}

function approveInside(write: Write, book: PairingBook, request: PairingRequest): void {
  deleteRequest(write, book.channel, book.account, request.senderId)
  savePaired(write, book.channel, book.account, {
    senderId: request.senderId,
    label: request.label,
    approvedAt: write.now,
  })
}

function checkThrottle(clock: Clock, wrong: { count: number; since: number }): void {
  const now = clock.monotonic()
  if (now - wrong.since >= wrongCodeWindowMs) {
    wrong.count = 0
    wrong.since = now
  }
  if (wrong.count < maxWrongCodes) return
  const seconds = Math.max(1, Math.ceil((wrong.since + wrongCodeWindowMs - now) / 1000))
  throw new AppError("too-many-failures", "Too many wrong pairing codes", {
    retryAfterSeconds: seconds,
    hint: `Wait ${seconds} seconds and try again`,
  })
}

function refuseCode(clock: Clock, wrong: { count: number; since: number }, matches: number): AppError {
  if (matches > 1) {
    return new AppError("bad-request", "Several accounts have a request with this code", {
      hint: "Name the account as well",
    })
  }
  if (wrong.count === 0) wrong.since = clock.monotonic()
  wrong.count += 1
  return new AppError("pairing-not-found", "No pending request has this code", {
    hint: "Codes lapse after an hour; the sender gets a new one by writing again. List them: svc pairing list chatapp",
  })
}
