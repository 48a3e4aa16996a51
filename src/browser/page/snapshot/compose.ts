// From walked frames to the lines of one snapshot, in the order of the page, with refs that hold in the whole tab.
import type { Frame, World } from "../frames.ts"
import type { WalkResult } from "../inject/walk/state.ts"
import type { Tab } from "../tab.ts"
import type { Line, LineRef } from "./line.ts"
import { childFrameTimeoutMs, type Walked, type WalkedFrame } from "./walk-frames.ts"

export interface ComposeOptions {
  flat: boolean
  /** Refs as `e12`, with `[nth=1]` behind those that look the same as an earlier one. */
  roleRefs: boolean
}

export async function composeLines(
  tab: Tab,
  walked: Walked,
  options: ComposeOptions,
  signal: AbortSignal,
): Promise<Line[]> {
  const [root] = walked.frames
  if (!root) return []
  const held = await placeFrames(tab, walked, signal)
  const composition: Composition = { tab, held, options, lines: [], same: new Map() }
  compose(composition, root, 0)
  // Of those that are alone, no place is told.
  for (const refs of composition.same.values()) if (refs.length > 1) refs.forEach((ref, index) => (ref.nth = index))
  return composition.lines
}

/** Frames by the world and the number of the element that holds each. */
type HeldFrames = Map<World, Map<number, WalkedFrame | "silent">>

async function placeFrames(tab: Tab, walked: Walked, signal: AbortSignal): Promise<HeldFrames> {
  const held: HeldFrames = new Map()
  const place = async (frame: Frame, item: WalkedFrame | "silent") => {
    const parent = frame.parentId === undefined ? undefined : tab.frames.get(frame.parentId)
    if (!parent || !walked.frames.some((other) => other.frame === parent && other.frames.length > 0)) return
    const owner = await tab.frames.ownerOf(frame, signal)
    if (!owner) return
    const inWorld = held.get(owner.world) ?? new Map<number, WalkedFrame | "silent">()
    held.set(owner.world, inWorld.set(owner.id, item))
  }
  const answered = walked.frames.slice(1).map((item) => place(item.frame, item))
  await Promise.all([...answered, ...walked.silent.map((frame) => place(frame, "silent"))])
  return held
}

interface Composition {
  tab: Tab
  held: HeldFrames
  options: ComposeOptions
  lines: Line[]
  /** Refs by role and name. */
  same: Map<string, LineRef[]>
}

function compose(composition: Composition, walked: WalkedFrame, depth: number): void {
  const { tab, lines, options } = composition
  const { flat } = options
  const indent = flat ? "" : "  ".repeat(depth)
  let nextRef = 0
  let nextFrame = 0
  for (const [index, text] of walked.lines.entries()) {
    const own = (text.length - text.trimStart().length) / 2
    const line: Line = { text: indent + text, depth: depth + own }
    const entry = walked.refs[nextRef]
    if (entry?.[0] === index) {
      nextRef += 1
      const [, id, role, name, interactive] = entry
      const number = tab.refs.numberOf({ tab, frame: walked.frame, world: walked.world, id })
      const key = options.roleRefs ? `e${number}` : String(number)
      line.ref = { number, key, role, name, interactive, entry: { world: walked.world, id } }
      const nth = options.roleRefs ? countSame(composition, line.ref) : 0
      line.text = line.text.replace("\0]", nth > 0 ? `${key}] [nth=${nth}]` : `${key}]`)
    }
    lines.push(line)
    const frame = walked.frames[nextFrame]
    if (frame?.[0] === index) {
      nextFrame += 1
      composeFrame(composition, walked, frame, depth)
    }
  }
}

function countSame({ same }: Composition, ref: LineRef): number {
  const key = `${ref.role} ${ref.name}`
  const refs = same.get(key)
  if (refs) return refs.push(ref) - 1
  same.set(key, [ref])
  return 0
}

function composeFrame(
  composition: Composition,
  parent: WalkedFrame,
  place: WalkResult["frames"][number],
  depth: number,
): void {
  const [, id, inside] = place
  const child = composition.held.get(parent.world)?.get(id)
  const line = composition.lines.at(-1) as Line
  if (child === "silent") {
    line.text += ` (does not answer: what it shows was left out after ${childFrameTimeoutMs / 1_000} s)`
    return
  }
  if (!child || child.lines.length === 0) return
  line.text += ":"
  compose(composition, child, depth + inside)
}
