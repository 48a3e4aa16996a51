// A list that is read page by page, newest first, and kept up to date by the stream: rows are known by their ids, so that
// one that comes twice is one, and what the stream says while a page is on its way is applied after it.
import { createOrdered } from "./ordered.ts"
import { type ReadonlySignal, signal } from "./signals.ts"
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

/** Of a row; what belongs to a list of others has a number, or a word. */
export interface Row {
  id: number | string
}

export interface ListOptions<Item> {
  load: (before: number | undefined) => Promise<{ items: Item[]; next: number | null }>
  /** Entries of the stream that are rows of this list. */
  topic?: string
  /** Entries of the stream after which the newest page is read again, at most once a second. */
  touchedBy?: string
  /** Whether a row of the stream belongs in, as the list is filtered. */
  accepts?: (item: Item) => boolean
  /** By which rows are ordered, the largest first, and older pages are asked for; their ids, when not given. */
  order?: (item: Item) => number
}

/** The first page is there at once, those that are scrolled to are few. */
export const pageFrom = (before: number | undefined, first = 100) => ({ before, limit: before ? 500 : first })

const mostEmptyPages = 100

const touchMs = 1_000

export function createList<Item extends Row>(options: ListOptions<Item>): LiveList<Item> {
  const { order = ({ id }) => id as number } = options
  const items = signal<readonly Item[]>([])
  const isLoading = signal(false)
  const error = signal<unknown>(undefined)
  let next: number | null | undefined
  let waiting: Item[] = []
  let round = 0
  /** Whether the page that was asked for last is the newest. */
  let isNewest = false
  const rows = createOrdered(order)

  const merge = (given: readonly Item[]) => {
    if (given.length === 0) return
    const last = items.current.at(-1)
    const oldest = last === undefined ? 0 : order(last)
    const all = [...new Map(given.map((item) => [item.id, item])).values()]
    const gone = all.filter((item) => !(options.accepts?.(item) ?? true))
    // What is older than all that is shown is on a page that is not read yet.
    const isShown = (item: Item) => typeof next !== "number" || order(item) >= oldest
    items.current = rows.change(
      all.filter((item) => isShown(item) && !gone.includes(item)),
      gone,
    )
  }

  const load = async (before: number | undefined) => {
    const own = (round += 1)
    isNewest = before === undefined
    isLoading.current = true
    try {
      let page = await options.load(before)
      // A filter may find nothing in the stretch that one page looks through.
      for (let n = 0; n < mostEmptyPages && page.items.length === 0 && page.next !== null && own === round; n += 1) {
        page = await options.load(page.next)
      }
      if (own !== round) return
      const overlaps = before !== undefined || page.items.some(({ id }) => id === items.current[0]?.id)
      // What a newer page should have and has not is gone.
      const end = page.items.at(-1)
      const isOlder = (item: Item) => page.next !== null && end !== undefined && order(item) < order(end)
      const kept = before !== undefined ? items.current : overlaps ? items.current.filter(isOlder) : []
      if (!overlaps || before !== undefined || next === undefined || page.next === null) next = page.next
      if (before === undefined) rows.keep(kept)
      items.current = rows.change(page.items)
      error.current = undefined
    } catch (thrown) {
      if (own === round) error.current = thrown
    } finally {
      if (own === round) {
        isLoading.current = false
        // Also where the page did not come: kept for the next one, they would stand in the place of what is newer by then.
        merge(waiting)
        waiting = []
      }
    }
  }

  const refresh = () => load(undefined)
  let timer = 0
  const soon = () => {
    timer ||= setTimeout(() => {
      timer = 0
      // Where rows come faster than the newest page, nothing would be shown else.
      void (isLoading.current && isNewest ? soon : refresh)()
    }, touchMs)
  }
  const ends = [
    on("reset", () => void refresh()),
    on("begun", soon),
    on(options.touchedBy ?? "", soon),
    () => clearTimeout(timer),
    on<Item>(options.topic ?? "", (item) => (isLoading.current ? void waiting.push(item) : merge([item]))),
  ]
  void refresh()
  return {
    items,
    isLoading,
    error,
    hasMore: () => typeof next === "number",
    more() {
      if (!isLoading.current && typeof next === "number" && error.current === undefined) void load(next)
    },
    refresh,
    stop: () => ends.forEach((end) => end()),
  }
}
