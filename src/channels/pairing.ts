// Pairing: an unknown sender gets a code, the operator approves it on the command line, the sender is let in.
// Kept per channel and account. What messages need is in memory, so that planning one costs no query; the tables are
// written in the transaction of the message that caused the change.
import { AppError, type Clock, type Ids, type Log } from "../kernel/index.ts"
import type { NewOutbox, Store, Write } from "../store/index.ts"
import { PairingBook, codeLifetimeMs } from "./pairing-book.ts"
import {
  type PairedSender,
  type PairingRequest,
  deleteMessage,
  deletePaired,
  deleteRequest,
  readPairingAccounts,
  savePaired,
  saveRequest,
} from "./store.ts"
import { unknownChannel } from "./unknown-channel.ts"
import { WrongCodes } from "./wrong-codes.ts"

/** What a channel adds: the words that tell a sender of the decision, as rows of the outbox. */
export interface PairingFace {
  tell(account: string, sender: { senderId: string; chatId: string }, decision: PairingDecision): NewOutbox[]
  /**
   * Takes in what somebody wrote before they were let in, as if it had come now. Inside a transaction. False when there
   * is nothing to answer in it, or nobody to take it in.
   */
  admit(write: Write, account: string, senderId: string, message: string): boolean
}

export type PairingDecision =
  | { kind: "denied" }
  /** `isAnswered`: what they wrote first is being answered. */
  | { kind: "approved"; isOwner: boolean; isAnswered: boolean }

export interface PairingList {
  channel: string
  requests: (PairingRequest & { account: string; expiresAt: number })[]
  approved: (PairedSender & { account: string })[]
}

export interface Decided {
  account: string
  senderId: string
  label: string
}

export interface Approval extends Decided {
  /** What they wrote first is being answered. */
  isAnswered: boolean
}

export interface ApproveOptions {
  /** Who lets them in, in words for the list of those who were. */
  by?: string
  /** Tells the sender. */
  notify?: boolean
  /** Told before anything is written: makes the sender an owner. What it throws ends it all. */
  makeOwner?: (sender: Decided) => void
}

export interface Pairing {
  /** Called by a channel when it is made: from then on its name is known here. */
  attach(channel: string, face: PairingFace): void
  /** What an account's intake asks and tells. */
  book(channel: string, account: string): PairingBook
  /** Without an account: of all of them. */
  list(channel: string, account?: string): PairingList
  /**
   * Throws `pairing-not-found` for an unknown or lapsed code, `too-many-failures` after many of them. What the sender
   * wrote first is taken in now.
   */
  approve(channel: string, code: string, account?: string, options?: ApproveOptions): Promise<Approval>
  /**
   * The request of this code or of this sender's id is closed; the sender hears nothing more until it would have
   * lapsed. Throws as `approve` does.
   */
  deny(channel: string, codeOrSender: string, account?: string, options?: { notify?: boolean }): Promise<Decided>
  /**
   * The wall clock was set: open requests live as long as they would have. Inside a transaction; returns what to do when
   * that fails.
   */
  followClock(write: Write, stepMs: number): () => void
  /** Throws `not-found` when the sender was not let in. Without an account: in all of them. */
  revoke(channel: string, senderId: string, account?: string): Promise<void>
}

export interface PairingOptions {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
}

export function createPairing(options: PairingOptions): Pairing {
  const faces = new Map<string, PairingFace>()
  const books = new Map<string, PairingBook>()
  const wrong = new WrongCodes(options)
  const book = (channel: string, account: string): PairingBook => {
    const key = `${channel}:${account}`
    const { store, ids } = options
    const known = books.get(key) ?? new PairingBook({ store, ids, channel, account, accounts: () => books.size })
    books.set(key, known)
    return known
  }
  const faceOf = (channel: string): PairingFace => {
    const face = faces.get(channel)
    if (!face) throw unknownChannel(channel, faces.keys())
    return face
  }
  const booksOf = (channel: string, account?: string): PairingBook[] => {
    faceOf(channel)
    if (account !== undefined) return [book(channel, account)]
    for (const name of readPairingAccounts(options.store, channel)) book(channel, name)
    return [...books.values()].filter((each) => each.channel === channel)
  }
  const find = async (channel: string, account: string | undefined, match: Match): Promise<Found> =>
    await findRequest(booksOf(channel, account), match, { ...options, wrong })
  return {
    attach: (channel, face) => void faces.set(channel, face),
    book,
    list: (channel, account) => listOf(channel, booksOf(channel, account), options.clock.now()),
    async approve(channel, code, account, { by = "", notify = false, makeOwner } = {}) {
      const face = faceOf(channel)
      const plain = code.trim().toUpperCase()
      const { book: holder, request } = await find(channel, account, (each, now) => each.findByCode(plain, now))
      const { senderId, label } = request
      const sender = { account: holder.account, senderId, label }
      makeOwner?.(sender)
      const isOwner = makeOwner !== undefined
      const isAnswered = await inStep(options.store, (write, undone) => {
        const open = stillOpen(holder, request, write.now)
        const answered = approveInside(write, { book: holder, request: open, face, by, notify, isOwner })
        undone(holder.approve(open, by, write.now))
        return answered
      })
      options.log.info({ channel, account: holder.account, sender: senderId, isOwner, isAnswered }, "pairing approved")
      return { ...sender, isAnswered }
    },
    async deny(channel, codeOrSender, account, { notify = false } = {}) {
      const face = faceOf(channel)
      const plain = codeOrSender.trim().toUpperCase()
      const match: Match = (each, now) => each.findByCode(plain, now) ?? each.findBySender(plain, now)
      const { book: owner, request } = await find(channel, account, match)
      await inStep(options.store, (write, undone) =>
        undone(denyInside(write, { book: owner, request: stillOpen(owner, request, write.now), face, notify })),
      )
      const { senderId, label } = request
      options.log.info({ channel, account: owner.account, sender: senderId }, "pairing denied")
      return { account: owner.account, senderId, label }
    },
    followClock(write, stepMs) {
      write
        .prepare("update pairing_request set created_at = created_at + ?1, last_seen_at = last_seen_at + ?1")
        .run(stepMs)
      for (const each of books.values()) each.followClock(stepMs)
      return () => {
        for (const each of books.values()) each.followClock(-stepMs)
      }
    },
    async revoke(channel, senderId, account) {
      const plain = senderId.trim()
      const holders = booksOf(channel, account).filter((each) => each.paired.has(plain))
      if (holders.length === 0) throw notLetIn(channel, plain)
      await inStep(options.store, (write, undone) => {
        for (const each of holders) deletePaired(write, channel, each.account, plain)
        for (const each of holders) undone(each.revoke(plain))
      })
      options.log.info({ channel, account, sender: plain }, "pairing revoked")
    },
  }
}

