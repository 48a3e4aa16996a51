// Functions as components: what they keep from one run to the next, and that one runs again when a signal changes that it
// has read. Made of Preact's class of components, as Preact documents it; a quarter of `preact/hooks`, which has twice as
// many hooks, and which is bound to names of Preact's inside.
import { Component, type ComponentChildren, type ComponentType } from "preact"

/** A component as it is written. */
export type Drawing = (properties: object) => ComponentChildren

type Effect = () => (() => void) | void

/** What one hook keeps. */
interface Kept {
  inputs?: readonly unknown[]
  value?: unknown
  /** An effect that has not run yet, and what ends the one that has. */
  due?: Effect | undefined
  ends?: ReturnType<Effect>
}

/** Whose function runs just now. */
export let running: Running | undefined
/** Which of its hooks is next. */
let next = 0

export abstract class Running extends Component {
  /** In the order of the calls. */
  kept: Kept[] = []
  /** Of each signal that it has read, all that have read it. */
  sources = new Set<Set<Running>>()

  abstract drawing: Drawing

  override render() {
    this.act()
    this.forget()
    run(this)
    try {
      return this.drawing(this.props)
    } finally {
      run(undefined)
    }
  }

  override componentWillUnmount() {
    this.forget()
    for (const { ends } of this.kept.splice(0)) ends?.()
  }

  act() {
    for (const own of this.kept) {
      const { due } = own
      if (!due) continue
      own.due = undefined
      own.ends?.()
      own.ends = due()
    }
  }

  forget() {
    for (const readers of this.sources) readers.delete(this)
    this.sources.clear()
  }
}

function run(component: Running | undefined): void {
  running = component
  next = 0
}

const components = new WeakMap<Drawing, ComponentType>()

/** Always the same one of the same function. */
export function component(drawing: Drawing): ComponentType {
  const made =
    components.get(drawing) ??
    class extends Running {
      drawing = drawing
    }
  components.set(drawing, made)
  return made
}

/** What the next hook keeps; `act` is called with it when it is its first run, or one with other inputs. */
function keep(inputs: readonly unknown[], act: (own: Kept) => void): Kept {
  const { kept } = running as Running
  const own = (kept[next++] ??= {})
  const before = own.inputs
  own.inputs = inputs
  if (!before || inputs.some((input, index) => !Object.is(input, before[index]))) act(own)
  return own
}

export function useMemo<Value>(make: () => Value, inputs: readonly unknown[]): Value {
  return keep(inputs, (own) => (own.value = make())).value as Value
}

/** `effect` is run when the browser has painted, or before the component is drawn anew. */
export function useEffect(effect: Effect, inputs: readonly unknown[]): void {
  const component = running as Running
  keep(inputs, (own) => {
    own.due = effect
    afterPaint(component)
  })
}

/** Of an element, null until it is there. */
export function useRef<Value>(initial: null): { current: Value | null }
export function useRef<Value>(initial: Value): { current: Value }
export function useRef<Value>(initial: Value): { current: Value } {
  return useMemo(() => ({ current: initial }), [])
}

let ids = 0

export function useId(): string {
  return useMemo(() => `id${(ids += 1)}`, [])
}

/** No frames are made of a page that nobody sees. */
const hiddenMs = 35

/** Whose effects wait until the browser has painted. */
const waiting: Running[] = []

function afterPaint(component: Running): void {
  if (waiting.push(component) > 1) return
  const painted = () => {
    clearTimeout(timer)
    cancelAnimationFrame(frame)
    setTimeout(actAll)
  }
  const timer = setTimeout(painted, hiddenMs)
  const frame = requestAnimationFrame(painted)
}

/** What one of them throws is told as with any script, and keeps none of the others. */
function actAll(): void {
  for (const component of waiting.splice(0)) {
    try {
      component.act()
    } catch (error) {
      reportError(error)
    }
  }
}
