// One general way to work a page, the same for every task and both tools: find the words in the text of a snapshot, act
// on the ref that stands with them, look again. It knows nothing of any library and sees nothing but text.
import type { Hand, Outcome } from "./hand.ts"

/** A step of a task, in the words that a person sees on the page. */
export type Step =
  | { click: string; near?: string; double?: boolean }
  | { type: string; into: string; near?: string }
  /** Into what has the focus, key by key. */
  | { keys: string }
  | { press: string }
  | { drag: string; to: string }
  /** Opens the box and takes one of its choices. */
  | { choose: string; from: string }
  /** The words must be in what the page says. */
  | { read: string }

interface Line {
  indent: number
  role: string
  /** The first quoted words. */
  name: string
  /** What stands between the role and the brackets, and behind the colon. */
  words: string
  /** A guess at what a control without a name may be. */
  hint: string
  ref: string | undefined
}

const editable = new Set(["textbox", "searchbox", "combobox", "spinbutton", "input"])
const maxScrolls = 20

export class TaskFailed extends Error {}

export async function perform(hand: Hand, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await performStep(hand, step)
}

async function performStep(hand: Hand, step: Step): Promise<void> {
  if ("click" in step) {
    const options = step.double ? { double: true } : {}
    await act(hand, { words: step.click, near: step.near }, (ref) => hand.click(ref, options))
  } else if ("type" in step) {
    await act(hand, { words: step.into, near: step.near, editable: true }, (ref) => hand.type(ref, step.type))
  } else if ("keys" in step) {
    for (const key of step.keys) check(await hand.press(key), `press ${key}`)
  } else if ("press" in step) check(await hand.press(step.press), `press ${step.press}`)
  else if ("drag" in step) await drag(hand, step.drag, step.to)
  else if ("choose" in step) await choose(hand, step.choose, step.from)
  else await read(hand, step.read)
}

interface Wanted {
  words: string
  near?: string | undefined
  editable?: boolean
  /** Refs that did not serve. */
  except?: readonly string[]
}

async function act(hand: Hand, wanted: Wanted, action: (ref: string) => Promise<Outcome>): Promise<void> {
  const tried: string[] = []
  let outcome: Outcome = { ok: false, said: "" }
  // The page may have changed between the look and the act, or another place may serve: one more look, as any agent would.
  for (let tries = 0; tries < 3 && !outcome.ok; tries += 1) {
    const ref = await find(hand, tries < 2 ? wanted : { ...wanted, except: tried }).catch((error: unknown) => {
      if (tries < 2 || !(error instanceof TaskFailed)) throw error
    })
    if (ref === undefined) break
    tried.push(ref)
    outcome = await action(ref)
  }
  check(outcome, wanted.words)
}

async function drag(hand: Hand, from: string, to: string): Promise<void> {
  const lines = parse(await hand.look("whole"))
  const start = pick(lines, { words: from })
  const end = pick(lines, { words: to })
  if (start === undefined || end === undefined) throw new TaskFailed(`no refs to drag ${from} to ${to}`)
  check(await hand.drag(start, end), `drag ${from}`)
}

async function choose(hand: Hand, value: string, from: string): Promise<void> {
  const wanted = { words: from, editable: true }
  const ref = await find(hand, wanted)
  const native = await hand.select(ref, value)
  if (native.ok) return
  await act(hand, wanted, (box) => hand.click(box))
  await act(hand, { words: value }, (option) => hand.click(option))
}

async function read(hand: Hand, words: string): Promise<void> {
  for (const kind of ["short", "whole"] as const) {
    const text = await hand.look(kind)
    if (text.toLowerCase().includes(words.toLowerCase())) return
  }
  throw new TaskFailed(`the page does not say "${words}"`)
}

