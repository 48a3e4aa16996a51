// A real store in a temporary folder, with a log that goes nowhere.
import { pino } from "pino"
import type { TestContext } from "node:test"
import { type Clock, type CrashPoint, type Log, noCrash, systemClock, systemIds } from "../../src/kernel/index.ts"
import { type Store, type StoreOptions, openStore } from "../../src/store/index.ts"
import { endWith } from "./ends.ts"
import { withPlansWatched } from "./plans.ts"
import { newStateFolder } from "./state-folder.ts"

export const silentLog: Log = pino({ level: "silent" })

export interface TestStoreOptions {
  /** Default: one whose store has just been made. */
  folder?: string
  bootId?: string
  clock?: Clock
  crashPoint?: CrashPoint
  newStore?: boolean
  keep?: StoreOptions["keep"]
  sync?: StoreOptions["sync"]
}

export async function testStore(context: TestContext, options: TestStoreOptions = {}): Promise<Store> {
  const opening = openStore({
    folder: options.folder ?? (await newStateFolder()),
    bootId: options.bootId ?? systemIds.uuid(),
    clock: options.clock ?? systemClock,
    ids: systemIds,
    log: silentLog,
    crashPoint: options.crashPoint ?? noCrash,
    newStore: options.newStore,
    ...(options.keep === undefined ? {} : { keep: options.keep }),
    ...(options.sync === undefined ? {} : { sync: options.sync }),
  })
  const store = await withPlansWatched(opening)
  let open = true
  const close = store.close.bind(store)
  store.close = async () => {
    if (!open) return
    open = false
    await close()
  }
  endWith(context, () => store.close())
  return store
}

/** Rows as plain objects: SQLite's have no prototype, which a strict comparison notices. */
export function plain<T>(rows: T): T {
  return structuredClone(rows)
}
