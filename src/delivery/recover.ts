// What another process was sending when it ended. Rows that were never called go again, answered ones are recorded, and
// only those whose call was cut are in doubt; at most one a chat and `maxConcurrent` in all, which is what the platform's
// lack of a key for repeated sends forces. What becomes of those, `delivery.onUncertain` says.
import type { Ids, Log } from "../kernel/index.ts"
import type { Route } from "../sessions/route.ts"
import { type OutboxRow, type Store, leftSending, markAgain, markSent, markUncertain } from "../store/index.ts"
import { noteToldUpTo, restoredUntold } from "../store/index.ts"
import type { DeliveryConfig } from "./config.ts"
import type { ChannelSender } from "./contract.ts"
import { tellDoubt } from "./doubt.ts"
import type { FlightLog } from "./flight-log.ts"

export interface RecoverOptions {
  store: Store
  senders: () => ReadonlyMap<string, ChannelSender>
  flights?: FlightLog
  ids: Ids
  onUncertain: () => DeliveryConfig["onUncertain"]
  canShowButtons: (route: Route) => boolean
  log: Log
}

/** With `resend` only while it is this young: an old answer sent again confuses more than it helps. */
const resendWithinMs = 10 * 60 * 1000

export async function recoverSending(options: RecoverOptions): Promise<void> {
  for (const row of leftSending(options.store)) await recover(options, row)
  await tellRestored(options)
}

/** In one transaction: the event loop has its turn between two of them. */
const restoredAtOnce = 20

/**
 * At the first start after a restore: what the backup had not sent is in doubt like what a crash leaves, and is told in
 * the same way, once. How far that has come is kept, so that a kill in the middle repeats nothing.
 */
async function tellRestored(options: RecoverOptions): Promise<void> {
  const { store, log } = options
  const doubts = { ...options, policy: options.onUncertain }
  let told = 0
  for (;;) {
    const count = await store.write(async (write) => {
      const rows = restoredUntold(store, restoredAtOnce)
      for (const row of rows) tellDoubt(doubts, write, row)
      if (rows.length > 0) noteToldUpTo(write, rows.at(-1)?.id ?? 0)
      return rows.length
    })
    told += count
    if (count < restoredAtOnce) break
  }
  if (told > 0) log.warn({ deliveries: told }, "deliveries of a restored backup in doubt: not repeated")
}

async function recover(options: RecoverOptions, row: OutboxRow): Promise<void> {
  const { store, flights, log } = options
  const seen = { delivery: row.id, chat: row.chat_id, kind: row.kind }
  const end = flights?.endOf(row) ?? { kind: "in-doubt" }
  if (end.kind === "sent") {
    await markSent(store, row, end.remoteId)
    log.info(seen, "delivery was sent before the process ended")
    return
  }
  if (end.kind !== "in-doubt") {
    await markAgain(store, row, { delayMs: 0, error: row.error, isUntried: end.kind === "not-begun" })
    log.info(seen, "delivery had not been sent when the process ended")
    return
  }
  if (mayResend(options, row)) {
    await markAgain(store, row, { delayMs: 0, error: "in flight at a crash", resent: true })
    log.warn(seen, "delivery in doubt after a crash: sent once more")
    return
  }
  const error = "in flight at a crash; whether it arrived is not known"
  const doubts = { ...options, policy: options.onUncertain }
  await markUncertain(store, row, error, (write) => tellDoubt(doubts, write, row))
  log.warn(seen, "delivery in doubt after a crash: not repeated")
}

function mayResend({ store, senders, onUncertain }: RecoverOptions, row: OutboxRow): boolean {
  if (senders().get(row.channel)?.isRepeatable?.(row)) return true
  return onUncertain() === "resend" && row.resent === 0 && store.clock.now() - row.created_at < resendWithinMs
}
