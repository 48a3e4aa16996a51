// The snapshot of a tab: frames are walked, their lines put together, then made fewer as the caller wishes.
import { AppError } from "../../../kernel/index.ts"
import { callAgent, type Frame } from "../frames.ts"
import type { Operation, Tab } from "../tab.ts"
import { inMain } from "../watch-effects.ts"
import { composeLines } from "./compose.ts"
import type { Line } from "./line.ts"
import { type Change, diffLines, foldGone } from "./diff.ts"
import { isAlike, type Remembered } from "./memory.ts"
import { charsPerToken, compact, type Cut, cut, find, fit } from "./shape.ts"
import { hasMissed, walkFrames } from "./walk-frames.ts"

export interface SnapshotOptions {
  /** Only interactive elements, as a flat list. */
  interactive: boolean
  compact: boolean
  /** The preset for models: controls with their headings, long runs folded. */
  efficient: boolean
  /** Nesting past which nothing is shown; below 0 for no limit. */
  depth: number
  selector: string
  /** Selector of the one frame to look at. */
  frame: string
  /** Refs as `e12` with `[nth=1]`, rather than plain numbers. */
  roleRefs: boolean
  /** Longer texts are cut at a line's end; undefined never cuts. */
  maxChars: number | undefined
  maxTokens: number | undefined
  maxLines: number | undefined
  /** Only what matches: a role, or words. */
  find: string
  /** Only what has changed since the last snapshot. */
  diff: boolean
  /** After input that has changed nothing of what is shown: wait a moment for what it may set off. */
  patient: boolean
}

export interface SnapshotRef {
  role: string
  name?: string
  nth?: number
}

export interface Snapshot {
  snapshot: string
  refs: Record<string, SnapshotRef>
  stats: { lines: number; chars: number; refs: number; interactive: number }
  truncated: boolean
  /** Of the page, as it was when it was walked; "" where the walk could not tell. */
  title: string
  /** The lines that are shown, for labels. */
  lines: Line[]
}

/** Without what the page is called, which does not stand in its lines. */
type Shown = Omit<Snapshot, "title">

export const defaultMaxChars = 80_000
export const efficientMaxChars = 8_000
/** Of runs of equal siblings so many are shown when there is a budget. */
const foldAfter = 20

export async function takeSnapshot(tab: Tab, operation: Operation, options: SnapshotOptions): Promise<Snapshot> {
  const { signal } = operation
  const before = tab.memory.last
  const key = keyOf(options)
  const shownBefore = tab.memory.shownAs(key)
  const earlier = tab.memory.shownEarlier(key)
  const { inputAt } = tab.memory
  const walked = { ...options, isFolded: isFolded(options) }
  let taken = await takeAgain(tab, walked, key, signal)
  if (inputAt !== undefined && before && (isSameAs(before, taken) || hasOnlySaid(before, taken))) {
    const isAwaited = options.patient || !taken.changed
    taken = isAwaited
      ? await takeAnswer(tab, walked, { seen: taken, until: inputAt + answerMs }, operation)
      : await takeDrawn(tab, walked, taken, signal)
  }
  // A search shows a few lines only: what has changed is told since the snapshot that was shown.
  if (options.find !== "" && !options.diff) tab.memory.restore(before)
  let { lines } = taken
  if (options.compact && !options.interactive) lines = compact(lines)
  if (options.find !== "") lines = find(lines, options.find)
  if (options.find === "") tab.memory.show(taken)
  if (options.diff && shownBefore?.url === taken.url) {
    // Of the changes, too, a search shows a few only: the others are still to be told.
    if (options.find !== "") tab.memory.restore(before)
    return { ...showChanges({ before: shownBefore, earlier }, taken, lines, options), title: taken.title }
  }
  const shown = shorten(lines, options)
  return { ...finish(shown, options, taken.folded), title: taken.title }
}

/**
 * All lines of the page, for whoever looks for something in it: as a tree, or as the flat list of controls with their hints.
 * Nothing is folded, and what the next `diff` compares with stays as it was.
 */
