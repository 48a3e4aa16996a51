// What was made of the beginning of a list, for the next list that begins with the very same objects: a conversation is
// asked about anew at each step, and all of it but the last few messages is what it was before.

export interface Beginnings<Item extends object, Made> {
  /**
   * What was kept last of a list that began with the same item, under the same conditions (compared one by one, with
   * `===`); undefined where this list does not begin with all that it was made of.
   */
  find(items: readonly Item[], conditions?: readonly unknown[]): Beginning<Made> | undefined
  /** Of the first `length` items. `made` is shared: nobody may change it. */
  keep(items: readonly Item[], beginning: Beginning<Made>, conditions?: readonly unknown[]): void
}

export interface Beginning<Made> {
  length: number
  made: Made
}

interface Kept<Item, Made> {
  conditions: readonly unknown[]
  items: readonly Item[]
  made: Made
}

/** Conditions that one list is looked at under in turns: those of a model and of the one that is asked in its place. */
const maxConditions = 4

/** Lists that are gone on with in turns. One that is forgotten costs making its beginning anew. */
const maxLists = 32

interface Known<Item extends object, Made> {
  first: WeakRef<Item>
  kept: Kept<Item, Made>[]
}

/** What is kept lives no longer than the first item of its list. */
export function createBeginnings<Item extends object, Made>(): Beginnings<Item, Made> {
  const known = new WeakMap<Item, Known<Item, Made>>()
  /** Least lately kept first. */
  const firsts = new Set<WeakRef<Item>>()
  return {
    find(items, conditions = []) {
      const first = items[0]
      const kept = first && known.get(first)?.kept.find((each) => areSame(each.conditions, conditions))
      return kept && beginsWith(items, kept.items) ? { length: kept.items.length, made: kept.made } : undefined
    },
    keep(items, { length, made }, conditions = []) {
      const first = items[0]
      if (!first || length === 0) return
      const list = known.get(first) ?? { first: new WeakRef(first), kept: [] }
      const others = list.kept.filter((each) => !areSame(each.conditions, conditions))
      list.kept = [...others.slice(1 - maxConditions), { conditions, items: items.slice(0, length), made }]
      known.set(first, list)
      firsts.delete(list.first)
      firsts.add(list.first)
      const [oldest] = firsts
      if (firsts.size <= maxLists || !oldest) return
      firsts.delete(oldest)
      const forgotten = oldest.deref()
      if (forgotten) known.delete(forgotten)
    },
  }
}

/** A loop, since lists are long and each step looks at them several times. */
function beginsWith(items: readonly unknown[], beginning: readonly unknown[]): boolean {
  if (beginning.length > items.length) return false
  // Where they part, they do so near the end.
  for (let index = beginning.length - 1; index >= 0; index -= 1) if (items[index] !== beginning[index]) return false
  return true
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index])
}
