// Draws what components return: description (a tree of vnodes) -> what stands in the document for it (a tree of `Drawn`), of
// which only what differs is touched. As much of Preact as the page uses, under Preact's names and with its types: function
// components, keys, refs, hooks. What a component reads while it runs is the matter of signals.ts.
import type { ComponentChildren } from "preact"

type Key = string | number
type Properties = Record<string, unknown>
export type Component = (properties: never) => unknown
type Ref = { current: unknown } | ((node: Element | null) => void)

interface VNode {
  type: string | Component
  props: Properties
  key: Key | undefined
  ref: Ref | undefined
}
type Child = VNode | readonly unknown[] | string | number

interface Hook {
  deps?: readonly unknown[] | undefined
  value?: unknown
  isLayout?: boolean
  /** Not run yet. */
  effect?: (() => unknown) | undefined
  cleanup?: unknown
}

/** What stands in the document for one child. */
export interface Drawn {
  child: Child
  above: Drawn | undefined
  depth: number
  isSvg: boolean
  /** Of an element or a text; a component and a list have none of their own. */
  node: Element | Text | undefined
  /** With holes, so that what has no key keeps its place. */
  inner: (Drawn | undefined)[]
  listeners: Record<string, Listener>
  hooks: Hook[]
  /** Of the signals that it has read, who reads them. */
  sources: Set<Set<Drawn>>
  isGone: boolean
}

type Act = (event: Event) => void
interface Listener extends EventListenerObject {
  act: Act
}

const svg = "http://www.w3.org/2000/svg"

export function createElement(type: string | Component, given: Properties, ...children: unknown[]): VNode {
  const { key, ref, ...props } = given
  if (children.length > 0) props.children = children.length > 1 ? children : children[0]
  return { type, props, key: key as Key | undefined, ref: ref as Ref | undefined }
}

export const Fragment = ({ children }: { children?: ComponentChildren }): ComponentChildren => children

export function render(child: unknown, container: Element): void {
  const root = createDrawn([], undefined)
  root.node = container
  drawInner(child, root)
  place(root)
  commit()
}

/** The component whose function runs just now, and which of its hooks is next. */
let current: Drawn | undefined
let cursor = 0
export const drawing = (): Drawn | undefined => current

const dirty = new Set<Drawn>()
/** Components that ran, inner ones first, whose effects are due. */
const ran: Drawn[] = []
const refs: (() => void)[] = []
const unpainted = new Set<Drawn>()

/** Runs a component again, soon, with all others that are to. */
export function redraw(component: Drawn): void {
  if (dirty.size === 0) queueMicrotask(flush)
  dirty.add(component)
}

function flush(): void {
  // Outer ones first: they may take inner ones away, or run them.
  for (const component of [...dirty].sort((a, b) => a.depth - b.depth)) {
    if (!dirty.has(component)) continue
    run(component)
    let host = component
    while (!host.node) host = host.above as Drawn
    place(host)
  }
  commit()
  // What was set while they ran.
  if (dirty.size > 0) queueMicrotask(flush)
}

/** When all stands in the document. */
function commit(): void {
  refs.splice(0).forEach(attempt)
  for (const component of ran.splice(0)) {
    if (component.isGone) continue
    runEffects(component, true)
    if (unpainted.size === 0) afterPaint(() => [...unpainted].forEach((one) => runEffects(one, false)))
    unpainted.add(component)
  }
}

/** An error in one part takes no other with it. */
function attempt(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    reportError(error)
    return undefined
  }
}

/** No frame comes in a hidden tab. */
function afterPaint(act: () => void): void {
  const done = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    setTimeout(act)
  }
  const frame = requestAnimationFrame(done)
  const timer = setTimeout(done, 35)
}

function runEffects(component: Drawn, isLayout: boolean): void {
  if (!isLayout) unpainted.delete(component)
  const due = component.hooks.filter((hook) => hook.effect && hook.isLayout === isLayout)
  due.forEach(cleanUp)
  for (const hook of due) {
    hook.cleanup = attempt(hook.effect as () => unknown)
    hook.effect = undefined
  }
}

