// Values of a script: what it was given, and what it has read. `{{name}}` in a text of a step stands for one of them.
import { AppError, type Json, isJsonObject } from "../../kernel/index.ts"

const maxNames = 100
const maxText = 4_000
const maxItems = 500
/** All of them together, as JSON. */
const maxChars = 20_000

const place = /\{\{\s*([A-Za-z_][\w-]{0,39}(?:\.[\w-]{1,40})?)\s*\}\}/g

/** Names that texts of a step ask for; code of `fn` is left as it stands: words of pages are never put into code. */
export function namesIn(value: Json): string[] {
  if (typeof value === "string")
    return [...value.matchAll(place)].map((match) => (match[1] as string).split(".", 1)[0] as string)
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (!isJsonObject(value)) return []
  const named = Object.entries(value).flatMap(([key, each]) => (isFixed(key) ? [] : namesIn(each)))
  return typeof value["value"] === "string" && compares(value) ? [...named, value["value"]] : named
}

/** Fields that are never filled in: code, and names of secrets. */
function isFixed(key: string): boolean {
  return key === "fn" || key === "secret" || key === "kind" || key === "as"
}

function compares(value: object): boolean {
  return ["is", "has", "below", "above"].some((key) => key in value)
}

interface Kept {
  value: Json
  /** It came from a page. */
  isForeign: boolean
}

export class Values {
  readonly #kept = new Map<string, Kept>()

  constructor(given: Readonly<Record<string, Json>>) {
    for (const [name, value] of Object.entries(given)) this.set(name, value, false)
  }

  set(name: string, value: Json, isForeign: boolean): void {
    if (!this.#kept.has(name) && this.#kept.size >= maxNames) throw full(`more than ${maxNames} values`)
    const short = shorten(value)
    const before = this.#kept.get(name)
    this.#kept.set(name, { value: short, isForeign })
    if (JSON.stringify(this.all()).length <= maxChars) return
    if (before) this.#kept.set(name, before)
    else this.#kept.delete(name)
    throw full(`values of more than ${maxChars} characters`)
  }

  add(name: string, values: readonly Json[], isForeign: boolean): void {
    const before = this.#kept.get(name)
    const list = before === undefined ? [] : Array.isArray(before.value) ? before.value : [before.value]
    this.set(name, [...list, ...values], isForeign || before?.isForeign === true)
  }

  /** For a name, or `name.field`. Throws `bad-request` where there is none. */
  get(path: string): Kept {
    const [name = "", field] = path.split(".", 2)
    const kept = this.#kept.get(name)
    const { value } = kept ?? {}
    const inside = field === undefined ? value : isJsonObject(value) ? value[field] : undefined
    if (kept === undefined || inside === undefined)
      throw new AppError("bad-request", `There is no value {{${path}}} yet`, {
        hint: "A step with as must come before it",
      })
    return { value: inside, isForeign: kept.isForeign }
  }

  /** The same with all names filled in; `isForeign`: words of a page are among them. */
  fill<Value extends Json>(value: Value): { value: Value; isForeign: boolean } {
    let isForeign = false
    const filled = (each: Json, key = ""): Json => {
      if (isFixed(key)) return each
      if (Array.isArray(each)) return each.map((item) => filled(item))
      if (isJsonObject(each))
        return Object.fromEntries(Object.entries(each).map(([name, item]) => [name, filled(item, name)]))
      if (typeof each !== "string") return each
      const used = (path: string) => {
        const kept = this.get(path)
        isForeign ||= kept.isForeign
        return kept.value
      }
      const [only] = [...each.matchAll(place)]
      if (only && only[0] === each.trim()) {
        const whole = used(only[1] as string)
        return typeof whole === "number" ? String(whole) : whole
      }
      return each.replaceAll(place, (_all, path: string) => textOf(used(path)))
    }
    return { value: filled(value) as Value, isForeign }
  }

  all(): Record<string, Json> {
    return Object.fromEntries([...this.#kept].map(([name, { value }]) => [name, value]))
  }
}

export function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}

function shorten(value: Json): Json {
  if (typeof value === "string") return value.slice(0, maxText)
  if (Array.isArray(value) && value.length > maxItems) throw full(`a list of more than ${maxItems}`)
  return value
}

function full(what: string): AppError {
  return new AppError("payload-too-large", `The script gathers ${what}`, { hint: "Read less, or in several scripts" })
}

/** `1.299,00 EUR` and `$1,299.00` are 1299: how people write amounts. Cut off after so many characters. */
export function numberIn(value: Json): number | undefined {
  if (typeof value === "number") return value
  if (typeof value !== "string") return undefined
  const found = /-?\d[\d.,\u00a0 ']{0,30}/.exec(value.slice(0, 1_000))?.[0]
  if (found === undefined) return undefined
  let digits = found.replace(/[\s\u00a0']/g, "")
  while (/[.,]$/.test(digits)) digits = digits.slice(0, -1)
  const parts = digits.split(/[.,]/)
  const last = parts.at(-1) ?? ""
  const marks = new Set(digits.replace(/[^.,]/g, ""))
  // Three digits behind one kind of mark are thousands, as in 1,299; behind a nought they are not.
  const isDecimal =
    parts.length > 1 && (marks.size > 1 || (parts.length === 2 && (last.length !== 3 || /^-?0$/.test(parts[0] ?? ""))))
  return Number(isDecimal ? `${parts.slice(0, -1).join("")}.${last}` : parts.join(""))
}
