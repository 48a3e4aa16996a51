// The store of one gateway: opens the database, brings its schema up to date, recovers what a dead process left,
// and gives the rest of the product its few ways in. Nothing accepted is lost, nothing is done twice.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { StatementSync } from "node:sqlite"
import type { Kysely } from "kysely"
import { AppError, type Clock, type CrashPoint, type Ids, type Json, type Log } from "../kernel/index.ts"
import { type Durability, createDurability, takeOverForced } from "./durability.ts"
import { type GroupCommit, type Trx, type WriteOptions, createGroupCommit } from "./group-commit.ts"
import { type IngestEntry, type IngestResult, type NewEvent, type NewJob, type NewOutbox } from "./ingest.ts"
import { ingestEntry, insertEvent, insertJob, insertOutbox } from "./ingest.ts"
import { type DamageWatch, createDamageWatch, storageDamaged } from "./damage.ts"
import type { Lost } from "./folder-watch.ts"
import { lockFileName } from "./lock.ts"
import { type LengthWatch, watchLengths } from "./length-watch.ts"
import { databaseFileName, openDatabase } from "./open-database.ts"
import { createPruner } from "./prune.ts"
import { type Reserve, createReserve } from "./reserve.ts"
import type { SyncFile } from "./rewriting.ts"
import type { Database } from "./schema.ts"
import { type SqliteHandle, describeRefusal, isCorruption } from "./sqlite.ts"
import type { KeepTimes } from "./sweeps.ts"

export interface StoreOptions {
  /** State folder; the database is `svc.db` in it. */
  folder: string
  /** Owner of every claim of this process. */
  bootId: string
  clock: Clock
  ids: Ids
  log: Log
  crashPoint: CrashPoint
  /** How long rows are kept that the configuration decides about. */
  keep?: () => Partial<KeepTimes>
  /** Of this program; see `migrate`. */
  version?: string
  /** See `openDatabase`. */
  newStore?: boolean | undefined
  /** Forces a file to the disk, `fdatasync` where nothing is said. */
  sync?: SyncFile
}

/** Inside a transaction: the query builder, and the writes that several features share. */
export interface Write {
  trx: Trx
  now: number
  addJob(job: NewJob): boolean
  addEvent(event: NewEvent): void
  /** The id of the new row. */
  addOutbox(row: NewOutbox): number
  /** A prepared statement of this connection, for what every event or turn does. */
  prepare(sql: string): StatementSync
}

type AlsoWrite = (write: Write, results: readonly IngestResult[]) => Promise<void>

/** What a commit has added. */
export interface Added {
  jobs: boolean
  outbox: boolean
  /** The lanes of the jobs. */
  lanes: ReadonlySet<string>
}

type Adding = Added & { lanes: Set<string> }

const nothingAdded = (): Adding => ({ jobs: false, outbox: false, lanes: new Set() })

export interface Store {
  readonly bootId: string
  readonly db: Kysely<Database>
  /** For queries outside a transaction that must be fast. */
  readonly handle: SqliteHandle
  readonly clock: Clock
  readonly crashPoint: CrashPoint
  /** Durable when it resolves. Rejects with `storage-full` at once while the disk is full. */
  ingest(entry: IngestEntry): Promise<IngestResult>
  /** All entries and `also`, which is told what they were, in one transaction: all or nothing. */
  ingestBatch(entries: readonly IngestEntry[], also?: AlsoWrite): Promise<IngestResult[]>
  /** A durable transaction, shared with whoever else writes in the same turn of the event loop. */
  write<T>(work: (write: Write) => Promise<T>, options?: WriteOptions): Promise<T>
  /**
   * Called after every commit that added jobs or outbox rows; of an arrival and of outbox rows before the disk has them:
   * see `onCommitted`.
   */
  onAdded(listener: (what: Added) => void): void
  accepting(): boolean
  /** Why nothing is accepted, and what to do; undefined while everything is. */
  problem(): string | undefined
  /**
   * Nothing more is accepted, for this reason: its files are no longer ours. They stay as they are, also at the end; where
   * only the log was lost, what it held is written into the database.
   */
  abandon(reason: AppError, lost?: Lost): void
  /** For a stop: a disk that fails from here on is not waited for, and who has written is told (`NotForced`). */
  giveUp(): void
  /** Lets go of pages of the database that are kept in memory, up to 8 MB; they are read again when they are needed. */
  freeCache(): void
  /** Removes what is older than it is kept; done by itself every ten minutes. */
  prune(): Promise<void>
  /** The time by which things are old, rows and files: that of the wall clock, unless it is far ahead of what is known. */
  pruneTime(): number
  meta: { get(key: string): Promise<Json | undefined>; set(key: string, value: Json): Promise<void> }
  close(): Promise<void>
}

