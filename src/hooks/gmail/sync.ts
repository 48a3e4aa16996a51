// Reads on in the mailbox: history since the last reading -> list of mails, durable -> mails -> batches -> deliver.
// The list is written before the first mail is read and shortened after each batch, so that a crash repeats at most one
// batch, with the same delivery id.
import { createHash } from "node:crypto"
import { AppError, type Clock, type Log } from "../../kernel/index.ts"
import type { GmailBatch, GmailMessage, GmailView } from "./contract.ts"
import type { WatchRecord } from "./files.ts"
import { GoogleError } from "./google-call.ts"
import type { Mailbox } from "./mailbox.ts"

export interface SyncOptions {
  view: Pick<GmailView, "includeBody" | "maxBytes">
  mailbox: Mailbox
  /** The record in memory; `save` makes it durable. */
  record: WatchRecord
  save: () => void
  deliver: (batch: GmailBatch, signal: AbortSignal) => Promise<void>
  clock: Clock
  log: Log
}

/** After a gap that Gmail no longer knows the history of: enough for a week-end, not a mailbox of years. */
const maxResync = 100
/** A batch stays below the size that a webhook body may have by default. */
const batchBytes = 200_000
const bytesBesideBody = 2_000
const maxBatch = 50
/** Ids remembered, so that a mail which shows up again is not handed on again. */
const recentKept = 2_000

/** Everything up to now, or rejects where it can be taken up again. */
export async function syncMailbox(options: SyncOptions, labelId: string, signal: AbortSignal): Promise<void> {
  const { clock, mailbox, record } = options
  await deliverWaiting(options, signal)
  while (record.historyId !== undefined) {
    const startedAt = clock.now()
    const history = await mailbox.historySince({ historyId: record.historyId, labelId }, signal)
    if (history.kind === "too-old") await planResync(options, labelId, signal)
    else plan(options, history.messageIds, history.historyId)
    record.lastSyncAt = startedAt
    options.save()
    await deliverWaiting(options, signal)
    if (history.kind === "too-old" || !history.more) return
  }
}

async function planResync(options: SyncOptions, labelId: string, signal: AbortSignal): Promise<void> {
  const { mailbox, record } = options
  // First the place to go on from, then the list: what comes between the two is in both and is handed on once.
  const { historyId } = await mailbox.profile(signal)
  const sinceMs = record.lastSyncAt ?? options.clock.now()
  const messageIds = await mailbox.newest({ labelId, sinceMs, limit: maxResync }, signal)
  options.log.warn(
    { since: new Date(sinceMs).toISOString(), found: messageIds.length, atMost: maxResync },
    "gmail history too old: label read again",
  )
  plan(options, messageIds, String(historyId))
}

function plan({ record }: SyncOptions, messageIds: readonly string[], historyId: string): void {
  const known = new Set([...record.recent, ...record.waiting])
  record.waiting = [...record.waiting, ...messageIds.filter((id) => !known.has(id))]
  record.historyId = historyId
}

async function deliverWaiting(options: SyncOptions, signal: AbortSignal): Promise<void> {
  const { record, view } = options
  const bytesEach = bytesBesideBody + (view.includeBody ? view.maxBytes : 0)
  const size = Math.max(1, Math.min(maxBatch, Math.floor(batchBytes / bytesEach)))
  while (record.waiting.length > 0) {
    const ids = record.waiting.slice(0, size)
    const read = await Promise.all(ids.map((id) => readMessage(options, id, signal)))
    const messages = read.filter((message) => message !== undefined)
    if (messages.length > 0) await handOn(options, ids, messages, signal)
    record.waiting = record.waiting.slice(ids.length)
    record.recent = [...record.recent, ...ids].slice(-recentKept)
    record.delivered += messages.length
    options.save()
  }
}

async function readMessage(options: SyncOptions, id: string, signal: AbortSignal): Promise<GmailMessage | undefined> {
  try {
    return await options.mailbox.message(id, options.view, signal)
  } catch (error) {
    if (!(error instanceof GoogleError) || error.status !== 400) throw error
    // One mail that Gmail itself cannot give must not keep back all that come after it.
    options.log.error({ err: error, messageId: id }, "gmail message skipped")
    return undefined
  }
}

/** What is too large together is handed on mail by mail, and a mail that is too large alone without its body. */
async function handOn(
  options: SyncOptions,
  ids: readonly string[],
  messages: GmailMessage[],
  signal: AbortSignal,
): Promise<void> {
  const { account } = options.record
  const deliveryId = createHash("sha256")
    .update(JSON.stringify([account, ids]))
    .digest("hex")
  try {
    await options.deliver({ deliveryId, account, payload: { messages } }, signal)
    options.log.info({ deliveryId, messages: messages.length }, "gmail batch delivered")
  } catch (error) {
    if (!(error instanceof AppError) || (error.status !== 400 && error.status !== 413)) throw error
    const [first] = messages
    if (error.status === 413 && messages.length > 1) {
      for (const message of messages) await handOn(options, [message.id], [message], signal)
    } else if (error.status === 413 && first !== undefined && first.body !== "") {
      options.log.warn({ messageId: first.id }, "gmail message too large: handed on without its body")
      await handOn(options, ids, [{ ...first, body: "" }], signal)
    } else {
      // Refused for what it is: it would be refused again, and everything behind it would wait for ever.
      options.log.error({ err: error, deliveryId, messageIds: ids }, "gmail batch refused")
    }
  }
}
