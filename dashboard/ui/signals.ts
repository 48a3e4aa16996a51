// Values that components follow: whoever reads `current` while it is drawn is drawn again when that changes.
import { type Drawn, drawing, redraw, useMemo } from "./render.ts"

export interface Signal<Value> {
  current: Value
}
export type ReadonlySignal<Value> = Readonly<Signal<Value>>

export function signal<Value>(initial: Value): Signal<Value> {
  const readers = new Set<Drawn>()
  let held = initial
  return {
    get current() {
      const component = drawing()
      if (component) {
        readers.add(component)
        component.sources.add(readers)
      }
      return held
    },
    set current(next) {
      if (Object.is(next, held)) return
      held = next
      for (const component of readers) redraw(component)
    },
  }
}

export function useSignal<Value>(initial: Value): Signal<Value> {
  return useMemo(() => signal(initial), [])
}