export async function openStore(options: StoreOptions): Promise<Store> {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  chmodSync(options.folder, 0o700)
  // Damage that the start itself meets is dealt with there.
  const met: { damage?: DamageWatch } = {}
  const handle = await openDatabase(options, (error) => met.damage?.met(error))
  const listeners: ((what: Added) => void)[] = []
  const notify = (what: Added) => {
    if (what.jobs || what.outbox) for (const listener of listeners) listener(what)
  }
  const onRecovered = () => notify({ jobs: true, outbox: true, lanes: new Set() })
  const reserve = createReserve({ folder: options.folder, log: options.log, onRecovered })
  const onFailure = (error: unknown) => {
    if (error instanceof AppError && error.code === "storage-full") reserve.spend()
    if (isCorruption(error)) met.damage?.met(error)
  }
  const path = join(options.folder, databaseFileName)
  const isSound = () => met.damage?.problem() === undefined
  const durability = createDurability({ ...options, handle, path, isSound, onFailure })
  const commit = createGroupCommit({ handle, monotonic: options.clock.monotonic, onFailure, durability })
  void commit.hold(() => durability.makeRoom())
  const damage = createDamageWatch({
    path,
    log: options.log,
    hold: commit.holdForced,
    checkpoint: () => commit.checkpoint(),
    onRepaired: onRecovered,
  })
  met.damage = damage
  const pruner = createPruner({ handle, commit, clock: options.clock, log: options.log, keep: options.keep })
  const parts: Parts = {
    options,
    handle,
    commit,
    durability,
    reserve,
    damage,
    notify,
    lengths: watchLengths({ path, onShortened: (error) => damage.met(error) }),
    abandoned: undefined,
    closed: undefined,
  }
  return {
    bootId: options.bootId,
    db: handle.db,
    handle,
    clock: options.clock,
    crashPoint: options.crashPoint,
    ingest: async (entry) => (await ingestBatch(parts, [entry]))[0] as IngestResult,
    ingestBatch: (entries, also) => ingestBatch(parts, entries, also),
    write: (work, options) => write(parts, work, options),
    onAdded: (listener) => void listeners.push(listener),
    accepting: () => refusal(parts) === undefined,
    problem() {
      const refused = refusal(parts)
      return refused && describeRefusal(refused)
    },
    abandon: (reason, lost = "store") => void (parts.abandoned ??= { reason, lost }),
    giveUp: () => durability.giveUp(),
    freeCache: () => handle.raw.exec("pragma shrink_memory"),
    prune: () => pruner.prune(),
    pruneTime: () => pruner.now(),
    meta: createMeta(handle, (work) => write(parts, work)),
    async close() {
      // First: whoever is waited for may be waiting for the disk.
      durability.giveUp()
      await pruner.stop()
      await close(parts, path)
    },
  }
}

async function close(parts: Parts, path: string): Promise<void> {
  const { options, handle, damage, lengths, reserve, durability, commit } = parts
  for (const part of [damage, lengths, reserve]) part.stop()
  await commit
    .idle()
    .catch((error: unknown) => options.log.error({ err: error }, "store closed before the disk took all"))
  // A request whose connection was cut by the stop may come to its end now.
  if (!parts.abandoned) parts.closed = new AppError("not-ready", "The gateway has stopped")
  // Where something is damaged the log is what is left as it was: taken over, it may spoil the database.
  if (damage.problem() !== undefined) return
  if (parts.abandoned?.lost === "store") return saveLostStore(parts, path)
  // Closing removes files by their names, which may be somebody else's by now.
  if (parts.abandoned) return takeOverLostLog(parts, path)
  // The log is all that is sure: it counts as taken over, and closing would remove it.
  if (!durability.isDatabaseForced()) return
  // Whoever reads at this moment, such as a backup, is not waited for.
  handle.raw.exec("pragma busy_timeout = 0")
  takeOverForced(handle, "truncate")
  await handle.db.destroy()
  durability.close()
  lengths.close()
}

interface Parts {
  options: StoreOptions
  handle: SqliteHandle
  commit: GroupCommit
  durability: Durability
  reserve: Reserve
  damage: DamageWatch
  lengths: LengthWatch
  /** Why the files are given up. */
  abandoned: { reason: AppError; lost: Lost } | undefined
  /** What is said to whoever comes after the end. */
  closed: AppError | undefined
  notify: (what: Added) => void
}

async function ingestBatch(parts: Parts, entries: readonly IngestEntry[], also?: AlsoWrite): Promise<IngestResult[]> {
  const refused = refusal(parts)
  if (refused) throw refused
  const added = nothingAdded()
  return await parts.commit.write(
    async (trx) => {
      const now = parts.options.clock.now()
      const settled = entries.map((entry) => ingestEntry(parts.handle, entry, now))
      settled.forEach((result, index) => {
        if (result.kind !== "accepted") return
        for (const { laneKey } of entries[index]?.jobs ?? []) added.lanes.add(laneKey)
        added.jobs = added.lanes.size > 0
        added.outbox ||= (entries[index]?.outbox?.length ?? 0) > 0
      })
      if (also) await also(writer(parts, trx, now, added), settled)
      parts.options.crashPoint("ingest.beforeCommit")
      return settled
    },
    // Plain inserts fail only when the disk does, and then the whole transaction has failed.
    {
      savepoint: also !== undefined,
      onCommitted: () => {
        parts.options.crashPoint("ingest.committed")
        parts.notify(added)
      },
    },
  )
}

