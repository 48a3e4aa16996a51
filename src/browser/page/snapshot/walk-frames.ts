// Walks every frame of a tab at the same time, and hands closed shadow roots to the worlds that cannot see them.
import { AppError, withTimeout } from "../../../kernel/index.ts"
import { CdpError } from "../../cdp/index.ts"
import { callAgent, type Frame, type World } from "../frames.ts"
import type { WalkOptions, WalkReport } from "../inject/walk/state.ts"
import type { Tab } from "../tab.ts"
import { followInternals, meetInternals } from "./internals.ts"
import { findListening } from "./listeners.ts"

export interface WalkedFrame extends WalkReport {
  /** `\0` stands for the ref that `refs` has for the line. */
  lines: string[]
  frame: Frame
  world: World
}

export interface Walked {
  /** The frame asked for first. */
  frames: WalkedFrame[]
  /** Frames that did not answer in time: what they show is not known. */
  silent: Frame[]
  /** Frames that were not asked, being too many. */
  beyond: Frame[]
}

/** A frame that does not answer (a script that never ends) must not cost the rest of the page. */
export const childFrameTimeoutMs = 3_000
/** More frames than this are advertisements. */
export const maxFrames = 100
/** Closed roots inside closed roots: deeper than this nobody builds. */
const maxClosedDepth = 4
/** Elements that may have a closed root: so many are asked about at once, and after one walk at most. */
const suspectsAtOnce = 60
const maxSuspects = 240
/** Looks for listeners that found something new, before the walk is taken as it is. */
const maxLooks = 3

/**
 * `root` and the frames in it; a selector is looked for in `root`. Undefined for a repeated walk of it when nothing has
 * changed.
 */
export async function walkFrames(
  tab: Tab,
  root: Frame,
  options: WalkOptions,
  signal: AbortSignal,
): Promise<Walked | undefined> {
  const all = framesIn(tab, root)
  const inside = all.slice(0, maxFrames)
  const walkedRoot = walkFrame(tab, root, options, signal)
  const walkedChildren = inside.map((frame) =>
    walkChild(tab, frame, { ...options, selector: "", repeated: false }, signal),
  )
  const [first, ...others] = await Promise.all([walkedRoot, ...walkedChildren])
  if (!first) return undefined
  checkProblem(first, options.selector)
  const answered = others.filter((item) => typeof item === "object")
  const silent = inside.filter((_, index) => others[index] === "silent")
  return { frames: [first, ...answered], silent, beyond: all.slice(maxFrames) }
}

/**
 * Whether a frame that is there now was missed: it came while the page was walked, or could not be looked into, as on its way
 * into a process of its own.
 */
export function hasMissed(tab: Tab, root: Frame, { frames, silent, beyond }: Walked): boolean {
  const known = new Set([...frames.map(({ frame }) => frame), ...silent, ...beyond])
  return framesIn(tab, root).some((frame) => !known.has(frame))
}

function framesIn(tab: Tab, root: Frame): Frame[] {
  return tab.frames.all.filter((frame) => frame !== root && isInside(tab, frame, root))
}

function isInside(tab: Tab, frame: Frame, root: Frame): boolean {
  for (let parent = frame.parentId; parent !== undefined; parent = tab.frames.get(parent)?.parentId)
    if (parent === root.id) return true
  return false
}

function checkProblem({ problem }: WalkReport, selector: string): void {
  if (problem === "none") throw new AppError("not-found", `Nothing in the page fits the selector ${selector}`)
  if (problem === "several") {
    throw new AppError("strict-mode", `Strict mode violation: several elements fit the selector ${selector}`, {
      hint: "Give a selector that fits one element",
    })
  }
  if (problem === "bad") throw new AppError("bad-request", "selector: is not a CSS selector")
}

async function walkFrame(
  tab: Tab,
  frame: Frame,
  options: WalkOptions,
  signal: AbortSignal,
): Promise<WalkedFrame | undefined> {
  let changed = false
  for (let attempt = 0, openings = 0, looks = 0; ;) {
    const world = await tab.frames.world(frame, signal)
    try {
      const look = () => (isOwnProcess(tab, frame) && looks < maxLooks ? lookForListeners(world, signal) : false)
      // Both questions are on their way at once: as a rule the look finds nothing new, and the walk stands. Where nothing
      // may have changed, a look would be the larger part of the work, unless the page has kept changing so far.
      const repeated = options.repeated === true && looks === 0 && openings === 0
      if (looks === 0 && openings === 0) await followInternals(world, signal)
      const walking = callAgent<string>(world, "walk", { ...options, repeated }, signal)
      // What the walk gave is read while the look is still under way.
      const reading = walking.then((text) => (text === "" ? undefined : readWalk(text)))
      const [read, found] = await Promise.all([reading, repeated && !tab.memory.isMoving ? undefined : look()])
      if (!read) {
        if (!found) return undefined
        looks += 1
        continue
      }
      const hasFound = found ?? (await look())
      changed ||= read.changed
      if (hasFound) {
        looks += 1
        continue
      }
      let { suspects } = read
      if (suspects > 0 && openings < maxClosedDepth) {
        if (await openClosedRoots(world, suspects, signal)) {
          openings += 1
          continue
        }
        suspects = Math.max(0, suspects - maxSuspects)
      }
      return { ...read, suspects, changed, frame, world }
    } catch (error) {
      // The page moved on while it was read: the new one is what the caller wants to see.
      if (attempt >= 3 || !(error instanceof AppError) || error.code !== "stale-ref") throw error
      tab.frames.forgetWorld(frame, world)
      attempt += 1
    }
  }
}

