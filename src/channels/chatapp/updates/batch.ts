// One answer of `getUpdates` -> the updates that can be told apart, what has no usable id, and where the next poll
// begins. Whatever came in between has answered: nothing here throws, and no answer confirms what was not read.
import type { Update } from "grammy/types"

export interface Batch {
  /** Each has an id; nothing else of them is known yet. */
  updates: Update[]
  /** Entries that are no updates: nobody can ask for them by an id. */
  nameless: unknown[]
  /** Where the next poll begins; undefined: where this one began. */
  next: number | undefined
  /** The offset that this answer would lead to, when its ids are not to be believed yet. */
  doubted: number | undefined
}

/** The platform's queue numbers its entries with 32 bits. */
const maxUpdateId = 2 ** 31 - 1
/** Ids count up by one; more updates than that do not lapse between two that are still there. */
const widestGap = 1_000_000

export function isUpdateId(id: unknown): id is number {
  return Number.isSafeInteger(id) && (id as number) >= 0 && (id as number) <= maxUpdateId
}

/**
 * `begun` is the offset of the poll, `doubted` what the answer before it was not believed. An offset confirms everything
 * below it, so ids that go backwards or leap (the platform begins anew somewhere else after a week of silence, a broken
 * proxy any time) move it only when two answers in a row say the same.
 */
export function readBatch(entries: readonly unknown[], begun: number | undefined, doubted: number | undefined): Batch {
  const updates: Update[] = []
  const nameless: unknown[] = []
  for (const entry of entries) {
    if (isUpdate(entry)) updates.push(entry)
    else nameless.push(entry)
  }
  const ids = updates.map((update) => update.update_id)
  if (ids.length === 0) return { updates, nameless, next: undefined, doubted: undefined }
  const next = Math.max(...ids) + 1
  const isBelieved = isPlain(ids, begun) || next === doubted
  return { updates, nameless, next: isBelieved ? next : undefined, doubted: isBelieved ? undefined : next }
}

export function isUpdate(entry: unknown): entry is Update {
  return typeof entry === "object" && entry !== null && isUpdateId((entry as Partial<Update>).update_id)
}

function isPlain(ids: readonly number[], begun: number | undefined): boolean {
  let before = begun ?? ids[0] ?? 0
  for (const id of ids) {
    if (id < before || id - before > widestGap) return false
    before = id
  }
  return true
}
