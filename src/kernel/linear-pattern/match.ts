// Runs a program over a text: the set of states that some reading of the text so far has led to, one character at a
// time, beginning anew at each. A state is in the set once, so a character costs at most one step for each state.
import type { Place, Program } from "./parse.ts"

export function startMatcher(program: Program): (text: string) => boolean {
  return (text) => new Run(program, text).find()
}

class Run {
  readonly #program: Program
  readonly #text: string
  readonly #stamps: Int32Array
  /** What the character at hand fits, by atom: unknown 0, no 1, yes 2. */
  readonly #fits: Uint8Array
  #stamp = 0
  #at = 0

  constructor(program: Program, text: string) {
    this.#program = program
    this.#text = text
    this.#stamps = new Int32Array(program.states.length)
    this.#fits = new Uint8Array(program.atoms.length)
  }

  find(): boolean {
    let states: number[] = []
    for (;;) {
      states.push(this.#program.first)
      const reading = this.#follow(states)
      if (reading === "matched") return true
      if (this.#at >= this.#text.length) return false
      states = this.#readOne(reading)
    }
  }

  /** The states that read a character, to which these lead at this place. */
  #follow(from: readonly number[]): number[] | "matched" {
    const { states } = this.#program
    const reading: number[] = []
    const open = [...from]
    this.#stamp += 1
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (this.#stamps[number] === this.#stamp) continue
      this.#stamps[number] = this.#stamp
      const state = states[number] as Program["states"][number]
      if (state.kind === "matched") return "matched"
      if (state.kind === "read") reading.push(number)
      else if (state.kind === "split") open.push(state.next, state.other)
      else if (this.#isAt(state.place)) open.push(state.next)
    }
    return reading
  }

  #readOne(reading: readonly number[]): number[] {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) as number)
    this.#fits.fill(0)
    const next: number[] = []
    for (const number of reading) {
      const state = this.#program.states[number] as Extract<Program["states"][number], { kind: "read" }>
      if (this.#fits[state.atom] === 0) {
        this.#fits[state.atom] = (this.#program.atoms[state.atom] as RegExp).test(character) ? 2 : 1
      }
      if (this.#fits[state.atom] === 2) next.push(state.next)
    }
    this.#at += character.length
    return next
  }

  #isAt(place: Place): boolean {
    const text = this.#text
    const at = this.#at
    switch (place) {
      case "start":
        return at === 0
      case "end":
        return at === text.length
      case "line-start":
        return at === 0 || /[\n\r\u2028\u2029]/.test(text[at - 1] as string)
      case "line-end":
        return at === text.length || /[\n\r\u2028\u2029]/.test(text[at] as string)
      default:
        return (isWord(text[at - 1]) !== isWord(text[at])) === (place === "word-edge")
    }
  }
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/iu.test(character)
}
