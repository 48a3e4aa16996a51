// The frames of one tab, in its own process and in others, and our isolated world in each document.
// Frames come and go by events; a world lives exactly as long as its document.
import { AppError, raceAbort, withTimeout } from "../../kernel/index.ts"
import { CdpError, type CdpSession } from "../cdp/index.ts"
import { type AgentCall, agentSource } from "./inject/source.ts"

export interface World {
  /** Name of the agent in the world; unique, so that a reused context number is not taken for this world. */
  key: string
  contextId: number
  session: CdpSession
  /** False once the document is gone. */
  alive: boolean
  /** Public ref numbers by the element's number in this world. */
  numbers: Map<number, number>
}

export interface Frame {
  id: string
  parentId: string | undefined
  session: CdpSession
  url: string
  loaderId: string
  world: World | undefined
  pending: Promise<World> | undefined
  /** The element that holds this frame, in the parent's world. */
  owner: { world: World; id: number } | undefined
}

interface FramePayload {
  id: string
  parentId?: string
  url: string
  urlFragment?: string
  loaderId: string
}

interface FrameTreePayload {
  frame: FramePayload
  childFrames?: FrameTreePayload[]
}

interface AttachedEvent {
  sessionId: string
  targetInfo: { targetId: string; type: string; url: string }
}

interface EvaluateReply {
  result: { value?: unknown; objectId?: string }
  exceptionDetails?: { text: string; exception?: { description?: string } }
}

const worldName = "svc"
const framesMs = 1_000

const numberOfOwner = "function (key) { return globalThis[key].agent.ids.get(this) ?? 0 }"
/** A form or picture of the name `activeElement` stands in the place of the document's own. */
const hasFocus = `function () {
  const root = this.getRootNode()
  const { get } = Object.getOwnPropertyDescriptor(Document.prototype, "activeElement")
  return (root === document ? get.call(document) : root.activeElement) === this
}`

export interface FramesOptions {
  mainId: string
  session: CdpSession
  sessionOf(sessionId: string): CdpSession
  endSession(sessionId: string): void
  /** Called with the session of each process that has frames of the tab, its own first. */
  onSession(session: CdpSession): Promise<unknown>
  /** Called when a document is gone: its refs are then worth nothing. */
  onWorldEnd(world: World): void
  /** Unique part of world names. */
  nextKey(): string
}

export class Frames {
  readonly #options: FramesOptions
  readonly #frames = new Map<string, Frame>()
  readonly #sessions = new Map<string, CdpSession>()
  /** Frames of other processes that are about to be known. */
  readonly #arriving = new Set<Promise<void>>()

  constructor(options: FramesOptions) {
    this.#options = options
  }

