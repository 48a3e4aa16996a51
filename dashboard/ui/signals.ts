// Values that components follow: whoever reads `current` while it is drawn is drawn again when that changes. A tenth of the
// library of the same names, which also follows values inside computed ones and single attributes; nothing here needs it.
import { type Running, running, useMemo } from "./hooks.ts"

export interface Signal<Value> {
  current: Value
}
export type ReadonlySignal<Value> = Readonly<Signal<Value>>

export function signal<Value>(initial: Value): Signal<Value> {
  const readers = new Set<Running>()
  let held = initial
  return {
    get current() {
      if (running) {
        readers.add(running)
        running.sources.add(readers)
      }
      return held
    },
    set current(next) {
      if (Object.is(next, held)) return
      held = next
      for (const component of readers) component.forceUpdate()
    },
  }
}

export function useSignal<Value>(initial: Value): Signal<Value> {
  return useMemo(() => signal(initial), [])
}