function cleanUp(hook: Hook): void {
  const { cleanup } = hook
  hook.cleanup = undefined
  if (typeof cleanup === "function") attempt(cleanup as () => unknown)
}

function run(component: Drawn): void {
  const { type, props } = component.child as VNode
  // Those of its last time come before.
  runEffects(component, false)
  dirty.delete(component)
  forget(component)
  current = component
  cursor = 0
  const output = attempt(() => (type as (given: Properties) => unknown)(props))
  current = undefined
  drawInner(output, component)
  if (component.hooks.length > 0) ran.push(component)
}

function forget(component: Drawn): void {
  for (const readers of component.sources) readers.delete(component)
  component.sources.clear()
}

const isVNode = (child: unknown): child is VNode => typeof child === "object" && !Array.isArray(child)
const kindOf = (child: Child) => (isVNode(child) ? child.type : Array.isArray(child) ? Fragment : undefined)
const keyOf = (child: Child) => (isVNode(child) ? child.key : undefined)

function createDrawn(child: Child, above: Drawn | undefined): Drawn {
  const type = kindOf(child)
  const isSvg = type === "svg" || above?.isSvg === true
  const node =
    type === undefined
      ? document.createTextNode("")
      : typeof type === "string"
        ? document.createElementNS(isSvg ? svg : "http://www.w3.org/1999/xhtml", type)
        : undefined
  const depth = above ? above.depth + 1 : 0
  return {
    child: [],
    above,
    depth,
    isSvg,
    node,
    inner: [],
    listeners: {},
    hooks: [],
    sources: new Set(),
    isGone: false,
  }
}

/** Finds for each child what stood for it: by its key, or by its place where it has none. */
function drawInner(children: unknown, above: Drawn): void {
  const { inner } = above
  const unused = new Set(inner)
  const known = new Map(inner.map((one) => [one && keyOf(one.child), one]))
  const find = (child: Child, index: number) => {
    const key = keyOf(child)
    const one = key === undefined ? inner[index] : known.get(key)
    const isSame = one && keyOf(one.child) === key && kindOf(one.child) === kindOf(child)
    // Of two with one key, the second is another.
    return isSame && unused.delete(one) ? one : undefined
  }
  const list: readonly unknown[] = Array.isArray(children) ? children : [children]
  above.inner = list.map((child, index) => {
    if (child === null || child === undefined || typeof child === "boolean") return undefined
    const found = find(child as Child, index)
    const drawn = found ?? createDrawn(child as Child, above)
    // The same description again is nothing new.
    if (drawn.child !== child || !found) update(drawn, child as Child)
    return drawn
  })
  for (const one of unused) if (one) remove(one)
}

function update(drawn: Drawn, child: Child): void {
  const before = drawn.child
  drawn.child = child
  const { node } = drawn
  if (!isVNode(child)) {
    if (!node) drawInner(child, drawn)
    else if (node.textContent !== String(child)) node.textContent = String(child)
  } else if (typeof child.type !== "string") run(drawn)
  else updateElement(drawn, child, isVNode(before) ? before : undefined)
}

function updateElement(drawn: Drawn, { props, ref }: VNode, before: VNode | undefined): void {
  const node = drawn.node as Element & Properties
  const old = before?.props ?? {}
  for (const name in { ...old, ...props }) {
    if (!/^(?:children|value|checked)$/.test(name) && old[name] !== props[name]) setProperty(drawn, name, props[name])
  }
  drawInner(props.children, drawn)
  place(drawn)
  // Behind the options of a select. Whoever types changes them too.
  for (const name of ["value", "checked"]) {
    if (props[name] !== undefined && (!before || node[name] !== props[name])) setProperty(drawn, name, props[name])
  }
  if (ref === before?.ref) return
  setRef(before?.ref, null)
  refs.push(() => !drawn.isGone && setRef(ref, node))
}