export async function takeLines(tab: Tab, kind: "tree" | "list", { signal }: Operation): Promise<Line[]> {
  const { last } = tab.memory
  const isList = kind === "list"
  const options = { interactive: isList, efficient: isList, depth: -1, selector: "", frame: "", roleRefs: true }
  const { lines } = await take(tab, { ...options, isFolded: false }, "", signal)
  tab.memory.restore(last)
  return lines
}

/** Pages wait this long to see whether a click becomes two, or for a typist to stop, before they show anything. */
const answerMs = 400
const lookEveryMs = 40

/** Nothing is otherwise than before the input: what comes a moment later is part of what was done. */
async function takeAnswer(
  tab: Tab,
  options: WalkedAs,
  { seen, until }: { seen: Remembered; until: number },
  { signal, deadline }: Operation,
): Promise<Remembered> {
  while (tab.clock.monotonic() < Math.min(until, deadline - answerMs)) {
    await tab.clock.sleep(lookEveryMs, signal)
    if (await tab.memory.unchanged(tab, seen.key, signal)) continue
    const now = await take(tab, options, seen.key, signal)
    now.changed ||= seen.changed
    if (!isSameAs(seen, now)) return now
  }
  return seen
}

/** Something has changed, but nothing of what is shown: many pages put what they have to show into the next frame. */
async function takeDrawn(tab: Tab, options: WalkedAs, seen: Remembered, signal: AbortSignal): Promise<Remembered> {
  for (let frames = 0; frames < 2; frames += 1) await inMain(tab, "frame", signal)
  if (await tab.memory.unchanged(tab, seen.key, signal)) return seen
  const now = await take(tab, options, seen.key, signal)
  now.changed ||= seen.changed
  return now
}

function isSameAs(before: Remembered, now: Remembered): boolean {
  if (before.url !== now.url) return false
  // Another kind of snapshot: then only what the document itself says can be compared.
  if (before.key !== now.key) return !now.changed
  return isAlike(before, now)
}

/** Nothing but what screen readers are told at once: pages say so before they draw it. */
function hasOnlySaid(before: Remembered, now: Remembered): boolean {
  if (before.url !== now.url || before.key !== now.key) return false
  const shown = ({ lines }: Remembered) =>
    lines.flatMap(({ text }) => (/^\s*- (alert|status)\b/.test(text) ? [] : [text]))
  const [were, are] = [shown(before), shown(now)]
  return were.length === are.length && are.every((text, index) => text === were[index])
}

function keyOf(options: SnapshotOptions): string {
  const { interactive, efficient, depth, selector, frame, roleRefs } = options
  return JSON.stringify([interactive, efficient, depth, selector, frame, roleRefs, isFolded(options)])
}

function isFolded(options: SnapshotOptions): boolean {
  return options.find === "" && (options.efficient || options.maxTokens !== undefined)
}

type WalkedAs = Pick<SnapshotOptions, "interactive" | "efficient" | "depth" | "selector" | "frame" | "roleRefs"> & {
  isFolded: boolean
}

/** The last snapshot where it is still true, else a new one. A page of one frame is asked both at once. */
async function takeAgain(tab: Tab, options: WalkedAs, key: string, signal: AbortSignal): Promise<Remembered> {
  const last = tab.memory.current(tab, key)
  if (last?.frames === 1) return take(tab, options, key, signal, last)
  return (await tab.memory.unchanged(tab, key, signal)) ?? take(tab, options, key, signal)
}

