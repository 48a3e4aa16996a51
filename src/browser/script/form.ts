// A script as it is written -> its steps. Steps are acts with refs or words, and a few that only scripts have: conditions,
// loops, values. Everything that can be known before is refused before the first step is done.
import { z } from "zod"
import { AppError, type Json, type JsonObject, isJsonObject, parseJson } from "../../kernel/index.ts"
import type { Wanted } from "../page/snapshot/locate.ts"
import { parseRef } from "../page/refs.ts"
import { actKinds, parseAct } from "../requests/act.ts"
import { clamped, flag, numeric, word } from "../requests/fields.ts"
import { parseRequest } from "../requests/parse.ts"
import { namesIn } from "./values.ts"

export type Target = Wanted | { ref: string }

/** A place in an act where an element is named. */
export interface Placed {
  /** The object of the written script that holds it, for when it is kept. */
  holder: JsonObject
  /** `ref`, `startRef` or `endRef`. */
  name: string
  /** Which field of `fill`. */
  field?: number
  target: Target
}

export interface Condition {
  /** All of them hold. */
  all: Test[]
}
export type Test =
  | { kind: "element"; target: Target }
  | { kind: "text"; text: string }
  | { kind: "url"; glob: string }
  | { kind: "value"; value: string; compare: Compare; with: Json }
  | { kind: "not"; condition: Condition }
  | { kind: "any"; conditions: Condition[] }
export type Compare = "is" | "has" | "below" | "above"

export type Step = { place: string } & (
  | { kind: "act"; fields: JsonObject; targets: Placed[]; as?: string | undefined }
  | { kind: "navigate"; url: string }
  | { kind: "dialog"; accept: boolean; promptText?: string | undefined }
  | { kind: "follow"; timeoutMs: number }
  | { kind: "find"; target: Target; timeoutMs: number }
  | { kind: "read"; target: Target; holder: JsonObject; as: string; all: boolean; add: boolean }
  | { kind: "set"; as: string; to: Json; add: boolean }
  | { kind: "if"; when: Condition; steps: Step[]; otherwise: Step[] }
  | { kind: "repeat"; times: number; over?: Json; while?: Condition; until?: Condition; as?: string; steps: Step[] }
  | { kind: "stop"; because: string }
)

export interface Script {
  steps: Step[]
  /** As written, of our own: places of refs are overwritten when it is kept. */
  written: JsonObject[]
  /** Values that it must be given. */
  inputs: string[]
  /** Kinds of its steps. */
  kinds: string[]
}

/** Kinds of steps that are no acts. */
export const stepKinds = ["navigate", "follow", "dialog", "read", "collect", "set", "if", "repeat", "stop"] as const
const notInScripts = new Set(["close", "run"])

const maxSteps = 200
const maxDepth = 4
const maxChars = 60_000
export const findMs = 5_000
const maxTimes = 100

export const help = [
  "steps: a list of acts, in the form of request, done one after the other without asking you between.",
  `An element: ref of the last snapshot, or find: 'button "Add"' (role and words as snapshots show them) with in: "Green Tea" (words of its row or card) or nth (from 0).`,
  "Besides acts: {kind: navigate, url} {kind: dialog, accept} {kind: wait, find} {kind: stop, because}",
  "{kind: follow} goes on in the new tab that the page has opened.",
  "{kind: read, find, as: name} keeps text (all: true: of all that fit); collect adds to a list; {kind: set, as, to}; {{name}} puts it into later texts. All values are in the answer.",
  "{kind: if, when, steps: [], else: []} {kind: repeat, times | over: [] with as | while | until, steps: []}",
  "when, while, until: {find, in} | {text} | {url} | {value: name, is | has | below | above} | {not: {}} | {any: []}",
  'keep: "name" keeps the script when it has worked; {kind: run, script: "name", values: {}} does it again.',
].join("\n")

function wrong(place: string, words: string): AppError {
  const at = place === "" ? "" : `step ${place}: `
  return new AppError("bad-request", at + words, { hint: help })
}

