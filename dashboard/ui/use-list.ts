// A live list for a component: made anew when its key changes, and ended with it.
import { useEffect, useMemo } from "./hooks.ts"
import { type ListOptions, type LiveList, type Row, createList } from "./list.ts"

export function useList<Item extends Row>(key: string, options: ListOptions<Item>): LiveList<Item> {
  const list = useMemo(() => createList(options), [key])
  useEffect(() => list.stop, [list])
  return list
}
