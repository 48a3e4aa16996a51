// Messages that are read page by page, at both ends: one page is on its way at a time, and what is asked for or said by the
// stream meanwhile comes after it.
import { on } from "../stream.ts"
import { signal } from "./signals.ts"
import { toast } from "./toast.tsx"
import { wordsOf } from "./parts.tsx"

export interface Message {
  id: number
  isDeleted?: boolean
}

export interface PagesOptions<Item extends Message> {
  /** Oldest first. `after` or `before` a message; with neither the last ones. */
  load: (where: { after?: number; before?: number }) => Promise<Item[]>
  /** How many `load` gives unless there are no more. */
  page: number
  /** Message to begin at. */
  at?: number | undefined
}

/** What the stream says of the messages. */
export interface Listening<Item extends Message> {
  /** Whether an entry of the stream says that there is more. */
  grows?: ((entry: { key: string }) => boolean) | undefined
  /** Entries of the stream that are messages themselves, new ones or such as have changed. */
  topic?: string | undefined
  accepts?: ((item: Item) => boolean) | undefined
}

const mostShown = 250

export function createPages<Item extends Message>({ load, page, at }: PagesOptions<Item>, keepPlace: () => void) {
  const items = signal<Item[] | undefined>(undefined)
  /** Whether there are more, and whether the end is looked at. */
  const ends = { older: true, newer: at !== undefined, isAtEnd: at === undefined }
  let isBusy = false
  /** Asked for while a page was on its way. */
  let wanted: "newer" | "begin" | undefined
  /** What the stream has said while a page was on its way. */
  const waiting: Item[] = []
  const read = async (where: "older" | "newer" | "begin") => {
    const shown = items.current
    if (where === "begin" || !shown) {
      const from = shown ? undefined : at
      items.current = await load(from === undefined ? {} : { after: from - 1 })
      ends.older = from !== undefined || items.current.length === page
      ends.newer = from !== undefined
    } else if (where === "older") {
      const more = await load({ before: shown[0]?.id ?? 0 })
      ends.older = more.length === page
      keepPlace()
      const all = [...more, ...shown]
      ends.newer ||= all.length > mostShown
      items.current = all.slice(0, mostShown)
    } else {
      const more = await load({ after: shown.at(-1)?.id ?? 0 })
      ends.newer = more.length === page
      if (more.length > 0) {
        if (!ends.isAtEnd) keepPlace()
        ends.older ||= shown.length + more.length > mostShown
        items.current = [...shown, ...more].slice(-mostShown)
      }
    }
  }
  const get = async (where: "older" | "newer" | "begin") => {
    if (isBusy) {
      // Older ones are asked for again by whoever looks there; that there is something new is told once.
      if (where !== "older" && wanted !== "begin") wanted = where
      return
    }
    isBusy = true
    try {
      await read(where)
    } catch (error) {
      toast(wordsOf(error), "bad")
    } finally {
      isBusy = false
      waiting.splice(0).forEach(take)
      const next = wanted
      wanted = undefined
      if (next === "begin") void get(next)
      else if (next) follow()
    }
  }
  /** There may be something new: where the end is not here, it comes when it is scrolled to. */
  const follow = () => {
    if (!ends.newer) void get("newer")
  }
  const take = (item: Item) => {
    if (isBusy || !items.current) return void waiting.push(item)
    const isKnown = items.current.some(({ id }) => id === item.id)
    if (!isKnown && (ends.newer || item.isDeleted)) return
    const others = items.current.filter(({ id }) => id !== item.id)
    const all = item.isDeleted ? others : [...others, item].sort((a, b) => a.id - b.id)
    if (!ends.isAtEnd) keepPlace()
    // Whoever reads further up keeps what they read.
    items.current = ends.isAtEnd ? all.slice(-mostShown) : all
    ends.older ||= all.length > items.current.length
  }
  /** Follows the stream until what it returns is called. */
  const listen = ({ grows, topic, accepts }: Listening<Item>) => {
    const stops = [
      grows && on<{ key: string }>("session", (entry) => grows(entry) && follow()),
      topic && on<Item>(topic, (item) => accepts?.(item) && take(item)),
      on("begun", follow),
      on("reset", () => (ends.isAtEnd || !items.current ? void get("begin") : follow())),
      on("ready", () => !items.current && void get("begin")),
    ]
    return () => stops.forEach((stop) => stop && stop())
  }
  return { items, ends, get, follow, listen }
}
