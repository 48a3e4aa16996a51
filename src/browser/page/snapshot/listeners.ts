// Which plain elements take clicks because a script listens on them. Only the page's own world knows its listeners, and
// only the browser can be asked for them, one element at a time: so a look is short, goes on where the last one stopped,
// and what it finds is handed to our world of the document. Frameworks that listen at the root alone (React, Solid,
// Svelte, jQuery) keep their handlers at the element or by a selector, where they are asked for too.
import type { CdpSession } from "../../cdp/index.ts"
import type { World } from "../frames.ts"

interface RemoteObject {
  objectId?: string
}

/** Elements found in one look at most: each costs two questions to the browser. */
const maxFound = 60
/** Kinds of events that one control listens for; roots of frameworks listen for 70 and more. */
const maxTypes = 20

/**
 * The page's own helper: where the last look stopped, and the browser's function, which only the console has. A page can
 * have replaced all else that is called here, so nothing that comes of it is more than a guess about elements of its own.
 */
const makeLooker = `({
  ask: getEventListeners, now: performance.now.bind(performance), seen: new WeakSet(), way: null, quiet: 0, looks: 0,
  plain: new Set(("a abbr address article aside b blockquote caption circle cite code data dd del div dl dt ellipse em fieldset " +
    "figcaption figure footer form g h1 h2 h3 h4 h5 h6 header hgroup i image img ins kbd label legend li line main mark menu nav " +
    "ol output p path picture polygon polyline pre q rect s samp search section small span strong sub sup svg table tbody td " +
    "text tfoot th thead time tr tspan u ul use var video").split(" ")),
  // Open shadow roots that were met, to be gone through after the document.
  roots: [],
  // A list of all elements of a large page takes longer to make than the whole walk: this goes from one to the next.
  next() {
    if (this.way && !this.way.currentNode.isConnected) this.way = null
    this.way ??= document.createTreeWalker(this.roots.shift() ?? document, 1)
    const element = this.way.nextNode()
    if (!element) this.way = null
    else if (element.shadowRoot && this.roots.length < 1000) this.roots.push(element.shadowRoot)
    return element
  },
  isPlain(element) {
    const { localName } = element
    if (localName === "a") return !element.hasAttribute("href")
    return this.plain.has(localName) || localName.includes("-")
  },
  // What listens in closed menus and palettes waits until all that is shown has been told.
  later: [],
  isShown(element) {
    return !element.checkVisibility || element.checkVisibility()
  },
  // jQuery keeps at an element which parts of it are meant: [element, selector].
  meant: [],
  // Whether all clicks that jQuery takes here are for parts of the element.
  noteMeant(element) {
    let direct = 0, parts = 0
    for (const key of Object.keys(element)) {
      if (!key.startsWith("jQuery")) continue
      const events = element[key] && element[key].events
      for (const type of ["click", "mousedown", "mouseup", "dblclick"]) {
        for (const { selector } of Array.from((events && events[type]) || []).slice(0, 50)) {
          if (!selector) direct += 1
          else if (this.meant.length < 50) parts = this.meant.push([element, String(selector)])
        }
      }
    }
    return direct === 0 && parts > 0
  },
  // Those of them that are there now and were not told.
  parts(most) {
    if (!this.quiet && this.meant.length === 0) this.noteMeant(document)
    const found = []
    for (const [element, selector] of this.meant) {
      try {
        const inside = element.querySelectorAll(selector)
        for (let at = 0; at < inside.length && at < 1000 && found.length < most; at += 1)
          if (!this.seen.has(inside[at]) && this.isPlain(inside[at])) found.push(inside[at])
      } catch { /* a selector of jQuery's own */ }
    }
    return found
  },
  // Handlers that a framework keeps at the element while it listens at the root.
  delegated(element) {
    if (element.$$click || element.__click) return true
    for (const key of Object.keys(element)) {
      if (!key.startsWith("__reactProps$")) continue
      const props = element[key]
      if (!props) return false
      return Boolean(props.onClick || props.onMouseDown || props.onPointerDown || props.onMouseUp || props.onDoubleClick ||
        props.onContextMenu || props.onDragStart || props.onDrop)
    }
    return false
  },
  // Gives the elements that were found, if any, newest look only, in an object that no code of the page sees or inherits
  // to: it never holds more than so many.
  look(budgetMs, most, mostTypes) {
    const found = { __proto__: null }
    let count = 0
    // The first look at a document is the one that somebody works by: it may take longer, once. When all of the page has
    // been gone through, what may have come since is looked for with less haste.
    this.looks += 1
    const until = this.now() + (this.looks === 1 ? budgetMs * 4 : this.quiet > 0 ? budgetMs / 6 : budgetMs)
    for (const part of this.parts(most)) {
      this.seen.add(part)
      found[count++] = part
    }
    for (let steps = 1, rounds = 0; steps < 100000 && count < most; steps += 1) {
      if (steps % 16 === 0 && this.now() > until) break
      const element = this.next()
      // A look that began in the middle goes on from the start, once.
      if (!element && this.roots.length === 0) {
        this.quiet += 1
        if ((rounds += 1) > 1) break
      }
      if (!element || !this.isPlain(element) || this.seen.has(element)) continue
      const types = this.ask(element)
      const clicks = types.click || types.mousedown || types.mouseup || types.pointerdown || types.pointerup || types.dblclick
      const delegates = clicks || this.delegated(element)
      // What is dragged has to be dropped somewhere.
      if (!delegates && !types.contextmenu && !types.touchstart && !types.dragstart && !types.drop) continue
      this.seen.add(element)
      if (clicks && this.noteMeant(element)) continue
      // Who listens for everything listens for what is inside: the root of a framework's page or of its overlays.
      let kinds = 0
      for (const kind in types) kinds += 1
      if (kinds > mostTypes) continue
      if (this.isShown(element) || this.later.length >= 1000) found[count++] = element
      else this.later.push(element)
    }
    while (count < most && this.later.length > 0) found[count++] = this.later.shift()
    if (count > 0) this.quiet = 0
    return count > 0 ? found : undefined
  },
})`

