// From walked frames to the lines of one snapshot, in the order of the page, with refs that hold in the whole tab.
import type { Frame, World } from "../frames.ts"
import type { WalkReport } from "../inject/walk/state.ts"
import type { Tab } from "../tab.ts"
import type { Line, LineRef } from "./line.ts"
import { childFrameTimeoutMs, maxFrames, type Walked, type WalkedFrame } from "./walk-frames.ts"

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
type HeldFrames = Map<World, Map<number, HeldFrame>>
type HeldFrame = WalkedFrame | "silent" | "beyond"

async function placeFrames(tab: Tab, walked: Walked, signal: AbortSignal): Promise<HeldFrames> {
  const held: HeldFrames = new Map()
  const place = async (frame: Frame, item: HeldFrame) => {
    const parent = frame.parentId === undefined ? undefined : tab.frames.get(frame.parentId)
    if (!parent || !walked.frames.some((other) => other.frame === parent && other.frames.length > 0)) return
    const owner = await tab.frames.ownerOf(frame, signal)
    if (!owner) return
    const inWorld = held.get(owner.world) ?? new Map<number, HeldFrame>()
    held.set(owner.world, inWorld.set(owner.id, item))
  }
  const answered = walked.frames.slice(1).map((item) => place(item.frame, item))
  const silent = walked.silent.map((frame) => place(frame, "silent"))
  const beyond = walked.beyond.map((frame) => place(frame, "beyond"))
  await Promise.all([...answered, ...silent, ...beyond])
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
  const { frame: inFrame, world, refs } = walked
  for (let index = 0; index < walked.lines.length; index += 1) {
    const text = walked.lines[index] as string
    const own = indentOf(text)
    const line: Line = { text: indent + text, depth: depth + own / 2 }
    if (refs[nextRef] === index) {
      const id = refs[nextRef + 1] as number
      const entry = tab.refs.entryOf({ tab, frame: inFrame, world, id })
      const key = options.roleRefs ? `e${entry.number}` : String(entry.number)
      const { role, name } = wordsOf(text, own)
      line.ref = { key, role, name, interactive: refs[nextRef + 2] === 1, entry }
      nextRef += 3
      const nth = options.roleRefs ? countSame(composition, line.ref) : 0
      const mark = text.indexOf("\0]")
      line.text = `${indent}${text.slice(0, mark)}${key}]${nth > 0 ? ` [nth=${nth}]` : ""}${text.slice(mark + 2)}`
    }
    lines.push(line)
    const frame = walked.frames[nextFrame]
    if (frame?.[0] === index) {
      nextFrame += 1
      composeFrame(composition, walked, frame, depth)
    }
  }
}

function indentOf(text: string): number {
  let spaces = 0
  while (text.charCodeAt(spaces) === 32) spaces += 1
  return spaces
}

/** Of a line with a ref: `- role "name" [ref=...`. */
function wordsOf(text: string, indent: number): { role: string; name: string } {
  const start = indent + 2
  const end = text.indexOf(" ", start)
  const role = text.slice(start, end)
  if (text[end + 1] !== '"') return { role, name: "" }
  const close = text.indexOf('"', end + 2)
  const plain = text.slice(end + 2, close)
  if (!plain.includes("\\")) return { role, name: plain }
  // Quotes and backslashes of the name have a backslash before them.
  let last = end + 2
  while (last < text.length && text[last] !== '"') last += text[last] === "\\" ? 2 : 1
  return { role, name: JSON.parse(text.slice(end + 1, last + 1)) as string }
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
  place: WalkReport["frames"][number],
  depth: number,
): void {
  const [, id, inside] = place
  const child = composition.held.get(parent.world)?.get(id)
  const line = composition.lines.at(-1) as Line
  if (child === "silent") {
    line.text += ` (does not answer: what it shows was left out after ${childFrameTimeoutMs / 1_000} s)`
    return
  }
  if (child === "beyond") {
    line.text += ` (not looked into: there are more than ${maxFrames} frames)`
    return
  }
  if (!child || child.lines.length === 0) return
  line.text += ":"
  compose(composition, child, depth + inside)
}