/** `last`: what is given where its one frame says that nothing has changed since. */
async function take(
  tab: Tab,
  options: WalkedAs,
  key: string,
  signal: AbortSignal,
  last?: Remembered,
): Promise<Remembered> {
  const root = options.frame === "" ? tab.frames.main : await frameOf(tab, options.frame, signal)
  const walkOptions = {
    interactive: options.interactive,
    context: options.efficient,
    contentRefs: !options.interactive,
    fold: options.isFolded ? foldAfter : 0,
    depth: options.depth,
    selector: options.selector,
    repeated: last !== undefined,
  }
  const found = await walkFrames(tab, root, walkOptions, signal)
  tab.memory.isMoving = found !== undefined
  if (!found) {
    if (last) return last
    throw new AppError("internal", "A walk that was no repetition gave nothing")
  }
  const { frames: walked, silent } = found
  const compose = { flat: options.interactive, roleRefs: options.roleRefs }
  const taken: Remembered = {
    key,
    url: tab.url,
    title: (root === tab.frames.main && walked[0]?.title) || "",
    lines: await composeLines(tab, found, compose, signal),
    folded: walked.reduce((sum, frame) => sum + frame.folded, 0),
    changed: walked.some(({ changed }) => changed),
    worlds: walked.map(({ world }) => world),
    frames: tab.frames.all.length,
  }
  tab.memory.keep(taken)
  // What a frame shows that did not answer cannot be asked for changes; what was not looked at is looked at next time.
  if (silent.length > 0 || walked.some(({ suspects }) => suspects > 0) || hasMissed(tab, root, found))
    tab.memory.doubt()
  return taken
}

async function frameOf(tab: Tab, selector: string, signal: AbortSignal): Promise<Frame> {
  const { main } = tab.frames
  const world = await tab.frames.world(main, signal)
  const id = await callAgent<number>(world, "holder", selector, signal).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "internal") throw error
    throw new AppError("bad-request", "frame: is not a CSS selector", { cause: error })
  })
  if (id < 0) throw new AppError("strict-mode", `Strict mode violation: several frames fit the selector ${selector}`)
  for (const frame of id === 0 ? [] : tab.frames.childrenOf(main)) {
    const owner = await tab.frames.ownerOf(frame, signal)
    if (owner?.world === world && owner.id === id) return frame
  }
  throw new AppError("not-found", `No frame fits the selector ${selector}`)
}

/** The limits count all that is answered, the note about what was left out too. */
function shorten(lines: Line[], options: SnapshotOptions): Cut {
  const { maxChars = Infinity, maxTokens = Infinity, maxLines = Infinity } = options
  const most = Math.min(maxChars, maxTokens * charsPerToken)
  const few = lines.length > maxLines ? lines.slice(0, Math.max(1, maxLines - 1)) : lines
  const beyond = lines.length - few.length
  if (lengthOf(few) <= most && beyond === 0) return { lines: few, left: "" }
  const usualNote = 110
  for (let room = Math.min(usualNote, most / 2); ;) {
    const shown = limited(few, options, room, beyond)
    const over = lengthOf(shown.lines) + noteOf(shown, options).length - most
    if (over <= 0 || shown.lines.length <= 1) return shown
    room += over + 4
  }
}

/** `room`: characters to keep free for the note; `beyond`: lines that were left out before. */
function limited(lines: Line[], options: SnapshotOptions, room: number, beyond: number): Cut {
  const { maxChars, maxTokens } = options
  const fitted = maxTokens === undefined ? { lines, left: "" } : fit(lines, maxTokens - room / charsPerToken)
  const short = maxChars === undefined ? { lines: fitted.lines, left: "" } : cut(fitted.lines, maxChars - room)
  const further = beyond === 0 ? "" : `${beyond} further lines left out`
  return { lines: short.lines, left: [fitted.left, short.left, further].filter(Boolean).join("; ") }
}

function lengthOf(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + line.text.length + 1, -1)
}

/** Where there is little room, the advice is the first to go. */
function noteOf({ left }: Cut, options: SnapshotOptions): string {
  if (left === "") return ""
  const most = Math.min(options.maxChars ?? Infinity, (options.maxTokens ?? Infinity) * charsPerToken)
  return most < 600 ? `\n[truncated: ${left}]` : `\n[truncated: ${left}; ${adviceFor(options)}]`
}

