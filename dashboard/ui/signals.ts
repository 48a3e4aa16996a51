// Values that components follow: whoever reads `current` while it is drawn is drawn again when that changes. A tenth of the
// library of the same names, which also follows values inside computed ones and single attributes; nothing here needs it.
import { type Component, type VNode, options } from "preact"
import { useMemo } from "preact/hooks"

export interface Signal<Value> {
  current: Value
}
export type ReadonlySignal<Value> = Readonly<Signal<Value>>

/** A component with the values that it has read. */
interface Reader {
  component: Component
  sources: Set<Set<Reader>>
}

/** Whose function runs just now. */
let reader: Reader | undefined
const readers = new WeakMap<Component, Reader>()

export function signal<Value>(initial: Value): Signal<Value> {
  const known = new Set<Reader>()
  let held = initial
  return {
    get current() {
      if (reader) {
        known.add(reader)
        reader.sources.add(known)
      }
      return held
    },
    set current(next) {
      if (Object.is(next, held)) return
      held = next
      for (const { component } of known) component.setState({})
    },
  }
}

export function useSignal<Value>(initial: Value): Signal<Value> {
  return useMemo(() => signal(initial), [])
}

type Drawn = VNode & { __c?: Component }
/** Preact's own steps: `__b` before anything is compared, `__r` before a component runs, `__e` when one throws. */
type Steps = Record<
  "__b" | "__r" | "__e" | "diffed" | "unmount",
  ((...given: [Drawn, ...unknown[]]) => void) | undefined
>

/** Behind what others do in the step: effects that they run are no part of a component's function. */
function after(name: keyof Steps, act: (drawn: Drawn) => void): void {
  const steps = options as unknown as Steps
  const others = steps[name]
  steps[name] = (drawn, ...given) => {
    others?.(drawn, ...given)
    act(drawn)
  }
}

function forget(own: Reader): void {
  for (const known of own.sources) known.delete(own)
  own.sources.clear()
}

const end = () => void (reader = undefined)
after(/* @__KEY__ */ "__b", end)
after(/* @__KEY__ */ "__e", end)
after("diffed", end)
after(/* @__KEY__ */ "__r", ({ __c: component }) => {
  if (!component) return
  const own = readers.get(component) ?? { component, sources: new Set() }
  readers.set(component, own)
  forget(own)
  reader = own
})
after("unmount", ({ __c: component }) => {
  const own = component && readers.get(component)
  if (own) forget(own)
})
