// A list that is read page by page, newest first, and kept up to date by the stream: rows are known by their ids, so that
// one that comes twice is one, and what the stream says while a page is on its way is applied after it.
import { type ReadonlySignal, signal } from "@preact/signals"
import { on } from "../stream.ts"

export interface LiveList<Item> {
  items: ReadonlySignal<readonly Item[]>
  isLoading: ReadonlySignal<boolean>
  error: ReadonlySignal<unknown>
  /** Whether there are older ones. */
  hasMore: () => boolean
  more(): void
  /** Reads the newest page again. */
  refresh(): Promise<void>
  stop(): void
}

export interface ListOptions<Item> {
  load: (before: number | undefined) => Promise<{ items: Item[]; next: number | null }>
  /** Entries of the stream that are rows of this list. */
  topic?: string
  /** Whether a row of the stream belongs in, as the list is filtered. */
  accepts?: (item: Item) => boolean
}

const mostEmptyPages = 100

export function createList<Item extends { id: number }>(options: ListOptions<Item>): LiveList<Item> {
  const items = signal<readonly Item[]>([])
  const isLoading = signal(false)
  const error = signal<unknown>(undefined)
  let next: number | null | undefined
  let waiting: Item[] = []
  let round = 0

  const merge = (given: readonly Item[]) => {
    if (given.length === 0) return
    const known = new Map(items.value.map((item) => [item.id, item]))
    const oldest = items.value.at(-1)?.id ?? 0
    for (const item of given) {
      if (!(options.accepts?.(item) ?? true)) known.delete(item.id)
      // What is older than all that is shown is on a page that is not read yet.
      else if (next === null || next === undefined || item.id >= oldest) known.set(item.id, item)
    }
    items.value = [...known.values()].sort((a, b) => b.id - a.id)
  }

  const load = async (before: number | undefined) => {
    const own = (round += 1)
    isLoading.value = true
    try {
      let page = await options.load(before)
      // A filter may find nothing in the stretch that one page looks through.
      for (let n = 0; n < mostEmptyPages && page.items.length === 0 && page.next !== null && own === round; n += 1) {
        page = await options.load(page.next)
      }
      if (own !== round) return
      const overlaps = before !== undefined || page.items.some(({ id }) => id === items.value[0]?.id)
      const kept = overlaps ? items.value : []
      if (!overlaps || before !== undefined || next === undefined) next = page.next
      const fresh = new Map([...kept, ...page.items].map((item) => [item.id, item]))
      items.value = [...fresh.values()].sort((a, b) => b.id - a.id)
      error.value = undefined
      merge(waiting)
      waiting = []
    } catch (thrown) {
      if (own === round) error.value = thrown
    } finally {
      if (own === round) isLoading.value = false
    }
  }

  const ends = [
    on("reset", () => void load(undefined)),
    ...(options.topic === undefined
      ? []
      : [on<Item>(options.topic, (item) => (isLoading.value ? void waiting.push(item) : merge([item])))]),
  ]
  void load(undefined)
  return {
    items,
    isLoading,
    error,
    hasMore: () => typeof next === "number",
    more() {
      if (!isLoading.value && typeof next === "number" && error.value === undefined) void load(next)
    },
    refresh: () => load(undefined),
    stop: () => ends.forEach((end) => end()),
  }
}
