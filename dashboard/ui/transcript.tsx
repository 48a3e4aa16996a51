// Messages of a conversation, oldest first, of which a few hundred are in the document: older and newer ones come when
// they are scrolled to, those far away go, and what is being read stays where it is.
import { useSignal } from "./signals.ts"
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { on } from "../stream.ts"
import { toast } from "./toast.tsx"
import { wordsOf } from "./parts.tsx"

interface Message {
  id: number
  isDeleted?: boolean
}

interface TranscriptProps<Item extends Message> {
  label: string
  /** Oldest first. `after` or `before` a message; with neither the last ones. */
  load: (where: { after?: number; before?: number }) => Promise<Item[]>
  /** How many `load` gives unless there are no more. */
  page: number
  /** Message to begin at. */
  at?: number | undefined
  /** Whether an entry of the stream says that there is more. */
  grows?: (entry: { key: string }) => boolean
  /** Entries of the stream that are messages themselves, new ones or such as have changed. */
  topic?: string
  accepts?: (item: Item) => boolean
  /** What stands below the last message. */
  tail?: ComponentChildren
  /** Whenever this changes, the end is shown. */
  follow?: string | undefined
  empty: ComponentChildren
  children: (item: Item) => ComponentChildren
}

const mostShown = 250
/** How near to an end the next page is asked for. */
const nearPx = 800

/** The messages that are shown, and how more of them come. */
function usePages<Item extends Message>(props: TranscriptProps<Item>, keepPlace: () => void) {
  const { load, page, at } = props
  const items = useSignal<Item[] | undefined>(undefined)
  const ends = useRef({ older: true, newer: at !== undefined, isBusy: false, isAtEnd: at === undefined })
  /** What the stream has said while a page was on its way. */
  const waiting = useRef<Item[]>([])
  const get = async (where: "older" | "newer" | "begin") => {
    const state = ends.current
    if (state.isBusy) return
    state.isBusy = true
    const shown = items.value ?? []
    try {
      if (where === "begin") {
        items.value = await load(at === undefined ? {} : { after: at - 1 })
        state.older = at !== undefined || items.value.length === page
        state.newer = at !== undefined
      } else if (where === "older") {
        const more = await load({ before: shown[0]?.id ?? 0 })
        state.older = more.length === page
        keepPlace()
        const all = [...more, ...shown]
        state.newer ||= all.length > mostShown
        items.value = all.slice(0, mostShown)
      } else {
        const more = await load({ after: shown.at(-1)?.id ?? 0 })
        state.newer = more.length === page
        if (more.length > 0) {
          if (!state.isAtEnd) keepPlace()
          state.older ||= shown.length + more.length > mostShown
          items.value = [...shown, ...more].slice(-mostShown)
        }
      }
    } catch (error) {
      toast(wordsOf(error), "bad")
    } finally {
      state.isBusy = false
      waiting.current.splice(0).forEach(take)
    }
  }
  const take = (item: Item) => {
    const { isBusy, newer, isAtEnd } = ends.current
    if (isBusy || !items.value) return void waiting.current.push(item)
    const isKnown = items.value.some(({ id }) => id === item.id)
    if (!isKnown && (newer || item.isDeleted)) return
    const others = items.value.filter(({ id }) => id !== item.id)
    const all = item.isDeleted ? others : [...others, item].sort((a, b) => a.id - b.id)
    if (!isAtEnd) keepPlace()
    // Whoever reads further up keeps what they read.
    items.value = isAtEnd ? all.slice(-mostShown) : all
    ends.current.older ||= all.length > items.value.length
  }
  return { items, ends, get, take }
}

export function Transcript<Item extends Message>(props: TranscriptProps<Item>) {
  const { at, grows, topic, accepts, follow, label, children } = props
  const box = useRef<HTMLDivElement>(null)
  const anchor = useRef<{ id: string; top: number } | undefined>(undefined)
  /** The first message in view, by which the rest is put back. */
  const keepPlace = () => {
    const top = box.current?.getBoundingClientRect().top ?? 0
    const seen = [...(box.current?.children ?? [])].find((child) => child.getBoundingClientRect().bottom > top)
    anchor.current = seen && { id: seen.id, top: seen.getBoundingClientRect().top }
  }
  const { items, ends, get, take } = usePages(props, keepPlace)
  /** A message is drawn once for as long as it is the same: a few hundred are here while an answer grows below them. */
  const drawn = useRef(new WeakMap<Item, ComponentChildren>()).current
  const draw = (item: Item) => {
    const known = drawn.get(item) ?? children(item)
    drawn.set(item, known)
    return known
  }
  const look = () => {
    const element = box.current
    if (!element || !items.value) return
    const below = element.scrollHeight - element.scrollTop - element.clientHeight
    ends.current.isAtEnd = below < 40 && !ends.current.newer
    if (ends.current.older && element.scrollTop < nearPx) void get("older")
    else if (ends.current.newer && below < nearPx) void get("newer")
  }
  const stay = () => {
    if (box.current && ends.current.isAtEnd) box.current.scrollTop = box.current.scrollHeight
  }
  useEffect(() => {
    void get("begin")
    const stops = [
      grows && on<{ key: string }>("session", (entry) => grows(entry) && !ends.current.newer && void get("newer")),
      topic && on<Item>(topic, (item) => accepts?.(item) && take(item)),
      on("begun", () => grows && items.value && void get("newer")),
      on("reset", () => void get(ends.current.isAtEnd ? "begin" : "newer")),
      on("ready", () => !items.value && void get("begin")),
    ]
    // What stands below it may grow.
    const sizes = new ResizeObserver(stay)
    if (box.current) sizes.observe(box.current)
    return () => {
      sizes.disconnect()
      stops.forEach((stop) => stop && stop())
    }
  }, [])
  useEffect(() => {
    if (follow === undefined) return
    ends.current.isAtEnd = true
    if (ends.current.newer) void get("begin")
    else stay()
  }, [follow])
  useLayoutEffect(() => {
    const { current: kept } = anchor
    anchor.current = undefined
    const found = kept && document.getElementById(kept.id)
    if (found && box.current) box.current.scrollTop += found.getBoundingClientRect().top - kept.top
    else stay()
    look()
  })
  return (
    <div
      ref={box}
      class="transcript"
      role="log"
      aria-label={label}
      aria-live="off"
      tabIndex={0}
      onScroll={look}
      // Pictures come after their messages.
      onLoadCapture={stay}
    >
      {items.value?.length === 0 && props.empty}
      {items.value?.map((item) => (
        <article key={item.id} id={`m${item.id}`} class={item.id === at ? "wanted" : undefined}>
          {draw(item)}
        </article>
      ))}
      {props.tail}
    </div>
  )
}
