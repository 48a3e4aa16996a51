// Templates of mappings: text -> parts, once; parts + a delivery's values -> text, in pieces that say which words are the
// operator's and which came with the delivery. Reads own properties of plain data only, runs nothing, takes time linear
// in template and output, and never renders more than a bounded length.
import { createHash } from "node:crypto"
import type { PromptSegment } from "../agent/turn-input.ts"
import { AppError, type Json } from "../kernel/index.ts"

/** What a template can see. A bare path that begins with none of these names is read from `payload`. */
export interface TemplateValues {
  payload: Json
  /** Lower-case names, without anything secret. */
  headers: Record<string, string>
  /** Without the token. */
  query: Record<string, string>
  /** Path below the hooks' base. */
  path: string
  /** ISO time of arrival. */
  now: string
  /** The element in hand, for `forEach`; without it `item` is a field of the payload. */
  item?: Json
}

export type TemplatePath = readonly (string | number)[]

type Argument = { kind: "literal"; value: string | number } | { kind: "path"; path: TemplatePath }
interface Filter {
  name: FilterName
  arguments: Argument[]
  /** The compiled line of `each`. */
  line?: Part[]
}
type Part = string | { path: TemplatePath; filters: Filter[] }

export interface Template {
  render(values: TemplateValues): string
  /** The same text: the operator's words as they stand in the template, and each value by itself. */
  segments(values: TemplateValues): PromptSegment[]
}

const roots = new Set(["payload", "headers", "query", "path", "now", "item"])
const argumentCounts = {
  default: [1, 1],
  json: [0, 0],
  truncate: [1, 1],
  before: [1, 1],
  hash: [0, 0],
  each: [1, 2],
} as const
type FilterName = keyof typeof argumentCounts

/** Longer results are cut here: a template may not make a large payload larger still. */
export const maxRenderedCharacters = 64 * 1024
const defaultEachItems = 20
const maxEachItems = 200

/** Throws `config-invalid` naming the expression that cannot be read. */
export function compileTemplate(text: string): Template {
  const parts = compileParts(text, "{{", "}}")
  const segments = (values: TemplateValues) => renderParts(parts, (path) => lookUp(values, path))
  return { segments, render: (values) => joined(segments(values)) }
}

/** A path such as `payload.items[0].id` on its own. */
export function compilePath(text: string): TemplatePath {
  const scanner = new Scanner(text)
  const path = scanner.path()
  scanner.end()
  return path
}

/** The value of a path; undefined when any step of it is missing or not an own property. */
export function lookUp(values: TemplateValues, path: TemplatePath): Json | undefined {
  const [first, ...rest] = path
  if (typeof first !== "string" || !roots.has(first)) return descend(values.payload, path)
  // Only `forEach` has an element in hand: elsewhere the word is a field of the payload like any other.
  if (first === "item" && values.item === undefined) return descend(values.payload, path)
  return descend((values as unknown as Record<string, Json | undefined>)[first], rest)
}

function descend(value: Json | undefined, path: TemplatePath): Json | undefined {
  let current = value
  for (const step of path) {
    if (Array.isArray(current)) {
      if (typeof step !== "number") return undefined
      current = current[step]
    } else {
      // `__proto__` can be an own property of parsed JSON, but nobody means it.
      if (typeof current !== "object" || current === null || step === "__proto__") return undefined
      if (!Object.hasOwn(current, step)) return undefined
      current = current[String(step)]
    }
  }
  return current
}

type Read = (path: TemplatePath) => Json | undefined

function renderParts(parts: readonly Part[], read: Read): PromptSegment[] {
  const result: PromptSegment[] = []
  let length = 0
  for (const part of parts) {
    const pieces = typeof part === "string" ? [words(part)] : wordsOf(evaluate(part, read))
    for (const piece of pieces) {
      add(result, piece)
      length += piece.text.length
    }
    if (length > maxRenderedCharacters) return cutWords(result, maxRenderedCharacters)
  }
  return result
}

/** What an expression stands for while its filters work on it: a value, or a text with words of the operator's in it. */
type Result = { kind: "value"; value: Json | undefined } | { kind: "words"; words: PromptSegment[] }