function setRef(ref: Ref | undefined, node: Element | null): void {
  if (typeof ref === "function") ref(node)
  else if (ref) ref.current = node
}

/** Those that a document has as attributes of another form than their properties. */
const attributes = /^(?:width|height|href|list|form|tabIndex|download|rowSpan|colSpan|role)$/

function setProperty(drawn: Drawn, name: string, value: unknown): void {
  const node = drawn.node as Element & Properties & ElementCSSInlineStyle
  if (name === "style") {
    node.style.cssText = ""
    Object.assign(node.style, value)
  } else if (name.startsWith("on")) listen(drawn, name, value as Act)
  else if (!drawn.isSvg && !attributes.test(name) && name in node) node[name] = value ?? ""
  else if (value === undefined || value === null || (value === false && name[4] !== "-")) node.removeAttribute(name)
  else node.setAttribute(name, String(value))
}

/** When an event was first heard: what begins to listen while it rises is not meant. */
const heard = new WeakMap<Event, number>()
let clock = 0

function listen({ node, listeners }: Drawn, name: string, act: Act): void {
  const known = listeners[name]
  if (known) return void (known.act = act)
  clock += 1
  const since = clock
  const listener = (listeners[name] = {
    act,
    handleEvent(event) {
      const at = heard.get(event) ?? clock
      heard.set(event, at)
      if (at >= since) listener.act?.(event)
    },
  } as Listener)
  const type = name.slice(2).replace("Capture", "").toLowerCase()
  node?.addEventListener(type, listener, name.endsWith("Capture"))
}

function nodesOf({ inner }: Drawn): (Element | Text)[] {
  return inner.flatMap((one) => (one ? (one.node ?? nodesOf(one)) : []))
}

/** Puts what stands in an element into its order; what is in order is not moved, and keeps its focus and where it is scrolled. */
function place(host: Drawn): void {
  const parent = host.node as Element
  let at = parent.firstChild
  for (const node of nodesOf(host)) {
    if (node !== at && node === at?.nextSibling) at = node
    if (node === at) at = node.nextSibling
    else parent.insertBefore(node, at)
  }
}

function remove(drawn: Drawn): void {
  const nodes = drawn.node ? [drawn.node] : nodesOf(drawn)
  end(drawn)
  for (const node of nodes) node.remove()
}

function end(drawn: Drawn): void {
  drawn.isGone = true
  dirty.delete(drawn)
  unpainted.delete(drawn)
  forget(drawn)
  drawn.hooks.forEach(cleanUp)
  if (isVNode(drawn.child)) setRef(drawn.child.ref, null)
  for (const one of drawn.inner) if (one) end(one)
}

function nextHook(deps: readonly unknown[] | undefined): { hook: Hook; isNew: boolean } {
  const { hooks } = current as Drawn
  const hook = (hooks[cursor] ??= {})
  cursor += 1
  const before = hook.deps
  hook.deps = deps
  return { hook, isNew: !deps || !before || deps.some((one, index) => !Object.is(one, before[index])) }
}

/** What is made once, and anew when one of `deps` is another. */
export function useMemo<Value>(make: () => Value, deps: readonly unknown[]): Value {
  const { hook, isNew } = nextHook(deps)
  if (isNew) hook.value = make()
  return hook.value as Value
}

export function useRef<Value>(initial: Value): { current: Value }
export function useRef<Value>(initial: Value | null): { current: Value | null }
export function useRef<Value>(initial: Value): { current: Value } {
  return useMemo(() => ({ current: initial }), [])
}

let ids = 0
export const useId = (): string => useMemo(() => `id${(ids += 1)}`, [])

const useEffectAt = (isLayout: boolean) => (effect: () => unknown, deps?: readonly unknown[]) => {
  const { hook, isNew } = nextHook(deps)
  if (isNew) Object.assign(hook, { isLayout, effect })
}

/** Runs after what was drawn has been painted; what it returns, before the next time and at the end. */
export const useEffect = useEffectAt(false)
/** The same before it is painted. */
export const useLayoutEffect = useEffectAt(true)