interface Seen {
  /** What was shown last. */
  before: Remembered
  /** What was shown before that, and looked otherwise. */
  earlier: Remembered | undefined
}

/** `lines`: what would be shown of all that is there now. */
function showChanges({ before, earlier }: Seen, now: Remembered, lines: Line[], options: SnapshotOptions): Shown {
  const changes = before === now ? [] : changesSince(before, now)
  if (changes.length === 0) {
    const isElsewhere = before !== now && now.changed && !showsAll(options)
    return finish({ lines: [], left: "" }, options, 0, isElsewhere ? changedElsewhere : "(no changes)")
  }
  // A search looks among all that is gone.
  const signed = (options.find === "" ? foldGone(changes) : changes).map((change) => toLine(change))
  const shortest = Math.min(lengthOf(signed), lengthOf(lines))
  if (options.find === "" && changes.length >= fewestForWhole && earlier?.url === now.url) {
    const since = foldGone(changesSince(earlier, now)).map((change) => toLine(change))
    const note: Line = { text: since.length === 0 ? asEarlier : `${asEarlier.slice(0, -1)}, but for:)`, depth: 0 }
    // What it opened for a while is gone, and with it nothing that its reader has not seen.
    if (2 * lengthOf([note, ...since]) < shortest) return finish(shorten([note, ...since], options), options, 0)
  }
  // Another view of a page under the same address: telling what is gone would only take more words.
  if (options.find === "" && changes.length >= fewestForWhole && lengthOf(signed) > lengthOf(lines)) {
    const note: Line = { text: changedThroughout, depth: 0 }
    return finish(shorten([note, ...lines], options), options, now.folded)
  }
  const words = options.find.toLowerCase()
  const wanted = words === "" ? signed : signed.filter((line) => line.text.toLowerCase().includes(words))
  return finish(shorten(wanted, options), options, 0, changedOtherwise)
}

function changesSince({ lines }: Remembered, now: Remembered): Change[] {
  return diffLines(
    lines.map((line) => line.text),
    now.lines,
  )
}

const fewestForWhole = 20
const asEarlier = "(again as it was before the last change)"
const changedThroughout = "(most of it has changed: this is all that is there now)"
const changedOtherwise = "(nothing that matches has changed, but something else)"
const changedElsewhere =
  "(nothing of what this kind of snapshot shows has changed, but something else on the page: see mode full)"

function showsAll(options: SnapshotOptions): boolean {
  return (
    !options.interactive && !options.compact && options.depth < 0 && options.selector === "" && options.frame === ""
  )
}

function toLine({ sign, text, line }: Change): Line {
  return { text: `${sign}${text}`, depth: 0, ...(line?.ref ? { ref: line.ref } : {}) }
}

function finish(shown: Cut, options: SnapshotOptions, folded: number, empty = emptyWords(options)): Shown {
  const refs: Record<string, SnapshotRef> = {}
  let count = 0
  let interactive = 0
  for (const { ref } of shown.lines) {
    if (!ref) continue
    count += 1
    const { role, name, nth } = ref
    const told: SnapshotRef = { role }
    if (name !== "") told.name = name
    if (nth !== undefined) told.nth = nth
    refs[ref.key] = told
    if (ref.interactive) interactive += 1
  }
  let text = shown.lines.map((line) => line.text).join("\n")
  if (text === "") text = empty
  text += noteOf(shown, options)
  return {
    snapshot: text,
    refs,
    stats: { lines: text.split("\n").length, chars: text.length, refs: count, interactive },
    truncated: shown.left !== "" || folded > 0,
    lines: shown.lines,
  }
}

function emptyWords(options: SnapshotOptions): string {
  if (options.find !== "") return "(nothing matches)"
  return options.interactive ? "(no interactive elements)" : "(empty)"
}

function adviceFor(options: SnapshotOptions): string {
  if (options.interactive) return "look for words with find, or allow more (maxChars)"
  return "ask for interactive elements only, or a larger maxChars"
}
