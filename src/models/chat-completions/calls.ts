// Pieces of tool calls -> whole calls. Servers number them or not, name them or not, send a call in one piece, in ten
// thousand, or twice; a piece goes to the call that it continues, else begins a new one.
import { isJsonObject, parseJson, type Json, type JsonObject } from "../../kernel/index.ts"
import { createBracketCounter } from "./sse.ts"

export interface FinishedCall {
  id: string
  name: string
  input: Json
  meta?: JsonObject
}

export interface CallParts {
  /** Names of the tools that were offered. */
  toolNames: ReadonlySet<string>
  /** A new id for the `place`-th call (from 1) of the reply, which has none of its own, or one that is taken. */
  newId: (place: number) => string
}

interface Call {
  id: string
  index: number | undefined
  name: string
  pieces: string[]
  /** Characters of the pieces together. */
  length: number
  /** Arguments that came as an object. */
  object: Json | undefined
  brackets: ReturnType<typeof createBracketCounter>
  /** The arguments have begun, and their last bracket has been closed. */
  begun: boolean
  closed: boolean
  meta: JsonObject
  /** Number of the list of pieces that began it. */
  list: number
}

export interface CallCollector {
  /** One list of pieces, as a delta or a message has it. Returns the new characters of input, for limits alone. */
  add(pieces: readonly Json[]): string[]
  readonly size: number
  finish(): FinishedCall[]
}

export function createCallCollector(parts: CallParts): CallCollector {
  const calls: Call[] = []
  const byId = new Map<string, Call>()
  const byIndex = new Map<number, Call>()
  let list = 0

  const begin = (id: string, index: number | undefined): Call => {
    const brackets = createBracketCounter()
    const fresh = {
      id,
      index,
      name: "",
      pieces: [],
      length: 0,
      object: undefined,
      brackets,
      begun: false,
      closed: false,
    }
    const call: Call = { ...fresh, meta: {}, list }
    calls.push(call)
    return call
  }
  const find = (piece: Piece): Call | undefined => {
    const numbered = piece.index === undefined ? calls.at(-1) : byIndex.get(piece.index)
    if (piece.id === "") return numbered
    const known = byId.get(piece.id)
    if (known && (piece.index === undefined || known.index === undefined || known.index === piece.index)) return known
    // A piece without a name goes on with something, whatever new id it bears; an id may also come late.
    return piece.name === "" || (numbered?.id === "" && numbered.name === "") ? numbered : undefined
  }

  const take = (piece: Piece): string => {
    let call = find(piece)
    if (call && isAnother(call, piece, list, parts.toolNames)) call = undefined
    call ??= begin(piece.id, piece.index)
    if (call.id === "") call.id = piece.id
    call.index ??= piece.index
    if (piece.id !== "") byId.set(piece.id, call)
    if (piece.index !== undefined) byIndex.set(piece.index, call)
    addName(call, piece.name)
    Object.assign(call.meta, piece.meta)
    return addInput(call, piece)
  }
  return {
    add(pieces) {
      list += 1
      return pieces.filter(isJsonObject).map((each) => take(readPiece(each)))
    },
    get size() {
      return calls.length
    },
    finish() {
      const taken = new Set<string>()
      // A number alone is no call.
      const real = calls.filter((call) => call.name !== "" || call.length > 0 || call.object !== undefined)
      return real.map((call, place) => {
        let id = call.id
        if (id === "" || taken.has(id)) id = freeId(parts.newId(place + 1), taken)
        taken.add(id)
        const finished: FinishedCall = { id, name: call.name, input: inputOf(call) }
        return Object.keys(call.meta).length === 0 ? finished : { ...finished, meta: call.meta }
      })
    },
  }
}

function freeId(id: string, taken: ReadonlySet<string>): string {
  for (let suffix = 1; ; suffix += 1) {
    const candidate = suffix === 1 ? id : `${id}_${suffix}`
    if (!taken.has(candidate)) return candidate
  }
}

