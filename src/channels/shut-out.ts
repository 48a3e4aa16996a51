// Who is taken off an account's list of people is shut out as one whose pairing is revoked: the lists as they were last
// seen -> as they are now -> a mark for each person who is missing. The lists are kept in the store, so that a change
// that was made while the gateway was off counts as well.
import type { Store, Write } from "../store/index.ts"
import type { AllowList } from "./access.ts"
import { type NamePin, everyoneElse, markShutOut, readListed, readPins, saveListed } from "./store.ts"

export interface Door {
  channel: string
  account: string
  policy: "pairing" | "allowlist" | "open" | "disabled"
  allow: AllowList
}

/** What is kept of a door. */
interface Listed {
  /** Whoever writes is heard. */
  isOpen: boolean
  /** Nobody is, listed or not. */
  isClosed: boolean
  ids: string[]
  names: string[]
}

/** Marks who could write directly when it was called last and is not listed now; returns them. */
export async function noteLists(store: Store, doors: readonly Door[]): Promise<string[]> {
  const isNoted = doors.every((door) => readListed(store, door) === JSON.stringify(listedOf(door)))
  if (isNoted) return []
  return await store.write(async (write) => doors.flatMap((door) => noteDoor(store, write, door)))
}

function noteDoor(store: Store, write: Write, door: Door): string[] {
  const { channel, account } = door
  const now = listedOf(door)
  const kept = readListed(store, door)
  const before = kept === undefined ? undefined : (JSON.parse(kept) as Listed)
  const gone = before ? missing(before, now, readPins(store, channel, account)) : []
  for (const senderId of gone) markShutOut(write, { channel, account, senderId })
  saveListed(write, door, JSON.stringify(now))
  return gone
}

function listedOf({ policy, allow }: Door): Listed {
  return {
    isOpen: policy === "open" || (policy !== "disabled" && allow.everybody),
    isClosed: policy === "disabled",
    ids: [...allow.ids].toSorted(),
    names: [...allow.names].toSorted(),
  }
}

function missing(before: Listed, now: Listed, pins: readonly NamePin[]): string[] {
  const ids = new Set(now.ids)
  const names = new Set(now.names)
  const unnamed = new Set(before.names.filter((name) => !names.has(name)))
  const isNarrower = (before.isOpen && !now.isOpen) || (now.isClosed && !before.isClosed)
  return [
    ...(isNarrower ? [everyoneElse] : []),
    ...before.ids.filter((id) => !ids.has(id)),
    ...pins.filter(({ name }) => unnamed.has(name)).map(({ senderId }) => senderId),
  ]
}