/** The ref of what is wanted: first in the short text, then in the whole, then further down. */
async function find(hand: Hand, wanted: Wanted): Promise<string> {
  for (const kind of ["short", "whole"] as const) {
    const ref = pick(parse(await hand.look(kind)), wanted)
    if (ref !== undefined) return ref
  }
  for (let count = 0; count < maxScrolls; count += 1) {
    const lines = parse(await hand.look("whole"))
    const ref = pick(lines, wanted)
    if (ref !== undefined) return ref
    if (!(await hand.scroll(pick(lines, { words: wanted.near ?? "" }) ?? lines.findLast((line) => line.ref)?.ref)).ok)
      break
  }
  throw new TaskFailed(`nothing to act on for "${wanted.words}"`)
}

export function parse(text: string): Line[] {
  return text.split("\n").flatMap((raw) => {
    // A line with a colon in its words comes in quotes from writers of YAML.
    const plain = raw.replace(/^( *- )'(.*)'(:?)$/, "$1$2$3").replaceAll("''", "'")
    const match = /^( *)- ([\w-]+)(.*)$/.exec(plain)
    if (!match) return []
    const [, spaces = "", role = "", rest = ""] = match
    const ref = /\[ref=([\w-]+)\]/.exec(rest)?.[1]
    const words = rest
      .replaceAll(/\[[^\]]*\]/g, " ")
      .replaceAll('"', " ")
      .replaceAll(/\s+/g, " ")
      .replace(/^[ :]+|[ :]+$/g, "")
    const name = (/"((?:[^"\\]|\\.)*)"/.exec(rest)?.[1] ?? "").toLowerCase()
    const hint = (/\[hint="([^"]*)"\]/.exec(rest)?.[1] ?? "").toLowerCase()
    return [{ indent: spaces.length, role, name, words: words.toLowerCase(), hint, ref }]
  })
}

function pick(lines: readonly Line[], wanted: Wanted): string | undefined {
  const words = wanted.words.toLowerCase()
  const near = wanted.near === undefined ? -1 : lines.findIndex((line) => holds(line, wanted.near ?? ""))
  if (wanted.near !== undefined && near < 0) return undefined
  let best: { ref: string; score: number } | undefined
  for (const [index, line] of lines.entries()) {
    const match = score(line, words)
    if (match === 0) continue
    const found = refAt(lines, index, wanted)
    if (!found || wanted.except?.includes(found.ref)) continue
    // What stands below its neighbour, and close to it, is what belongs to it.
    const distance = near < 0 ? index / 10_000 : (index < near ? 3 * (near - index) + 1 : index - near) / 10
    const total = match + found.bonus - distance
    if (!best || total > best.score) best = { ref: found.ref, score: total }
  }
  return best?.ref
}

function holds(line: Line, words: string): boolean {
  return line.words.includes(words.toLowerCase())
}

function score(line: Line, words: string): number {
  if (line.words === words || line.name === words) return 4
  if (line.words.startsWith(words) || line.words.endsWith(words)) return 3
  if (line.words.includes(words)) return 2
  return line.hint.includes(words) ? 1.5 : 0
}

/** The ref of a line: its own; of a field that follows, when one is wanted; of what it stands in. */
function refAt(lines: readonly Line[], index: number, wanted: Wanted): { ref: string; bonus: number } | undefined {
  const line = lines[index] as Line
  if (wanted.editable) {
    if (line.ref && editable.has(line.role)) return { ref: line.ref, bonus: 2 }
    const next = lines.slice(index + 1, index + 4).find((other) => other.ref && editable.has(other.role))
    if (next?.ref) return { ref: next.ref, bonus: 0.5 }
  }
  if (line.ref) return { ref: line.ref, bonus: 0 }
  let { indent } = line
  for (let above = index - 1; above >= 0 && indent > 0; above -= 1) {
    const other = lines[above] as Line
    if (other.indent >= indent) continue
    indent = other.indent
    if (other.ref) return { ref: other.ref, bonus: -1 }
  }
  return undefined
}

function check(outcome: Outcome, what: string): void {
  if (!outcome.ok) throw new TaskFailed(`${what}: ${outcome.said.slice(0, 200)}`)
}
