// Rows of one height, of which only those near the window are in the document: a hundred thousand scroll like ten.
import { useSignal } from "./signals.ts"
import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useRef } from "./hooks.ts"
import { place } from "../router.ts"
import { Empty, Failure } from "./parts.tsx"
import type { LiveList, Row } from "./list.ts"

const overscan = 8

interface RowsProps<Item> {
  list: LiveList<Item>
  label: string
  height?: number
  empty: readonly [title: string, text: string]
  children: (item: Item) => ComponentChildren
}

export function Rows<Item extends Row>({ list, label, height = 60, empty, children }: RowsProps<Item>) {
  const box = useRef<HTMLDivElement>(null)
  const range = useSignal({ from: 0, to: Math.ceil(innerHeight / height) + overscan })
  // While it scrolls, only rows that come in are drawn; those that stay are the same, and nobody looks into them.
  const drawn = useMemo(() => new WeakMap<Item, ComponentChildren>(), [children])
  const draw = (item: Item) => {
    if (!drawn.has(item)) drawn.set(item, children(item))
    return drawn.get(item)
  }
  const items = list.items.current
  const isLoading = list.isLoading.current
  useEffect(() => {
    const main = document.getElementById("main") as HTMLElement
    const look = () => {
      // Where there are no rows yet, asking where they are would lay out the page once more before they come.
      if (!box.current) return list.more()
      const above = main.getBoundingClientRect().top - box.current.getBoundingClientRect().top
      const from = Math.max(0, Math.floor(above / height) - overscan)
      const to = Math.ceil((above + main.clientHeight) / height) + overscan
      if (from !== range.current.from || to !== range.current.to) range.current = { from, to }
      if (to >= list.items.current.length) list.more()
    }
    main.addEventListener("scroll", look, { passive: true })
    const sizes = new ResizeObserver(look)
    sizes.observe(main)
    look()
    return () => {
      main.removeEventListener("scroll", look)
      sizes.disconnect()
    }
    // Also when nothing has come: a newer question may have overtaken the one for older rows.
  }, [list, items.length, isLoading])
  const problem = list.error.current !== undefined && <Failure error={list.error.current} retry={list.refresh} />
  if (items.length === 0) {
    const [title, text] =
      place.current.query.size === 0 ? empty : ["Nothing matches", "Empty a field above to see more."]
    return problem || (isLoading ? <p class="dim">Loading…</p> : <Empty title={title}>{text}</Empty>)
  }
  const { from, to } = range.current
  const total = list.hasMore() ? -1 : items.length
  const rows = (
    <div
      ref={box}
      class="rows"
      role="list"
      aria-label={label}
      aria-busy={isLoading}
      style={{ height: `${items.length * height}px` }}
    >
      {items.slice(from, to).map((item, index) => (
        <div
          key={item.id}
          class="row"
          role="listitem"
          aria-setsize={total}
          aria-posinset={from + index + 1}
          style={{ height: `${height}px`, transform: `translateY(${(from + index) * height}px)` }}
        >
          {draw(item)}
        </div>
      ))}
    </div>
  )
  return [rows, problem]
}

/** Rows that are all there. */
export function fixedList<Item extends Row>(items: readonly Item[]): LiveList<Item> {
  const nothing = () => undefined
  return {
    items: { current: items },
    isLoading: {},
    error: {},
    hasMore: nothing,
    more: nothing,
  } as unknown as LiveList<Item>
}