async function write<T>(parts: Parts, work: (write: Write) => Promise<T>, options?: WriteOptions): Promise<T> {
  if (parts.closed) throw parts.closed
  const added = nothingAdded()
  const result = await parts.commit.write((trx) => work(writer(parts, trx, parts.options.clock.now(), added)), {
    ...options,
    // Whoever sends forces that it does, and so all that stands in the log before. All that is needed is in the rows.
    onCommitted: () => parts.notify({ ...nothingAdded(), outbox: added.outbox }),
  })
  // Not before the disk has it: what the caller keeps in memory of it is not there sooner either.
  parts.notify({ ...added, outbox: false })
  return result
}

function writer(parts: Parts, trx: Trx, now: number, added: Adding): Write {
  return {
    trx,
    now,
    addJob(job) {
      const isNew = insertJob(parts.handle, job, now)
      added.jobs ||= isNew
      if (isNew) added.lanes.add(job.laneKey)
      return isNew
    },
    addEvent: (event) => insertEvent(parts.handle, event, now),
    addOutbox(row) {
      added.outbox = true
      return insertOutbox(parts.handle, row, now)
    },
    prepare: parts.handle.prepare,
  }
}

/** Why nothing may be accepted now. */
function refusal({ abandoned, closed, damage, durability, reserve }: Parts): AppError | undefined {
  const ended = abandoned?.reason ?? closed
  if (ended) return ended
  const unforced = durability.problem()
  if (unforced) return unforced
  const damaged = damage.problem()
  if (damaged !== undefined) return storageDamaged(damaged)
  if (reserve.accepting()) return undefined
  const hint = "Free some space in the state folder's file system; the gateway goes on by itself"
  return new AppError("storage-full", "The disk is full; nothing was accepted", { retryAfterSeconds: 10, hint })
}

/** Into the database, as no file of its name holds it any more; another that stands there is not to be taken for it. */
function takeOverLostLog({ handle, lengths, options }: Parts, path: string): void {
  const { log, clock } = options
  handle.raw.exec(`pragma synchronous = full; pragma busy_timeout = ${longestReaderMs}`)
  const isWhole = handle.raw.prepare("pragma wal_checkpoint(truncate)").get()?.["busy"] === 0
  if (!isWhole) log.error("store log that was lost could not be written into the database: another program reads it")
  if (lengths.isLogReplaced()) {
    const movedTo = `${path}-wal.set-aside-${new Date(clock.now()).toISOString().replaceAll(":", "-")}`
    renameSync(`${path}-wal`, movedTo)
    log.warn({ movedTo }, "store log of others set aside")
  }
}

/** What is open still holds everything, though its name is gone: beside the place it had, a start tells a person of it. */
function saveLostStore({ handle, lengths, options }: Parts, path: string): void {
  const { log, clock, folder } = options
  // The folder itself may be what was lost, and another stand there.
  if (!existsSync(join(folder, lockFileName)) || !lengths.isDatabaseLost()) return
  const number = (name: string) => Number(Object.values(handle.raw.prepare(`pragma ${name}`).get() ?? {})[0])
  const bytes = number("page_count") * number("page_size")
  if (bytes > mostSavedBytes) return log.error({ bytes }, "store that was lost is too large to be saved at a stop")
  const suffix = new Date(clock.now()).toISOString().replaceAll(":", "-")
  const saved = `${path}.saved-${suffix}`
  try {
    closeSync(openSync(saved, "wx", 0o600))
    handle.raw.prepare("vacuum into ?").run(saved)
    // What is saved has no log, and would be spoilt by this one.
    if (existsSync(`${path}-wal`) && !lengths.isLogReplaced())
      renameSync(`${path}-wal`, `${path}-wal.set-aside-${suffix}`)
    log.warn({ saved, hint: `put it back: mv ${saved} ${path}` }, "store that was lost is saved beside its place")
  } catch (error) {
    log.error({ err: error, saved }, "store that was lost could not be saved")
    rmSync(saved, { force: true })
  }
}

/** Written in less than the ten seconds that a stop may take. */
const mostSavedBytes = 512 * 1024 * 1024

/** A stop has no time to wait for a backup; other programs read for a moment. */
const longestReaderMs = 1_500

function createMeta(handle: SqliteHandle, writeMeta: Store["write"]): Store["meta"] {
  return {
    async get(key) {
      const row = handle.prepare("select value from meta where key = ?").get(key) as { value: string } | undefined
      return row ? (JSON.parse(row.value) as Json) : undefined
    },
    set: (key, value) =>
      writeMeta(async ({ trx }) => {
        const text = JSON.stringify(value)
        await trx
          .insertInto("meta")
          .values({ key, value: text })
          .onConflict((conflict) => conflict.column("key").doUpdateSet({ value: text }))
          .execute()
      }),
  }
}
