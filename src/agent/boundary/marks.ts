// What foreign text may not hold in a form that a model could take for real: our boundary, and the tokens by which
// models' chat templates tell who speaks. Read over folded text from left to right; nothing is gone over again.
import { Places } from "../../kernel/index.ts"
import type { Folded, Origins } from "./fold.ts"

/** `<name>` and `</name>`; dashes and underscores are left out, digits may follow. */
const angleTokens = words(
  // Llama 2, Mistral, and most tokenizers' own
  "sys s bos eos pad unk mask cls sep bos_token eos_token pad_token unk_token",
  // Gemma
  "start_of_turn end_of_turn start_of_image end_of_image image_soft_token start_function_call end_function_call unused",
  // GLM, Kimi
  "sop eop gmask arg_key arg_value",
  // Qwen, Hermes, MiniMax and others: reasoning, and calls of tools
  "think tool_call tool_calls tool_response tool_result function_call function_calls minimax:tool_call",
  // Seed, T5 and Nemotron, Baichuan
  "seed:bos seed:eos seed:think seed:tool_call extra_id special reserved",
)
/** `[name]` and `[/name]`. */
const squareTokens = words(
  // Llama 2, Mistral, Mixtral
  "inst system_prompt available_tools tool_calls tool_results tool_content call_id args think img img_break img_end",
  "prefix middle suffix",
  // GLM, Kimi, BERT's kin
  "gmask smask mask bos eos eot pad unk sep cls",
)
const boundaryNames = ["", "end", "begin", "start"].flatMap((first) =>
  ["untrusted", "external", "trusted"].map((kind) => `${first}${kind}content`),
)

/** What a state of the names may be the end of; 0: of none. */
const token = 1
const boundary = 2

/** Names as a table: what follows a state on an ASCII code, and what a state is the end of. */
interface Names {
  next: Uint16Array
  ends: Uint8Array
}

const angle = compileNames({ tokens: angleTokens, boundaries: boundaryNames })
const square = compileNames({ tokens: squareTokens, boundaries: [] })

const lessThan = 0x3c
const greaterThan = 0x3e
const bracket = 0x5b
const closingBracket = 0x5d
const bar = 0x7c
const slash = 0x2f
const dash = 0x2d
const newline = 0x0a
/** Of codes: 1 for what may follow a `[` that begins a mark. */
const squareOpens = tableOf((code) => code === slash || isGap(code) || square.next[code] !== 0)
/** Of codes: 1 for what may stand between a `<` and the name of a mark, `|` apart. */
const leads = tableOf((code) => code === lessThan || code === slash || isGap(code))

const piece = 4096
/** How far a mark may go on: `<|...|>`, and what stands behind the name of a boundary. */
const longestName = 60
const longestRest = 80

/** As places of the text that was folded. */
export function findMarks(folded: Folded): Places {
  const reader = new MarkReader(folded)
  for (let at = 0; at < folded.length;) at = reader.readPiece(at)
  return reader.marks
}

/** Behind the last code stands 0, which is part of no mark. */
class MarkReader {
  readonly marks = new Places()
  readonly #codes: Uint8Array
  readonly #origins: Origins
  readonly #length: number
  readonly #size: number

  constructor({ codes, origins, length, size }: Folded) {
    this.#codes = codes
    this.#origins = origins
    this.#length = length
    this.#size = size
  }

  /** From here on; where to go on. Of a size that one text has many of: what runs once is left before it is compiled. */
  readPiece(from: number): number {
    const codes = this.#codes
    const end = Math.min(this.#length, from + piece)
    let at = from
    while (at < end) {
      const code = codes[at]
      const opens = code === lessThan || (code === bracket && squareOpens[codes[at + 1] as number] === 1)
      at = opens ? this.#read(at) : at + 1
    }
    return at
  }

  /**
   * Reads from `<` on, over as many as stand there, or from `[`; where to go on. Follows the letters of a name, dashes
   * and spaces left out, as far as a known name goes on. In one piece: a text may be nothing but marks, and calls took
   * half of their time.
   */
  #read(from: number): number {
    const codes = this.#codes
    const isAngle = codes[from] === lessThan
    const { next: nexts, ends } = isAngle ? angle : square
    const closing = isAngle ? greaterThan : closingBracket
    let at = from + 1
    if (isAngle) {
      while (leads[codes[at] as number] === 1) at += 1
      if (codes[at] === bar) return this.#readBars(from, at)
    } else if (codes[at] === slash) at += 1
    // In a token nothing may stand between: `a < s > b` is a comparison.
    let hasSpace = isSpace(codes[at - 1] as number)
    let state = 0
    for (; ; at += 1) {
      const code = codes[at] as number
      const next = code < 0x80 ? (nexts[(state << 7) | code] as number) : 0
      if (next !== 0) {
        state = next
        if (ends[state] === boundary) return this.#add(from, this.#endOfRest(at + 1))
      } else if (code === closing) break
      else if (isGap(code)) hasSpace ||= code !== dash
      else if (code < 0x30 || code > 0x39 || ends[state] !== token) break
    }
    if (ends[state] !== token || hasSpace || codes[at] !== closing) return at
    return this.#add(from, isAngle ? this.#skip(at, greaterThan) : at + 1)
  }

  #add(from: number, to: number): number {
    this.marks.add(this.#origins.of(from), to < this.#length ? Math.min(this.#origins.of(to), this.#size) : this.#size)
    return to
  }

  #skip(from: number, code: number): number {
    let at = from
    while (this.#codes[at] === code) at += 1
    return at
  }

  /** `<|` anything short `|>`. */
  #readBars(from: number, first: number): number {
    const codes = this.#codes
    const last = Math.min(this.#length, first + longestName)
    let at = first + 1
    while (at < last && !endsBars(codes[at] as number)) at += 1
    const end = this.#skip(at, bar)
    const isMark = at > first + 1 && end > at && codes[end] === greaterThan
    return isMark ? this.#add(from, end + 1) : first + 1
  }

  /** The end of a tag whose name ends here: behind its `>`, when that is near; else here. */
  #endOfRest(from: number): number {
    const last = Math.min(this.#length, from + longestRest)
    for (let at = from; at < last; at += 1) {
      const code = this.#codes[at]
      if (code === greaterThan) return this.#skip(at, greaterThan)
      if (code === lessThan || code === newline) return from
    }
    return from
  }
}

/** Not over `[` either: what was taken out of the middle must not become one token with what stood round it. */
function endsBars(code: number): boolean {
  return code === bar || code === lessThan || code === bracket || code === newline
}

function tableOf(has: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 0x100 }, (_, code) => (code < 0x80 && has(code) ? 1 : 0))
}

function isGap(code: number): boolean {
  return code === dash || isSpace(code)
}

function isSpace(code: number): boolean {
  return code <= 0x20 && (code === 0x20 || (code >= 0x09 && code <= 0x0d))
}

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.replaceAll("_", "").split(" "))
}

function compileNames(names: { tokens: readonly string[]; boundaries: readonly string[] }): Names {
  const all = [...names.tokens, ...names.boundaries]
  const most = all.reduce((sum, name) => sum + name.length, 1)
  const table: Names = { next: new Uint16Array(most << 7), ends: new Uint8Array(most) }
  let states = 1
  for (const name of all) {
    let state = 0
    for (let at = 0; at < name.length; at += 1) {
      const place = (state << 7) | name.charCodeAt(at)
      if (table.next[place] === 0) table.next[place] = states++
      state = table.next[place] as number
    }
    table.ends[state] = names.boundaries.includes(name) ? boundary : token
  }
  return table
}