/** The report stands as JSON on the first line, before the lines of the page. */
function readWalk(text: string): WalkReport & { lines: string[] } {
  const end = text.indexOf("\n")
  const report = JSON.parse(text.slice(0, end)) as WalkReport
  return { ...report, lines: end + 1 === text.length ? [] : text.slice(end + 1).split("\n") }
}

/** The page's world can be asked by its session alone where the frame is the first of its process. */
function isOwnProcess(tab: Tab, frame: Frame): boolean {
  return frame === tab.frames.main || tab.frames.get(frame.parentId ?? "")?.session !== frame.session
}

/** What cannot be found out is no reason to show nothing. */
async function lookForListeners(world: World, signal: AbortSignal): Promise<boolean> {
  try {
    return await findListening(world, signal)
  } catch (error) {
    if (error instanceof CdpError) return false
    throw error
  }
}

async function walkChild(
  tab: Tab,
  frame: Frame,
  options: WalkOptions,
  parent: AbortSignal,
): Promise<WalkedFrame | "silent" | "gone"> {
  const { signal, clear } = withTimeout(childFrameTimeoutMs, "The frame", parent)
  try {
    return (await walkFrame(tab, frame, options, signal)) ?? "gone"
  } catch (error) {
    if (parent.aborted) throw error
    return signal.aborted ? "silent" : "gone"
  } finally {
    clear()
  }
}

interface RemoteObject {
  objectId?: string
}

interface NodeDescription {
  node: {
    localName: string
    attributes?: string[]
    shadowRoots?: { backendNodeId: number; shadowRootType: string }[]
  }
}

/** Custom elements may tell their role and name to the browser alone (`ElementInternals`). */
function isSelfNamed({ localName, attributes = [] }: NodeDescription["node"]): boolean {
  const has = (name: string) => attributes.some((word, index) => index % 2 === 0 && word === name)
  return localName.includes("-") && has("tabindex") && !has("role")
}

/** Gives the world the closed roots of its suspects; false when there are none. Each suspect is looked at once. */
async function openClosedRoots(world: World, suspects: number, signal: AbortSignal): Promise<boolean> {
  let hasFound = false
  for (let looked = 0; looked < Math.min(suspects, maxSuspects); looked += suspectsAtOnce)
    if (await openNext(world, signal)) hasFound = true
  return hasFound
}

async function openNext(world: World, signal: AbortSignal): Promise<boolean> {
  const { session, contextId } = world
  const agent = `globalThis[${JSON.stringify(world.key)}]`
  const group = `${world.key}-suspects`
  const send = <Result>(method: string, parameters: object) =>
    session.send<Result>(method, { ...parameters }, { signal })
  const array = await send<{ result: RemoteObject }>("Runtime.evaluate", {
    expression: `${agent}.suspects(${suspectsAtOnce})`,
    contextId,
    objectGroup: group,
  })
  const { result } = await send<{ result: { name: string; value?: RemoteObject }[] }>("Runtime.getProperties", {
    objectId: array.result.objectId,
    ownProperties: true,
  })
  const elements = result.flatMap(({ name, value }) => (/^\d+$/.test(name) && value?.objectId ? [value.objectId] : []))
  const named: string[] = []
  const opened = elements.map(async (objectId) => {
    const { node } = await send<NodeDescription>("DOM.describeNode", { objectId, depth: 1, pierce: true })
    if (isSelfNamed(node)) named.push(objectId)
    const closed = node.shadowRoots?.find((root) => root.shadowRootType === "closed")
    if (!closed) return false
    const { object } = await send<{ object: RemoteObject }>("DOM.resolveNode", {
      backendNodeId: closed.backendNodeId,
      executionContextId: contextId,
      objectGroup: group,
    })
    await send("Runtime.callFunctionOn", {
      objectId: object.objectId,
      functionDeclaration: `function () { ${agent}.closedRoot(this) }`,
    })
    return true
  })
  const found = await Promise.all(opened)
  found.push(await meetInternals(world, named, signal))
  await send("Runtime.releaseObjectGroup", { objectGroup: group })
  return found.includes(true)
}