function evaluate(part: Exclude<Part, string>, read: Read): Result {
  let result: Result = { kind: "value", value: read(part.path) }
  for (const filter of part.filters) result = applyFilter(filter, result, read)
  return result
}

function applyFilter({ name, arguments: [first, second], line = [] }: Filter, input: Result, read: Read): Result {
  const value = (made: Json | undefined): Result => ({ kind: "value", value: made })
  switch (name) {
    case "default":
      return first && textOf(input) === "" ? argumentOf(first, read) : input
    case "json":
      if (input.kind === "words") return value(JSON.stringify(textOf(input)))
      return value(input.value === undefined ? "null" : JSON.stringify(input.value))
    case "truncate":
      return { kind: "words", words: cutWords(wordsOf(input), numberOf(first, read) ?? maxRenderedCharacters) }
    case "hash":
      return value(createHash("sha256").update(textOf(input)).digest("hex").slice(0, 16))
    case "before":
      if (!first || textOf(input) === "") return value("")
      return { kind: "words", words: [...wordsOf(argumentOf(first, read)), ...wordsOf(input)] }
    case "each": {
      const limit = Math.min(numberOf(second, read) ?? defaultEachItems, maxEachItems)
      // The lines are the form of a value, so they stand with it.
      return value(input.kind === "value" ? eachLine(line, input.value, limit) : "")
    }
  }
}

/** What stands in the template is the operator's, what a path finds came with the delivery. */
function argumentOf(argument: Argument, read: Read): Result {
  return argument.kind === "literal"
    ? { kind: "words", words: [words(String(argument.value))] }
    : { kind: "value", value: read(argument.path) }
}

function numberOf(argument: Argument | undefined, read: Read): number | undefined {
  const text = argument ? textOf(argumentOf(argument, read)) : ""
  return text === "" ? undefined : Number(text)
}

function words(text: string): PromptSegment {
  return { kind: "operator", text }
}

function wordsOf(result: Result): PromptSegment[] {
  return result.kind === "words" ? result.words : [{ kind: "value", text: asText(result.value) }]
}

function textOf(result: Result): string {
  return result.kind === "words" ? joined(result.words) : asText(result.value)
}

function joined(pieces: readonly PromptSegment[]): string {
  return pieces.map((piece) => piece.text).join("")
}

/** Words of the operator's that follow each other are one piece; two values never are. */
function add(pieces: PromptSegment[], piece: PromptSegment): void {
  const last = pieces.at(-1)
  if (piece.text === "") return
  if (piece.kind === "operator" && last?.kind === "operator") {
    pieces[pieces.length - 1] = words(last.text + piece.text)
  } else pieces.push(piece)
}

/** As `cut`, with each piece staying what it is. */
function cutWords(pieces: readonly PromptSegment[], length: number): PromptSegment[] {
  const kept: PromptSegment[] = []
  let left = length
  for (const piece of pieces) {
    const text = cut(piece.text, left)
    kept.push({ ...piece, text })
    if (text !== piece.text) return kept
    left -= piece.text.length
  }
  return kept
}

/** One line for each element of a list, and one that says how many were left out. */
function eachLine(line: readonly Part[], value: Json | undefined, limit: number): string {
  if (!Array.isArray(value)) return ""
  const lines: string[] = []
  let length = 0
  for (const item of value.slice(0, limit)) {
    const text = joined(renderParts(line, (path) => descend(item, path)))
    length += text.length + 1
    if (length > maxRenderedCharacters) break
    lines.push(text)
  }
  if (value.length > lines.length) lines.push(`(and ${value.length - lines.length} more)`)
  return lines.join("\n")
}