/** Short, since it is read anew for each look. */
const look = "function (...limits) { return this.look(...limits) }"
const budgetMs = 3

const lookers = new WeakMap<World, Promise<string | undefined>>()

/** True when elements were found that our world did not know: a walk would now show more. */
export async function findListening(world: World, signal: AbortSignal): Promise<boolean> {
  const { session } = world
  const maker = lookers.get(world) ?? makeLookerIn(session, signal)
  lookers.set(world, maker)
  // One that was given up tells nothing of the next try.
  maker.catch(() => lookers.delete(world))
  const objectId = await maker
  if (objectId === undefined) return false
  const group = `${world.key}-listening`
  const { result, exceptionDetails } = await session.send<{ result: RemoteObject; exceptionDetails?: object }>(
    "Runtime.callFunctionOn",
    {
      objectId,
      functionDeclaration: look,
      arguments: [budgetMs, maxFound, maxTypes].map((value) => ({ value })),
      objectGroup: group,
    },
    { signal },
  )
  if (result.objectId === undefined) return false
  try {
    // What the page has thrown is of its own making, and may be of any size.
    return exceptionDetails ? false : await handOver(world, result.objectId, group, signal)
  } finally {
    await session.send("Runtime.releaseObjectGroup", { objectGroup: group }, { signal })
  }
}

async function makeLookerIn(session: CdpSession, signal: AbortSignal): Promise<string | undefined> {
  const parameters = { expression: makeLooker, includeCommandLineAPI: true, objectGroup: "svc-looker" }
  const reply = await session.send<{ result: RemoteObject; exceptionDetails?: object }>(
    "Runtime.evaluate",
    parameters,
    {
      signal,
    },
  )
  return reply.exceptionDetails ? undefined : reply.result.objectId
}

async function handOver(world: World, found: string, group: string, signal: AbortSignal): Promise<boolean> {
  const { session, contextId } = world
  const send = <Result>(method: string, parameters: object) =>
    session.send<Result>(method, { ...parameters }, { signal })
  const { result } = await send<{ result: { name: string; value?: RemoteObject }[] }>("Runtime.getProperties", {
    objectId: found,
    ownProperties: true,
  })
  const elements = result.flatMap(({ name, value }) => (/^\d+$/.test(name) && value?.objectId ? [value.objectId] : []))
  if (elements.length === 0) return false
  const ours = elements.map(async (objectId) => {
    const { node } = await send<{ node: { backendNodeId: number } }>("DOM.describeNode", { objectId })
    const { object } = await send<{ object: RemoteObject }>("DOM.resolveNode", {
      backendNodeId: node.backendNodeId,
      executionContextId: contextId,
      objectGroup: group,
    })
    return { objectId: object.objectId }
  })
  await send("Runtime.callFunctionOn", {
    executionContextId: contextId,
    functionDeclaration: `function (...elements) {
      for (const element of elements) globalThis[${JSON.stringify(world.key)}].agent.listening.add(element)
    }`,
    arguments: await Promise.all(ours),
  })
  return true
}