  /** Starts to follow the frames of the tab; resolves when those that exist are known. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#follow(this.#options.session, undefined, signal)
    // Frames of other processes that were there already are told of before the answer: they belong to the first snapshot.
    // One that hangs holds up nobody for long.
    const limit = withTimeout(framesMs, "Learning the frames", signal)
    try {
      await raceAbort(Promise.allSettled(this.#arriving), limit.signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
    } finally {
      limit.clear()
    }
  }

  get main(): Frame {
    const frame = this.#frames.get(this.#options.mainId)
    if (!frame) throw new AppError("tab-not-found", "The tab has no page any more")
    return frame
  }

  get all(): Frame[] {
    return [...this.#frames.values()]
  }

  get(id: string): Frame | undefined {
    return this.#frames.get(id)
  }

  childrenOf(frame: Frame): Frame[] {
    return this.all.filter((other) => other.parentId === frame.id)
  }

  stop(): void {
    // The session that would have told of their end has ended before them.
    for (const sessionId of this.#sessions.keys()) this.#detached(sessionId)
    for (const frame of this.all) this.#remove(frame.id)
  }

  async #follow(session: CdpSession, rootId: string | undefined, signal: AbortSignal): Promise<void> {
    // Frames of which an event has told while the tree was on its way: what the tree says of them may be older.
    const told = new Set<string>()
    let hasTree = false
    const note = (frameId: string) => {
      if (!hasTree) told.add(frameId)
    }
    session.on("Page.frameAttached", (event: { frameId: string; parentFrameId: string }) =>
      this.#put({ id: event.frameId, parentId: event.parentFrameId, url: "", loaderId: "" }, session),
    )
    session.on("Page.frameNavigated", (event: { frame: FramePayload }) => {
      note(event.frame.id)
      this.#put(event.frame, session)
    })
    session.on("Page.navigatedWithinDocument", (event: { frameId: string; url: string }) => {
      const frame = this.#frames.get(event.frameId)
      if (frame) frame.url = event.url
    })
    session.on("Page.frameDetached", (event: { frameId: string; reason?: string }) => {
      note(event.frameId)
      // A frame that moves to another process says so; it comes back with a session of its own.
      if (event.reason !== "swap") this.#remove(event.frameId)
      else this.#endWorld(this.#frames.get(event.frameId))
    })
    session.on("Target.attachedToTarget", (event: AttachedEvent) => this.#attached(event, signal))
    session.on("Target.detachedFromTarget", (event: { sessionId: string }) => this.#detached(event.sessionId))
    const putTree = async () => {
      const { frameTree } = await session.send<{ frameTree: FrameTreePayload }>("Page.getFrameTree", {}, { signal })
      hasTree = true
      this.#putTree(frameTree, session, rootId, told)
    }
    await Promise.all([
      session.send("Page.enable", {}, { signal }),
      putTree(),
      session.send(
        "Target.setAutoAttach",
        { autoAttach: true, waitForDebuggerOnStart: false, flatten: true, filter: [{ type: "iframe" }] },
        { signal },
      ),
      this.#options.onSession(session),
    ])
  }

  #putTree(tree: FrameTreePayload, session: CdpSession, rootId: string | undefined, told: ReadonlySet<string>): void {
    if (told.has(tree.frame.id)) return
    if (rootId === undefined || tree.frame.id === rootId || this.#frames.has(tree.frame.id))
      this.#put(tree.frame, session)
    for (const child of tree.childFrames ?? []) this.#putTree(child, session, undefined, told)
  }

  #put(payload: FramePayload, session: CdpSession): void {
    const known = this.#frames.get(payload.id)
    const url = payload.url + (payload.urlFragment ?? "")
    if (!known) {
      this.#frames.set(payload.id, {
        id: payload.id,
        parentId: payload.parentId,
        session,
        url,
        loaderId: payload.loaderId,
        world: undefined,
        pending: undefined,
        owner: undefined,
      })
      return
    }
    if (known.loaderId !== payload.loaderId || known.session !== session) this.#endWorld(known)
    known.session = session
    known.parentId = payload.parentId ?? known.parentId
    known.loaderId = payload.loaderId
    if (url !== "") known.url = url
  }

  #attached(event: AttachedEvent, signal: AbortSignal): void {
    const session = this.#options.sessionOf(event.sessionId)
    this.#sessions.set(event.sessionId, session)
    const frame = this.#frames.get(event.targetInfo.targetId)
    if (frame) {
      this.#endWorld(frame)
      frame.session = session
    } else {
      this.#put({ id: event.targetInfo.targetId, url: event.targetInfo.url, loaderId: "" }, session)
    }
    // A frame that goes away while it is being attached is none of our business any more.
    const arrival = this.#follow(session, event.targetInfo.targetId, signal)
      .catch(() => this.#detached(event.sessionId))
      .finally(() => this.#arriving.delete(arrival))
    this.#arriving.add(arrival)
  }

  #detached(sessionId: string): void {
    const session = this.#sessions.get(sessionId)
    if (!session) return
    this.#sessions.delete(sessionId)
    this.#options.endSession(sessionId)
    for (const frame of this.all) if (frame.session === session) this.#remove(frame.id)
  }

  #remove(id: string): void {
    const frame = this.#frames.get(id)
    if (!frame) return
    this.#frames.delete(id)
    this.#endWorld(frame)
    for (const child of this.childrenOf(frame)) this.#remove(child.id)
  }

  #endWorld(frame: Frame | undefined): void {
    if (!frame) return
    const { world } = frame
    frame.world = undefined
    frame.pending = undefined
    frame.owner = undefined
    if (!world) return
    world.alive = false
    this.#options.onWorldEnd(world)
  }

  /** Our world in the frame's present document; made when it is not there yet. */
  world(frame: Frame, signal: AbortSignal): Promise<World> {
    if (frame.world) return Promise.resolve(frame.world)
    frame.pending ??= this.#beginWorld(frame)
    return raceAbort(frame.pending, signal)
  }