function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return ""
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** At most `length` characters and a mark, never half of a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)}…`
}

function compileParts(text: string, open: string, close: string): Part[] {
  const parts: Part[] = []
  let position = 0
  for (;;) {
    const start = text.indexOf(open, position)
    if (start === -1) break
    if (start > position) parts.push(text.slice(position, start))
    const scanner = new Scanner(text, start + open.length)
    const path = scanner.path()
    const filters: Filter[] = []
    while (scanner.take("|")) filters.push(compileFilter(scanner))
    scanner.expect(close)
    parts.push({ path, filters })
    position = scanner.position
  }
  if (position < text.length) parts.push(text.slice(position))
  return parts
}

function compileFilter(scanner: Scanner): Filter {
  const name = scanner.name()
  if (!Object.hasOwn(argumentCounts, name)) {
    throw scanner.fault(`there is no filter "${name}" (there are ${Object.keys(argumentCounts).join(", ")})`)
  }
  const filter: Filter = { name: name as FilterName, arguments: [] }
  if (scanner.take("(")) {
    if (!scanner.take(")")) {
      do filter.arguments.push(scanner.argument())
      while (scanner.take(","))
      scanner.expect(")")
    }
  }
  const [least, most] = argumentCounts[filter.name]
  if (filter.arguments.length < least || filter.arguments.length > most) {
    throw scanner.fault(`"${name}" takes ${least === most ? least : `${least} to ${most}`} arguments`)
  }
  const [first] = filter.arguments
  const literal = first?.kind === "literal" ? first.value : undefined
  if (name === "truncate" && (typeof literal !== "number" || literal < 1)) {
    throw scanner.fault('"truncate" takes a whole number above 0')
  }
  if (name === "each") {
    if (typeof literal !== "string") throw scanner.fault('"each" takes a line in quotes, such as "- {title}"')
    filter.line = compileParts(literal, "{", "}")
  }
  return filter
}

/** Reads one expression from left to right and never goes back. */
class Scanner {
  readonly #text: string
  position: number

  constructor(text: string, position = 0) {
    this.#text = text
    this.position = position
  }

  take(word: string): boolean {
    this.#skipSpace()
    if (!this.#text.startsWith(word, this.position)) return false
    this.position += word.length
    return true
  }

  expect(word: string): void {
    if (!this.take(word)) throw this.fault(`"${word}" is expected`)
  }

  end(): void {
    this.#skipSpace()
    if (this.position < this.#text.length) throw this.fault("there is more than a path")
  }

  name(): string {
    this.#skipSpace()
    return this.#match(/[A-Za-z0-9_$@-]+/y, "a name")
  }

  path(): TemplatePath {
    const path: (string | number)[] = [this.name()]
    for (;;) {
      if (this.#text[this.position] === ".") {
        this.position += 1
        path.push(this.#match(/[A-Za-z0-9_$@-]+/y, "a name"))
      } else if (this.#text[this.position] === "[") {
        this.position += 1
        const quote = this.#text[this.position]
        path.push(quote === '"' || quote === "'" ? this.#quoted(quote) : Number(this.#match(/\d{1,9}/y, "an index")))
        if (this.#text[this.position] !== "]") throw this.fault('"]" is expected')
        this.position += 1
      } else return path
    }
  }

  argument(): Argument {
    this.#skipSpace()
    const next = this.#text[this.position] ?? ""
    if (next === '"' || next === "'") return { kind: "literal", value: this.#quoted(next) }
    if (/\d/.test(next)) return { kind: "literal", value: Number(this.#match(/\d{1,9}/y, "a number")) }
    return { kind: "path", path: this.path() }
  }

  fault(problem: string): AppError {
    const near = this.#text.slice(Math.max(0, this.position - 20), this.position + 20)
    return new AppError("config-invalid", `Template: ${problem}, near ${JSON.stringify(near)}`)
  }

  #quoted(quote: string): string {
    let result = ""
    for (let index = this.position + 1; index < this.#text.length; index += 1) {
      const character = this.#text[index] as string
      if (character === quote) {
        this.position = index + 1
        return result
      }
      if (character === "\\") {
        index += 1
        const escaped = this.#text[index] ?? ""
        result += escaped === "n" ? "\n" : escaped
      } else result += character
    }
    throw this.fault("a quote is not closed")
  }

  #match(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.#text)?.[0]
    if (found === undefined) throw this.fault(`${what} is expected`)
    this.position += found.length
    return found
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.position] ?? "")) this.position += 1
  }
}
