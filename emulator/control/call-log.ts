// The log of every API call that a bot made, with what it got; the newest calls are kept.
import type { Feed } from "../feed.ts"
import type { Arguments } from "../wire/arguments.ts"
import type { CallRecord } from "./call-record.ts"

const maxCalls = 5000

export class CallLog {
  readonly #feed: Feed
  readonly #now: () => number
  #calls: CallRecord[] = []
  #lastId = 0

  constructor({ feed, now }: { feed: Feed; now: () => number }) {
    this.#feed = feed
    this.#now = now
  }

  start(call: {
    botId: number
    method: string
    via: "http" | "webhook"
    source: Arguments
    connection?: number | undefined
    fault?: string
  }): CallRecord {
    const { source, ...rest } = call
    const record: CallRecord = {
      id: ++this.#lastId,
      ...rest,
      parameters: source.readable(),
      files: source.files.map(({ field, filename, contentType, bytes }) => ({
        field,
        filename,
        contentType,
        size: bytes.length,
      })),
      startedAt: this.#now(),
    }
    this.#calls.push(record)
    if (this.#calls.length > maxCalls * 1.5) this.#calls = this.#calls.slice(-maxCalls)
    this.#feed.publish({ type: "call-started", botId: record.botId, call: record })
    return record
  }

  finish(record: CallRecord, end: Pick<CallRecord, "status" | "ok" | "result" | "error">): void {
    if (record.finishedAt !== undefined) return
    Object.assign(record, end, { finishedAt: this.#now() })
    this.#feed.publish({ type: "call", botId: record.botId, call: record })
  }

  list(): readonly CallRecord[] {
    return this.#calls
  }

  clear(): void {
    this.#calls = []
  }
}
