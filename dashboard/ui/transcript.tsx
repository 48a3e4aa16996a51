// Messages of a conversation, oldest first, of which a few hundred are in the document: older and newer ones come when
// they are scrolled to, those far away go, and what is being read stays where it is.
import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useRef } from "./hooks.ts"
import { type Listening, type Message, type PagesOptions, createPages } from "./paged.ts"

interface TranscriptProps<Item extends Message> extends PagesOptions<Item>, Listening<Item> {
  label: string
  /** What stands below the last message. */
  tail?: ComponentChildren
  /** Whenever this changes, the end is shown. */
  follow?: string | undefined
  empty: ComponentChildren
  children: (item: Item) => ComponentChildren
}

/** How near to an end the next page is asked for. */
const nearPx = 800

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
  const { items, ends, get, listen } = useMemo(() => createPages(props, keepPlace), [])
  /** A message is drawn once for as long as it is the same: a few hundred are here while an answer grows below them. */
  const drawn = useRef(new WeakMap<Item, ComponentChildren>()).current
  const draw = (item: Item) => {
    const known = drawn.get(item) ?? children(item)
    drawn.set(item, known)
    return known
  }
  const look = () => {
    const element = box.current
    if (!element || !items.current) return
    const below = element.scrollHeight - element.scrollTop - element.clientHeight
    ends.isAtEnd = below < 40 && !ends.newer
    if (ends.older && element.scrollTop < nearPx) void get("older")
    else if (ends.newer && below < nearPx) void get("newer")
  }
  const stay = () => {
    if (box.current && ends.isAtEnd) box.current.scrollTop = box.current.scrollHeight
  }
  useEffect(() => {
    void get("begin")
    const stop = listen({ grows, topic, accepts })
    // What stands below it may grow.
    const sizes = new ResizeObserver(stay)
    if (box.current) sizes.observe(box.current)
    return () => {
      sizes.disconnect()
      stop()
    }
  }, [])
  useEffect(() => {
    if (follow === undefined) return
    ends.isAtEnd = true
    if (ends.newer) void get("begin")
    else stay()
  }, [follow])
  /** Another function each time, so that it is called whenever all of it is drawn. */
  const placed = (element: HTMLDivElement | null) => {
    box.current = element
    if (!element) return
    const { current: kept } = anchor
    anchor.current = undefined
    const found = kept && document.getElementById(kept.id)
    if (found) element.scrollTop += found.getBoundingClientRect().top - kept.top
    else stay()
    look()
  }
  return (
    <div
      ref={placed}
      class="transcript"
      role="log"
      aria-label={label}
      aria-live="off"
      tabIndex={0}
      onScroll={look}
      // Pictures come after their messages.
      onLoadCapture={stay}
    >
      {items.current?.length === 0 && props.empty}
      {items.current?.map((item) => (
        <article key={item.id} id={`m${item.id}`} class={item.id === at ? "wanted" : undefined}>
          {draw(item)}
        </article>
      ))}
      {props.tail}
    </div>
  )
}
