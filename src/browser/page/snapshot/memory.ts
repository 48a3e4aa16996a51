// What a tab remembers of its last snapshot: for answers to "what has changed", and for the answer that nothing has.
import { callAgent, type World } from "../frames.ts"
import { followInternals } from "./internals.ts"
import type { Line } from "./line.ts"

export interface Remembered {
  /** The options that shape the lines. */
  key: string
  url: string
  /** Of the page; "" where it is not known: the page has none, or only a frame was walked. */
  title: string
  lines: Line[]
  folded: number
  /** Anything was otherwise than at the snapshot before, in what this one shows or elsewhere. */
  changed: boolean
  worlds: World[]
  frames: number
}

/** What is looked at of a tab before its frames are asked. */
export interface ShownTab {
  readonly url: string
  readonly frames: { readonly all: readonly unknown[] }
}

const probeMs = 1_000

export class SnapshotMemory {
  #last: Remembered | undefined
  #sure = false
  #inputAt: number | undefined
  /** What walks that nobody was shown have found out about changes. */
  #changedUnseen = false
  /** What was shown last of the other kinds, by its options. */
  readonly #shown = new Map<string, Remembered>()
  /** What was shown of each before it looked otherwise. */
  readonly #earlier = new Map<string, Remembered>()

  /** The page was changing when it was last asked: it will have changed again. */
  isMoving = false

  get last(): Remembered | undefined {
    return this.#last
  }

  keep(snapshot: Remembered): void {
    snapshot.changed ||= this.#changedUnseen
    this.#changedUnseen = false
    this.#last = snapshot
    this.#sure = true
  }

  /** Of long pages only the last snapshot is kept, whatever its kind. */
  show(snapshot: Remembered): void {
    const [mostKinds, mostLines] = [2, 2_000]
    const before = this.#shown.get(snapshot.key)
    if (before && !isAlike(before, snapshot)) this.#earlier.set(snapshot.key, before)
    this.#shown.delete(snapshot.key)
    if (snapshot.lines.length <= mostLines) this.#shown.set(snapshot.key, snapshot)
    for (const key of this.#shown.keys()) if (this.#shown.size > mostKinds) this.#shown.delete(key)
    for (const key of this.#earlier.keys()) if (!this.#shown.has(key)) this.#earlier.delete(key)
  }

  /** The snapshot with these options that was shown last. */
  shownAs(key: string): Remembered | undefined {
    return this.#last?.key === key ? this.#last : this.#shown.get(key)
  }

  /** What was shown with these options before that one, and looked otherwise. */
  shownEarlier(key: string): Remembered | undefined {
    return this.#earlier.get(key)
  }

  /** After a walk that nobody was shown: pages watch for changes since that one, not since this snapshot. */
  restore(snapshot: Remembered | undefined): void {
    if (this.#last !== snapshot) this.#changedUnseen ||= this.#last?.changed ?? false
    this.#last = snapshot
    this.#sure = false
  }

  /** Input of ours can change what a page shows without a trace in its document (a menu under the mouse). */
  doubt(): void {
    this.#sure = false
  }

  /** Input was given at this monotonic time: the page may still be about to answer it. */
  expectAnswer(at: number): void {
    this.#inputAt = at
  }

  /** When the last input was given. */
  get inputAt(): number | undefined {
    return this.#inputAt
  }

  /** The last snapshot, when these are its options and nothing that is known speaks against its still being true. */
  current(tab: ShownTab, key: string): Remembered | undefined {
    const last = this.#last
    if (!last || !this.#sure || last.key !== key || last.url !== tab.url) return undefined
    return last.worlds.every((world) => world.alive) && tab.frames.all.length === last.frames ? last : undefined
  }

  /** The last snapshot, when these are its options and every frame says that nothing has changed since. */
  async unchanged(tab: ShownTab, key: string, signal: AbortSignal): Promise<Remembered | undefined> {
    const last = this.current(tab, key)
    if (!last) return undefined
    const limit = AbortSignal.any([signal, AbortSignal.timeout(probeMs)])
    try {
      const answers = last.worlds.map(async (world) => {
        await followInternals(world, limit)
        return await callAgent<boolean>(world, "unchanged", null, limit)
      })
      return (await Promise.all(answers)).every(Boolean) ? last : undefined
    } catch (error) {
      // Whatever kept a frame from answering: a walk will meet it and say so.
      if (signal.aborted) throw error
      return undefined
    }
  }
}

export function isAlike(one: Remembered, other: Remembered): boolean {
  if (one === other) return true
  if (one.url !== other.url || one.lines.length !== other.lines.length) return false
  return one.lines.every(({ text }, index) => text === other.lines[index]?.text)
}