/** Throws `bad-request` that names the step. `given`: names of values that come with it. */
export function parseScript(written: unknown, given: readonly string[]): Script {
  const list = listIn(written, "", "steps")
  if (list.length === 0) throw wrong("", "steps: is empty; it takes a list of steps")
  if (JSON.stringify(list).length > maxChars) throw wrong("", `steps: are longer than ${maxChars} characters`)
  const parsing: Parsing = { count: 0, set: new Set(), kinds: new Set() }
  const copy = structuredClone(list) as Json[]
  const steps = parseSteps(copy, { parsing, above: "", depth: 1 })
  const missing = namesIn(copy).filter((name) => !parsing.set.has(name))
  const inputs = [...new Set(missing)].toSorted()
  const unknown = inputs.filter((name) => !given.includes(name))
  if (unknown.length > 0) {
    throw wrong("", `{{${unknown.join("}}, {{")}}}: no step sets it, and values does not have it`)
  }
  return { steps, written: copy as JsonObject[], inputs, kinds: [...parsing.kinds] }
}

interface Parsing {
  count: number
  /** Names that steps give values. */
  set: Set<string>
  kinds: Set<string>
}
interface Around {
  parsing: Parsing
  above: string
  depth: number
}

/** Models also write lists as JSON text, and one step instead of a list of one. */
function listIn(value: unknown, place: string, name: string): unknown[] {
  const read = typeof value === "string" && /^\s*[[{]/.test(value) ? parseJson(value) : value
  if (Array.isArray(read)) return read
  if (isJsonObject(read as Json)) return [read]
  throw wrong(place, `${name}: ${value === undefined ? "is missing" : "must be a list of steps"}`)
}

function parseSteps(list: unknown[], { parsing, above, depth }: Around): Step[] {
  if (depth > maxDepth) throw wrong(above, `steps: are nested deeper than ${maxDepth}`)
  return list.map((each, index) => {
    const place = above === "" ? String(index + 1) : `${above}.${index + 1}`
    parsing.count += 1
    if (parsing.count > maxSteps) throw wrong(place, `a script has at most ${maxSteps} steps`)
    const written = typeof each === "string" && /^\s*\{/.test(each) ? parseJson(each) : each
    if (!isJsonObject(written as Json)) throw wrong(place, "must be an object with a kind")
    list[index] = written
    return parseStep(written as JsonObject, { parsing, above: place, depth })
  })
}

function parseStep(written: JsonObject, around: Around): Step {
  const place = around.above
  const { kind } = written
  const isKnown = [...actKinds, ...stepKinds].some((each) => each === kind) && !notInScripts.has(String(kind))
  if (!isKnown) {
    const said = typeof kind === "string" ? `'${kind.slice(0, 40)}' is not supported` : "is missing"
    const kinds = [...actKinds.filter((each) => !notInScripts.has(each)), ...stepKinds]
    throw wrong(place, `kind ${said}; these work: ${kinds.join(", ")}`)
  }
  around.parsing.kinds.add(String(kind))
  try {
    const parse = ownSteps[kind as (typeof stepKinds)[number]] as
      | ((step: JsonObject, around: Around) => Step)
      | undefined
    return parse ? parse(written, around) : parseActStep(written, around)
  } catch (error) {
    if (!(error instanceof AppError) || error.message.startsWith("step ")) throw error
    throw new AppError(error.code, `step ${place}: ${String(kind)}: ${error.message}`, {
      cause: error,
      hint: error.hint ?? help,
    })
  }
}

const name = z
  .string()
  .trim()
  .regex(/^[A-Za-z_][\w-]{0,39}$/, "must be a name of letters and digits")
const element = {
  ref: word.optional(),
  find: word.optional(),
  in: word.optional(),
  nth: numeric(z.number().int().min(0).max(10_000)).optional(),
}
const readShape = z.strictObject({ kind: z.string(), ...element, as: name, all: flag.default(false) })
const setShape = z.strictObject({ kind: z.string(), as: name, to: z.json(), add: flag.default(false) })
const navigateShape = z.strictObject({ kind: z.string(), url: word })
const followShape = z.strictObject({ kind: z.string(), timeoutMs: clamped(0, 120_000, findMs) })
const dialogShape = z.strictObject({ kind: z.string(), accept: flag, promptText: z.string().max(10_000).optional() })
const stopShape = z.strictObject({
  kind: z.string(),
  because: z.string().trim().max(500).default("the script says so"),
})
const ifShape = z.strictObject({
  kind: z.string(),
  when: z.json(),
  steps: z.json().optional(),
  else: z.json().optional(),
})
const repeatShape = z.strictObject({
  kind: z.string(),
  times: numeric(z.number().int().min(1).max(maxTimes)).optional(),
  over: z.json().optional(),
  while: z.json().optional(),
  until: z.json().optional(),
  as: name.optional(),
  steps: z.json(),
})

function readStep(written: JsonObject, { parsing, above: place }: Around): Step {
  const { as, all, ...target } = parseRequest(readShape, written)
  parsing.set.add(as)
  return { place, kind: "read", target: targetIn(target), holder: written, as, all, add: written["kind"] === "collect" }
}

const ownSteps: Record<(typeof stepKinds)[number], (written: JsonObject, around: Around) => Step> = {
  read: readStep,
  collect: readStep,
  navigate: (written, { above: place }) => ({ place, kind: "navigate", url: parseRequest(navigateShape, written).url }),
  follow(written, { above: place }) {
    return { place, kind: "follow", timeoutMs: parseRequest(followShape, written).timeoutMs }
  },
  dialog(written, { above: place }) {
    const { accept, promptText } = parseRequest(dialogShape, written)
    return { place, kind: "dialog", accept, promptText }
  },
  stop: (written, { above: place }) => ({ place, kind: "stop", because: parseRequest(stopShape, written).because }),
  set(written, { parsing, above: place }) {
    const { as, to, add } = parseRequest(setShape, written)
    parsing.set.add(as)
    return { place, kind: "set", as, to: to as Json, add }
  },
  if(written, around) {
    // Other languages have a word of their own for it.
    const { then: other } = written
    if (other !== undefined && written["steps"] === undefined) {
      delete written["then"]
      written["steps"] = other
    }
    const parsed = parseRequest(ifShape, written)
    const when = conditionIn(parsed.when, around.above)
    const inside = (branch: "steps" | "else") => {
      if (written[branch] === undefined) return []
      const list = listIn(written[branch], around.above, branch)
      written[branch] = list as Json
      return parseSteps(list, { ...around, depth: around.depth + 1 })
    }
    return { place: around.above, kind: "if", when, steps: inside("steps"), otherwise: inside("else") }
  },
  repeat(written, around) {
    const parsed = parseRequest(repeatShape, written)
    const { as, over } = parsed
    if (parsed.times === undefined && over === undefined && parsed.while === undefined && parsed.until === undefined)
      throw wrong(around.above, "repeat: needs times, over, while or until")
    if (over !== undefined && !Array.isArray(over) && typeof over !== "string")
      throw wrong(around.above, "repeat: over must be a list, or {{name}} of one")
    if (over !== undefined && as === undefined) throw wrong(around.above, "repeat: over needs as, the name of each")
    if (as !== undefined) around.parsing.set.add(as)
    const list = listIn(written["steps"], around.above, "steps")
    written["steps"] = list as Json
    return {
      place: around.above,
      kind: "repeat",
      times: parsed.times ?? maxTimes,
      ...(over === undefined ? {} : { over: over as Json }),
      ...(as === undefined ? {} : { as }),
      ...(parsed.while === undefined ? {} : { while: conditionIn(parsed.while, around.above) }),
      ...(parsed.until === undefined ? {} : { until: conditionIn(parsed.until, around.above) }),
      steps: parseSteps(list, { ...around, depth: around.depth + 1 }),
    }
  },
}

const conditionShape = z.strictObject({
  ...element,
  text: word.optional(),
  url: word.optional(),
  value: name.optional(),
  is: z.json().optional(),
  has: z.json().optional(),
  below: numeric(z.number()).optional(),
  above: numeric(z.number()).optional(),
  not: z.json().optional(),
  any: z.array(z.json()).max(20).optional(),
})

/** Words alone are words that are to stand on the page. */
function conditionIn(written: unknown, place: string): Condition {
  if (typeof written === "string" && !/^\s*\{/.test(written)) return { all: [{ kind: "text", text: written }] }
  const read = typeof written === "string" ? parseJson(written) : written
  if (!isJsonObject(read as Json)) throw wrong(place, "a condition must be an object")
  const { ref, find, in: inside, nth, text, url, value, not, any, ...rest } = parseRequest(conditionShape, read)
  const all: Test[] = []
  if (ref !== undefined || find !== undefined)
    all.push({ kind: "element", target: targetIn({ ref, find, in: inside, nth }) })
  if (text !== undefined) all.push({ kind: "text", text })
  if (url !== undefined) all.push({ kind: "url", glob: url })
  for (const compare of ["is", "has", "below", "above"] as const) {
    const other = rest[compare]
    if (other === undefined) continue
    if (value === undefined) throw wrong(place, `a condition with ${compare} needs value, the name of a value`)
    all.push({ kind: "value", value, compare, with: other as Json })
  }
  if (not !== undefined) all.push({ kind: "not", condition: conditionIn(not, place) })
  if (any !== undefined) all.push({ kind: "any", conditions: any.map((each) => conditionIn(each, place)) })
  if (all.length === 0)
    throw wrong(place, "a condition needs find, text, url, value with is/has/below/above, not or any")
  return { all }
}

/** What is no ref but words, is words: many a model writes `ref: 'button "Add"'`. */
function targetIn({
  ref,
  find,
  in: inside,
  nth,
}: {
  ref?: string | undefined
  find?: string | undefined
  in?: string | undefined
  nth?: number | undefined
}): Target {
  const words = find ?? (ref !== undefined && !isRef(ref) ? ref : undefined)
  if (words !== undefined)
    return { find: words, ...(inside === undefined ? {} : { in: inside }), ...(nth === undefined ? {} : { nth }) }
  if (ref !== undefined) return { ref }
  throw new AppError("bad-request", "needs find (words, or a role and words) or ref")
}

export function isRef(text: string): boolean {
  try {
    parseRef(text)
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** Values that a kept script must be given. */
export function inputsOf(steps: readonly JsonObject[]): string[] {
  const set = new Set(namesSet(steps as Json))
  return [...new Set(namesIn(steps as Json))].filter((each) => !set.has(each)).toSorted()
}

function namesSet(written: Json): string[] {
  if (Array.isArray(written)) return written.flatMap(namesSet)
  if (!isJsonObject(written)) return []
  const own = typeof written["as"] === "string" ? [written["as"]] : []
  return [...own, ...Object.values(written).flatMap(namesSet)]
}

/** Refs that stand in a script. */
export function refsIn(written: Json): string[] {
  if (Array.isArray(written)) return written.flatMap(refsIn)
  if (!isJsonObject(written)) return []
  return Object.entries(written).flatMap(([key, each]) =>
    /^(?:ref|startRef|endRef)$/.test(key) && typeof each === "string" && isRef(each) ? [each] : refsIn(each),
  )
}

const targetShape = z.union([word, z.strictObject(element)])

function namedTarget(value: Json): Target {
  const read = typeof value === "string" && /^\s*\{/.test(value) ? parseJson(value) : value
  const parsed = parseRequest(targetShape, read)
  return targetIn(typeof parsed === "string" ? { ref: parsed } : parsed)
}

/** Takes the elements out, and looks at the rest as at an act of its own. */
function parseActStep(written: JsonObject, { above: place, parsing }: Around): Step {
  const { as, find, in: inside, nth, ...fields } = written
  if (written["kind"] === "wait" && find !== undefined) {
    const timeoutMs = parseRequest(clamped(0, 120_000, 20_000), written["timeoutMs"])
    return { place, kind: "find", target: targetIn(parseRequest(z.object(element), written)), timeoutMs }
  }
  const targets: Placed[] = []
  if (find !== undefined || inside !== undefined || nth !== undefined || fields["ref"] !== undefined) {
    const given = isJsonObject(fields["ref"])
      ? fields["ref"]
      : parseRequest(z.object(element), { ref: fields["ref"], find, in: inside, nth })
    targets.push({ holder: written, name: "ref", target: targetIn(given as Wanted) })
    fields["ref"] = "1"
  }
  for (const key of ["startRef", "endRef"]) {
    const value = fields[key]
    if (value === undefined) continue
    targets.push({ holder: written, name: key, target: namedTarget(value) })
    fields[key] = "1"
  }
  if (fields["kind"] === "fill") fields["fields"] = fillTargets(written, targets)
  const asName = as === undefined ? undefined : parseRequest(name, as)
  if (asName !== undefined) parsing.set.add(asName)
  if (asName !== undefined && fields["kind"] !== "evaluate")
    throw new AppError("bad-request", "as: only read, collect, set and evaluate give a value")
  // What is filled in later is text; all else is looked at now.
  parseAct(fields)
  return { place, kind: "act", fields, targets, as: asName }
}

function fillTargets(written: JsonObject, targets: Placed[]): Json {
  const value = written["fields"]
  const list = typeof value === "string" ? parseJson(value) : value
  if (!Array.isArray(list)) return value ?? null
  written["fields"] = list as Json
  return list.map((each: Json, field) => {
    if (!isJsonObject(each)) return each
    const { find, in: inside, nth, ref, ...rest } = each
    const given = isJsonObject(ref) ? ref : parseRequest(z.object(element), { ref, find, in: inside, nth })
    targets.push({ holder: each, name: "ref", field, target: targetIn(given as Wanted) })
    return { ...rest, ref: "1" }
  })
}