/**
 * A decision counts from its commit on, and the disk may take its time after that: what was written is taken up meanwhile,
 * and messages are judged. So memory changes with the tables, inside the transaction, and goes back when that fails.
 */
async function inStep<T>(store: Store, work: (write: Write, undone: (undo: () => void) => void) => T): Promise<T> {
  const undos: (() => void)[] = []
  try {
    return await store.write(async (write) => work(write, (undo) => undos.push(undo)))
  } catch (error) {
    for (const undo of undos) undo()
    throw error
  }
}

/** As it is now: somebody else may have decided about it meanwhile. */
function stillOpen(book: PairingBook, { code }: PairingRequest, now: number): PairingRequest {
  const request = book.findByCode(code, now)
  if (!request) throw notFound()
  return request
}

function notFound(): AppError {
  return new AppError("pairing-not-found", "No pending request has this code", {
    hint: "Codes lapse after an hour; the sender gets a new one by writing again. List them: svc pairing list chatapp",
  })
}

function notLetIn(channel: string, senderId: string): AppError {
  return new AppError("not-found", `Nobody with id ${senderId} was let in by pairing`, {
    hint: `Ids stand in: svc pairing list ${channel} --approved`,
  })
}

interface Found {
  book: PairingBook
  request: PairingRequest
}

type Match = (book: PairingBook, now: number) => PairingRequest | undefined

/** The one open request that matches; a wrong code counts against every account that was asked. */
async function findRequest(
  asked: readonly PairingBook[],
  match: Match,
  { wrong, clock, log }: { wrong: WrongCodes; clock: Clock; log: Log },
): Promise<Found> {
  for (const { channel, account } of asked) await wrong.check(channel, account)
  const now = clock.now()
  const found = asked.flatMap((book) => {
    const request = match(book, now)
    return request ? [{ book, request }] : []
  })
  const [first] = found
  if (first && found.length === 1) return first
  if (first) {
    const names = found.map(({ book }) => book.account).join(", ")
    throw new AppError("bad-request", `Several accounts have such a request: ${names}`, {
      hint: "Name the account as well: --account <id>",
    })
  }
  for (const { channel, account } of asked) await wrong.count(channel, account)
  log.warn({ accounts: asked.map(({ account }) => account) }, "wrong pairing code")
  throw notFound()
}

function listOf(channel: string, books: readonly PairingBook[], now: number): PairingList {
  return {
    channel,
    requests: books.flatMap((each) =>
      each
        .open(now)
        .map((request) => ({ ...request, account: each.account, expiresAt: request.createdAt + codeLifetimeMs })),
    ),
    approved: books.flatMap((each) => each.pairedSenders().map((sender) => ({ ...sender, account: each.account }))),
  }
}

interface Approved {
  book: PairingBook
  request: PairingRequest
  face: PairingFace
  by: string
  notify: boolean
  isOwner: boolean
}

/** Whether what they wrote first is being answered. Its job follows the notice, so that they come in this order. */
function approveInside(write: Write, { book, request, face, by, notify, isOwner }: Approved): boolean {
  const { senderId, label } = request
  const message = book.firstMessage(senderId)
  deleteRequest(write, book.channel, book.account, senderId)
  savePaired(write, book.channel, book.account, { senderId, label, approvedAt: write.now, approvedBy: by })
  const isAnswered = message !== undefined && face.admit(write, book.account, senderId, message)
  const decision: PairingDecision = { kind: "approved", isOwner, isAnswered }
  if (notify) for (const row of face.tell(book.account, request, decision)) write.addOutbox(row)
  return isAnswered
}

/** Returns the way back of what has changed in memory. */
function denyInside(
  write: Write,
  { book, request, face, notify }: Pick<Approved, "book" | "request" | "face" | "notify">,
): () => void {
  const { channel, account } = book
  saveRequest(write, channel, account, { ...request, denied: true })
  deleteMessage(write, channel, account, request.senderId)
  if (notify) for (const row of face.tell(account, request, { kind: "denied" })) write.addOutbox(row)
  return book.deny(request)
}
