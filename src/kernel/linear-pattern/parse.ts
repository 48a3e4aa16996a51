// A valid pattern (flags `iu`) -> states: "read one character that fits", "go on in two ways", "go on if the place is
// right", "matched". Counted repetitions are written out, so their number is bounded.

/** What one character must fit, as the built-in engine judges it. */
export interface Atom {
  fits: RegExp
}

export type Place = "start" | "end" | "line-start" | "line-end" | "word-edge" | "no-word-edge"

export type State =
  | { kind: "read"; atom: number; next: number }
  | { kind: "split"; next: number; other: number }
  | { kind: "place"; place: Place; next: number }
  | { kind: "matched" }

export interface Program {
  states: readonly State[]
  first: number
  atoms: readonly RegExp[]
}

/** Ends the reading with the reason. */
class Refused extends Error {}

type Part =
  | { kind: "atom"; atom: number }
  | { kind: "place"; place: Place }
  | { kind: "row"; parts: Part[] }
  | { kind: "choice"; options: Part[] }
  | { kind: "repeat"; part: Part; least: number; most: number }

/** The program, or why there is none. */
export function parsePattern(source: string, maxStates: number): Program | string {
  try {
    const parser = new Parser(source)
    const part = parser.readChoice("iu")
    const states: State[] = [{ kind: "matched" }]
    const add = (state: State) => {
      if (states.length >= maxStates) {
        throw new Refused(`is too large: written out, its repetitions come to more than ${maxStates} steps`)
      }
      return states.push(state) - 1
    }
    return { first: lay(part, 0, add, states), states, atoms: parser.atoms }
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}

/** Lays the states of a part before `next`; the first of them. */
function lay(part: Part, next: number, add: (state: State) => number, states: State[]): number {
  switch (part.kind) {
    case "atom":
      return add({ kind: "read", atom: part.atom, next })
    case "place":
      return add({ kind: "place", place: part.place, next })
    case "row":
      return part.parts.reduceRight((after, each) => lay(each, after, add, states), next)
    case "choice":
      return part.options
        .map((option) => lay(option, next, add, states))
        .reduceRight((other, first) => add({ kind: "split", next: first, other }))
    case "repeat":
      return layRepeat(part, next, add, states)
  }
}

function layRepeat(
  { part, least, most }: Extract<Part, { kind: "repeat" }>,
  next: number,
  add: (state: State) => number,
  states: State[],
): number {
  let first = next
  if (most === Infinity) {
    const loop = { kind: "split" as const, next: 0, other: next }
    first = add(loop)
    loop.next = lay(part, first, add, states)
  } else {
    for (let count = least; count < most; count += 1) {
      first = add({ kind: "split", next: lay(part, first, add, states), other: next })
    }
  }
  for (let count = 0; count < least; count += 1) first = lay(part, first, add, states)
  return first
}

class Parser {
  readonly atoms: RegExp[] = []
  readonly #numbers = new Map<string, number>()
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Up to the `)` of its group, or the end. */
  readChoice(flags: string): Part {
    const options = [this.#readRow(flags)]
    while (this.#take("|")) options.push(this.#readRow(flags))
    return options.length === 1 ? (options[0] as Part) : { kind: "choice", options }
  }

  #readRow(flags: string): Part {
    const parts: Part[] = []
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] as string)) {
      parts.push(this.#readRepeat(this.#readOne(flags)))
    }
    return { kind: "row", parts }
  }

  #readRepeat(part: Part): Part {
    const [least, most] = this.#readCount()
    return least === 1 && most === 1 ? part : { kind: "repeat", part, least, most }
  }

  /** How often; greedy or not makes no difference to whether there is a match. */
  #readCount(): [number, number] {
    const simple = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[this.#source[this.#at] ?? ""]
    if (simple) this.#at += 1
    const counted = simple ? undefined : this.#match(/\{(\d+)(?:(,)(\d*))?\}/y)
    if (!simple && !counted) return [1, 1]
    this.#take("?")
    if (simple) return simple as [number, number]
    const least = Number(counted?.[1])
    if (counted?.[2] === undefined) return [least, least]
    return [least, counted[3] === "" ? Infinity : Number(counted[3])]
  }

  #readOne(flags: string): Part {
    if (this.#take("(")) return this.#readGroup(flags)
    if (this.#take("^")) return { kind: "place", place: flags.includes("m") ? "line-start" : "start" }
    if (this.#take("$")) return { kind: "place", place: flags.includes("m") ? "line-end" : "end" }
    if (this.#take("\\b")) return { kind: "place", place: "word-edge" }
    if (this.#take("\\B")) return { kind: "place", place: "no-word-edge" }
    if (this.#match(/\\(?:[1-9]|k<)/y)) throw new Refused("has a back reference, which cannot be matched in one pass")
    const atom = this.#match(
      /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\[^]|[^]/uy,
    )
    return { kind: "atom", atom: this.#atomOf(atom?.[0] ?? "", flags) }
  }

  #readGroup(flags: string): Part {
    if (this.#match(/\?<?[=!]/y)) throw new Refused("looks ahead or behind, which cannot be matched in one pass")
    const kind = this.#match(/\?<[^>]*>|\?([ims]*)(?:-([ims]*))?:/y)
    const without = [...flags].filter((flag) => !kind?.[2]?.includes(flag)).join("")
    const inside = [...new Set(without + (kind?.[1] ?? ""))].join("")
    const part = this.readChoice(inside)
    this.#take(")")
    return part
  }

  #atomOf(text: string, flags: string): number {
    const key = `${flags} ${text}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.atoms.length)
    return this.atoms.push(new RegExp(`^(?:${text})$`, flags)) - 1
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found) this.#at += found[0].length
    return found ?? undefined
  }
}