  /** Made for all who ask: whoever asked first may give up, and the others still wait for it. */
  #beginWorld(frame: Frame): Promise<World> {
    const pending = this.#makeWorld(frame).finally(() => {
      // There may be another document by now, and somebody who waits for its world.
      if (frame.pending === pending) frame.pending = undefined
    })
    return pending
  }

  /** For a world that turned out to be gone before its event came. */
  forgetWorld(frame: Frame, world: World): void {
    if (frame.world === world) this.#endWorld(frame)
  }

  async #makeWorld(frame: Frame): Promise<World> {
    for (let attempt = 0; ; attempt += 1) {
      const { session, loaderId } = frame
      const key = `svc${this.#options.nextKey()}`
      try {
        const { executionContextId: contextId } = await session.send<{ executionContextId: number }>(
          "Page.createIsolatedWorld",
          { frameId: frame.id, worldName },
        )
        const reply = await session.send<EvaluateReply>("Runtime.evaluate", {
          expression: agentSource(key),
          contextId,
        })
        if (reply.exceptionDetails)
          throw new AppError("internal", `The page agent failed: ${reply.exceptionDetails.exception?.description}`)
        const world: World = { key, contextId, session, alive: true, numbers: new Map() }
        if (frame.session === session && frame.loaderId === loaderId) {
          frame.world = world
          return world
        }
      } catch (error) {
        // The document changed under our hands: once more with the new one.
        if (!(error instanceof CdpError) || attempt >= 3) throw error
      }
      if (attempt >= 5) throw new AppError("navigation-failed", "The page keeps reloading")
    }
  }

  /** Whether keys may go into the frame: the element that holds it has the focus there. True where nobody can tell. */
  async mayHaveFocus(frame: Frame, signal: AbortSignal): Promise<boolean> {
    const parent = frame.parentId === undefined ? undefined : this.#frames.get(frame.parentId)
    if (!parent) return true
    if (!parent.world) return await this.mayHaveFocus(parent, signal)
    try {
      return (await this.#askOwner(frame, parent.session, parent.world, hasFocus, signal)) !== false
    } catch (error) {
      // The frame went away while it was asked for.
      if (error instanceof CdpError) return false
      throw error
    }
  }

  /** The number, in the parent's world, of the element that holds the frame; 0 when no snapshot has met it. */
  async ownerOf(frame: Frame, signal: AbortSignal): Promise<{ frame: Frame; world: World; id: number } | undefined> {
    const parent = frame.parentId === undefined ? undefined : this.#frames.get(frame.parentId)
    if (!parent?.world) return undefined
    const { world } = parent
    if (frame.owner?.world === world) return { frame: parent, world, id: frame.owner.id }
    try {
      const id = Number((await this.#askOwner(frame, parent.session, world, numberOfOwner, signal)) ?? 0)
      if (id === 0) return undefined
      frame.owner = { world, id }
      return { frame: parent, world, id }
    } catch (error) {
      // The frame went away while it was asked for.
      if (error instanceof CdpError) return undefined
      throw error
    }
  }

  /** What a function of the parent's world gives that is called with the element that holds the frame as `this`. */
  async #askOwner(
    frame: Frame,
    session: CdpSession,
    world: World,
    functionDeclaration: string,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { backendNodeId } = await session.send<{ backendNodeId: number }>(
      "DOM.getFrameOwner",
      { frameId: frame.id },
      { signal },
    )
    const { object } = await session.send<{ object: { objectId: string } }>(
      "DOM.resolveNode",
      { backendNodeId, executionContextId: world.contextId },
      { signal },
    )
    const reply = await session.send<EvaluateReply>(
      "Runtime.callFunctionOn",
      {
        objectId: object.objectId,
        functionDeclaration,
        arguments: [{ value: world.key }],
        returnByValue: true,
      },
      { signal },
    )
    await session.send("Runtime.releaseObject", { objectId: object.objectId }, { signal })
    return reply.result.value
  }
}

/** Calls the agent in a world. Rejects with `stale-ref` when the document is gone. */
export async function callAgent<Result>(
  world: World,
  call: AgentCall,
  input: unknown,
  signal: AbortSignal,
): Promise<Result> {
  const gone = () => new AppError("stale-ref", "The page has navigated", { hint: "Take a new snapshot" })
  if (!world.alive) throw gone()
  const agent = `globalThis[${JSON.stringify(world.key)}]`
  let reply: EvaluateReply
  try {
    reply = await world.session.send<EvaluateReply>(
      "Runtime.evaluate",
      {
        expression: `${agent} ? ${agent}.${call}(${JSON.stringify(input)}) : "gone"`,
        contextId: world.contextId,
        returnByValue: true,
        awaitPromise: true,
      },
      // The operation that calls has the limit.
      { signal, timeoutMs: 0 },
    )
  } catch (error) {
    // "Cannot find context", "Promise was collected", "Inspected target navigated": all say that the document went away.
    if (error instanceof CdpError) throw gone()
    throw error
  }
  if (reply.exceptionDetails) {
    throw new AppError("internal", "The page agent failed", {
      cause: new Error(reply.exceptionDetails.exception?.description ?? reply.exceptionDetails.text),
    })
  }
  if (reply.result.value === "gone") throw gone()
  return reply.result.value as Result
}

/** Undefined for a document that went away meanwhile. */
export async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CdpError || (error instanceof AppError && error.code === "stale-ref")) return undefined
    throw error
  }
}

/** What an expression gives in a world, as JSON. */
export async function valueIn(world: World, expression: string, signal: AbortSignal): Promise<unknown> {
  const { contextId } = world
  const reply = await world.session.send<EvaluateReply>(
    "Runtime.evaluate",
    { expression, contextId, returnByValue: true },
    { signal },
  )
  return reply.exceptionDetails ? undefined : reply.result.value
}

/** The object that an expression gives in a world, by its handle. Throws `not-found` when it gives none. */
export async function objectIn(world: World, expression: string, signal: AbortSignal): Promise<string> {
  const reply = await world.session.send<EvaluateReply>(
    "Runtime.evaluate",
    { expression, contextId: world.contextId },
    { signal },
  )
  if (reply.result.objectId !== undefined && !reply.exceptionDetails) return reply.result.objectId
  throw new AppError("not-found", "There is no such element in the page", { hint: "Take a new snapshot" })
}

/** The element of this number in the world, as an expression. */
export function elementExpression(world: World, id: number): string {
  return `globalThis[${JSON.stringify(world.key)}].element(${id})`
}
