// Rows in an order, the largest first, known by their ids. Few change at a time, of very many: no change goes through all.
export interface Ordered<Item> {
  /** Forgets all rows but these, which stand in their order. */
  keep(rows: readonly Item[]): void
  /** The rows with these put in or replaced, and those taken out; an array of its own. */
  change(put: readonly Item[], gone?: readonly Item[]): readonly Item[]
}

export function createOrdered<Item extends { id: number | string }>(order: (item: Item) => number): Ordered<Item> {
  let rows: readonly Item[] = []
  let known = new Map<Item["id"], Item>()
  /** Where the row is, or belongs. */
  const find = (all: readonly Item[], item: Item) => {
    const value = order(item)
    let from = 0
    for (let to = all.length; from < to;) {
      const middle = (from + to) >> 1
      if (order(all[middle] as Item) > value) from = middle + 1
      else to = middle
    }
    while (from < all.length && order(all[from] as Item) === value && all[from]?.id !== item.id) from += 1
    return from
  }
  return {
    keep(kept) {
      rows = kept
      known = new Map(kept.map((item) => [item.id, item]))
    },
    change(put, gone = []) {
      const next = [...rows]
      for (const item of [...put, ...gone]) {
        const old = known.get(item.id)
        if (old) next.splice(find(next, old), 1)
        known.delete(item.id)
      }
      for (const item of put) {
        next.splice(find(next, item), 0, item)
        known.set(item.id, item)
      }
      rows = next
      return next
    },
  }
}
