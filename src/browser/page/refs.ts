// Numbers of elements as callers see them. A number is given once in the life of a browser connection, for one element
// of one document in one tab, and never again: an old number can fail, but it can never mean something else.
import { AppError } from "../../kernel/index.ts"
import type { Frame, World } from "./frames.ts"

/** Whose elements they are. */
export interface RefTab {
  readonly targetId: string
}

export interface RefPlace {
  tab: RefTab
  frame: Frame
  world: World
  /** The element's number inside its world. */
  id: number
}

export interface RefEntry extends RefPlace {
  /** As callers see it. */
  number: number
}

const newSnapshot = "Take a new snapshot and use a ref of it"

/** Past this the oldest numbers of one document are forgotten: they are from renderings long gone. */
const maxPerWorld = 60_000

/** `12`, `e12`, `@12`, `@e12`, `ref=12`, `aria-ref=12` and `[ref=e12]` are the same. Throws `bad-request`. */
export function parseRef(text: string): number {
  const match = /^(?:aria-ref=|ref=)?@?e?(\d{1,9})$/i.exec(text.trim().replace(/^\[(.*)\]$/, "$1"))
  if (!match) {
    throw new AppError("bad-request", `'${text.slice(0, 40)}' is not a ref`, {
      hint: "A ref is a number of the last snapshot, such as 12 or e12",
    })
  }
  return Number(match[1])
}

/** So many numbers are written down as given before they are. */
const numbersAhead = 100

export class RefBook {
  readonly #entries = new Map<number, RefEntry>()
  readonly first: number
  #next: number
  #reserve: ((below: number) => void) | undefined
  #reserved = 0

  /**
   * Numbers are given from `next` on, which differs between connections, so that no ref of before is found under another
   * meaning. Those from `first` on are known to have been given: they are stale.
   */
  constructor(next = 1, first = next) {
    this.first = first
    this.#next = next
  }

  /** The number that is given next. */
  get next(): number {
    return this.#next
  }

  /**
   * Tells, before they are given, below which number all may have been given: whoever takes up the browser after us
   * goes on from there, and no ref of now comes to mean something else.
   */
  reserveBy(write: (below: number) => void): void {
    this.#reserve = write
    this.#reserveAhead()
  }

  #reserveAhead(): void {
    if (!this.#reserve || this.#next + numbersAhead <= this.#reserved) return
    // Doubled, so that pages of thousands of elements cost a few writes.
    this.#reserved = 2 * Math.max(numbersAhead, this.#next)
    this.#reserve(this.#reserved)
  }

  /** The entry of the element; a number is given to one that has none. */
  entryOf({ tab, frame, world, id }: RefPlace): RefEntry {
    const known = this.#entries.get(world.numbers.get(id) ?? 0)
    if (known) return known
    const number = this.#next++
    this.#reserveAhead()
    world.numbers.set(id, number)
    const entry: RefEntry = { tab, frame, world, id, number }
    this.#entries.set(number, entry)
    if (world.numbers.size > maxPerWorld) {
      const [oldest, oldestNumber] = world.numbers.entries().next().value as [number, number]
      world.numbers.delete(oldest)
      this.#entries.delete(oldestNumber)
    }
    return entry
  }

  /** Throws `ref-not-found` for a number that was never given (or belongs to another tab), `stale-ref` for an old one. */
  resolve(text: string, tab: RefTab): RefEntry {
    const number = parseRef(text)
    const entry = this.#entries.get(number)
    if (!entry) {
      if (number >= this.first && number < this.#next) throw staleRef(number, "page")
      throw new AppError("ref-not-found", `There is no element with ref ${number}`, { hint: newSnapshot })
    }
    if (entry.tab !== tab) {
      throw new AppError("ref-not-found", `Ref ${number} belongs to another tab (${entry.tab.targetId})`, {
        hint: "Name that tab with targetId, or take a snapshot of this one",
      })
    }
    if (!entry.world.alive) throw staleRef(number, "page")
    return entry
  }

  forget(world: World): void {
    for (const number of world.numbers.values()) this.#entries.delete(number)
    world.numbers.clear()
  }
}

/** `what` is gone: the element alone, which the page has removed or drawn anew, or the whole page that it stood on. */
export function staleRef(number: number, what: "element" | "page" = "element"): AppError {
  const why =
    what === "page" ? "the page that it stood on is not shown any more" : "the page has removed it, or drawn it anew"
  return new AppError("stale-ref", `The element of ref ${number} is gone: ${why}`, { hint: newSnapshot })
}
