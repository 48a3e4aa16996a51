// The record of the watch in words: the same for the running watch and for the command line, which only has the file.
import type { GmailStatus } from "./contract.ts"
import type { WatchRecord } from "./files.ts"

export function describeRecord(record: WatchRecord): Omit<GmailStatus, "state"> {
  const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())
  const times = {
    watchExpiresAt: time(record.watchExpiresAt),
    renewedAt: time(record.renewedAt),
    lastSyncAt: time(record.lastSyncAt),
  }
  return {
    account: record.account,
    label: record.label,
    ...(record.historyId === undefined ? {} : { historyId: record.historyId }),
    ...Object.fromEntries(Object.entries(times).filter(([, value]) => value !== undefined)),
    waiting: record.waiting.length,
    delivered: record.delivered,
  }
}