interface Piece {
  id: string
  index: number | undefined
  name: string
  /** Part of the input as text; "" where it came as an object or not at all. */
  text: string
  object: Json | undefined
  meta: JsonObject
}

function readPiece(call: JsonObject): Piece {
  const { id, index } = call
  const nested = call["function"] ?? call["custom"]
  const body = isJsonObject(nested) ? nested : call
  const { name } = body
  const input = body["arguments"] ?? body["input"]
  const extra = call["extra_content"]
  return {
    id: typeof id === "string" ? id : typeof id === "number" ? String(id) : "",
    index: typeof index === "number" ? index : undefined,
    name: typeof name === "string" ? name : "",
    text: typeof input === "string" ? input : "",
    object: typeof input === "object" && input !== null ? input : undefined,
    meta: isJsonObject(extra) ? { extra_content: extra } : {},
  }
}

/** Whether a piece that looks like going on with a call begins another one: ids and numbers are not to be relied on. */
function isAnother(call: Call, piece: Piece, list: number, toolNames: ReadonlySet<string>): boolean {
  if (piece.name === "") return false
  // Two named pieces in one list are two calls, whatever they are called.
  if (call.list === list) return true
  if (call.name === "") return false
  const complete = call.closed || call.object !== undefined
  if (!complete) {
    if (call.begun) return false
    return piece.name !== call.name && toolNames.has(call.name) && toolNames.has(piece.name)
  }
  if (piece.name !== call.name) return true
  if (hasEmptyInput(call) || !startsInput(piece)) return false
  // The whole call once more, under its own id, is a repetition.
  return piece.id === "" || !repeats(call, piece)
}

function repeats(call: Call, piece: Piece): boolean {
  if (piece.object !== undefined) return call.object !== undefined
  return piece.text.length === call.length && piece.text === call.pieces.join("")
}

function startsInput(piece: Piece): boolean {
  return piece.object !== undefined || piece.text.trimStart().startsWith("{")
}

/** Some servers begin with `{}` and send the real input after it. */
function hasEmptyInput(call: Call): boolean {
  if (call.object !== undefined) return isJsonObject(call.object) && Object.keys(call.object).length === 0
  return call.length <= 8 && call.pieces.join("").replaceAll(/\s/g, "") === "{}"
}

/** A name comes whole, in pieces, whole again with each piece, or longer each time. */
function addName(call: Call, name: string): void {
  if (name === "" || name === call.name || call.begun || call.object !== undefined) {
    if (call.name === "") call.name = name
  } else if (name.startsWith(call.name)) call.name = name
  else call.name += name
}

function addInput(call: Call, piece: Piece): string {
  if (piece.object !== undefined) {
    call.object = piece.object
    return JSON.stringify(piece.object)
  }
  if (piece.text === "") return ""
  if (call.closed || call.object !== undefined) {
    // What follows a complete input repeats it, or is rubbish that would spoil it.
    if (!hasEmptyInput(call) || !startsInput(piece)) return ""
    call.object = undefined
    call.pieces = []
    call.length = 0
    call.brackets.reset()
  }
  call.pieces.push(piece.text)
  call.length += piece.text.length
  call.begun ||= piece.text.trim() !== ""
  call.closed = call.brackets.scan(piece.text, 0) !== -1
  return piece.text
}

function inputOf(call: Call): Json {
  if (call.object !== undefined) return call.object
  const text = call.pieces.join("")
  if (text.trim() === "") return {}
  const value = parsed(text)
  if (value === undefined) return text
  if (value === null) return {}
  // JSON in a string of JSON: some proxies write it twice.
  const inner = typeof value === "string" ? parsed(value) : undefined
  return isJsonObject(inner) ? inner : value
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    // What is no JSON goes to the tool as it is, whose schema refuses it in words for the model.
    return undefined
  }
}
