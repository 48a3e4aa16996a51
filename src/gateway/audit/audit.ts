// The audit log: who did what through which door, when, with what outcome; no contents, no secrets. What is told goes to
// memory at once and to the store behind the caller's back: single acts at the next turn of the event loop, counted ones
// every few seconds, all of them at a clean stop.
import type { Visitor } from "../../kernel/http/index.ts"
import type { Background, Clock, Log } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import type { AuditDoor, AuditItem } from "./contract.ts"
import { type AuditQuery, type NewAuditRow, insertAudit, readAudit } from "./store.ts"

export interface AuditEntry {
  door: AuditDoor
  who: Visitor
  action: string
  target?: string
  /** `ok`, or what it failed with; empty where outcomes are not kept apart. */
  outcome: string
}

export interface Audit {
  /** One row. Never throws and never waits. */
  record(entry: AuditEntry): void
  /** One row for an hour of the same. Never throws and never waits. */
  count(entry: AuditEntry): void
  read(query: AuditQuery): AuditItem[]
  /** Writes what waits. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export interface AuditOptions {
  store: Store
  clock: Clock
  log: Log
  background: Background
}

const hourMs = 60 * 60 * 1000
const flushEveryMs = 10_000
/** While the disk is full; more would only fill the memory too. */
const mostWaiting = 1_000
/** Addresses that get a row of their own within an hour. */
const mostStrangers = 200
const mostCharacters = 200

export function createAudit(options: AuditOptions): Audit {
  const { store, clock, log, background } = options
  let waiting: NewAuditRow[] = []
  let counts = new Map<string, NewAuditRow>()
  let strangers = { hour: 0, addresses: new Set<string>() }
  let isDue = false
  let line: Promise<void> = Promise.resolve()

  const write = async () => {
    const rows = [...waiting, ...counts.values()]
    waiting = []
    counts = new Map()
    if (rows.length === 0) return
    try {
      await store.write(async (transaction) => {
        for (const row of rows) insertAudit(transaction, row)
      })
    } catch (error) {
      const kept = [...rows, ...waiting]
      waiting = kept.slice(-mostWaiting)
      log.warn({ err: error, lost: kept.length - waiting.length }, "audit log not written, tried again")
    }
  }
  const flush = () => {
    line = line.then(write)
    return line
  }
  const timer = setInterval(() => background.run("write audit log", flush), flushEveryMs)
  timer.unref()

  /** A flood from ever new addresses is one row. */
  const stranger = (who: Visitor, hour: number): Visitor => {
    if (strangers.hour !== hour) strangers = { hour, addresses: new Set() }
    if (strangers.addresses.has(who.id)) return who
    if (strangers.addresses.size >= mostStrangers) return { ...who, id: "", name: "further addresses" }
    strangers.addresses.add(who.id)
    return who
  }

  return {
    record(entry) {
      waiting.push({ ...rowOf(entry, clock.now()), counted: 0 })
      if (isDue) return
      isDue = true
      background.run("write audit log", async () => {
        isDue = false
        await flush()
      })
    },
    count(entry) {
      const now = clock.now()
      const hour = now - (now % hourMs)
      const who = entry.who.kind === "stranger" ? stranger(entry.who, hour) : entry.who
      const row: NewAuditRow = { ...rowOf({ ...entry, who }, now), at: hour, counted: 1 }
      const key = JSON.stringify([hour, row.door, row.who_kind, row.who_id, row.action, row.target, row.outcome])
      const known = counts.get(key)
      if (known) {
        known.count += 1
        known.last_at = now
      } else counts.set(key, row)
    },
    read: (query) => readAudit(store, query),
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}

function rowOf(entry: AuditEntry, now: number): Omit<NewAuditRow, "counted"> {
  const { door, who, action, outcome } = entry
  return {
    at: now,
    last_at: now,
    door,
    who_kind: who.kind,
    who_id: short(who.id),
    who_name: short(who.name),
    action,
    target: short(entry.target ?? ""),
    outcome,
    count: 1,
  }
}

/** Names come from outside. */
function short(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ").slice(0, mostCharacters)
}
