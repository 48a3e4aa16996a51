// Secrets that are filled in by name. What a page was given is hidden in everything that comes out of browser control:
// answers, errors, snapshots, results of code; pictures and traces have ways of their own (page/concealment, page/trace).
import { AppError, createRedactor, type Secret } from "../kernel/index.ts"

/** Where the values come from. */
export interface SecretSource {
  /** Names of those that this origin may be given. */
  namesFor(origin: string): string[]
  /** Throws `not-found`, `forbidden` for another origin, `secret-unavailable`. */
  reveal(name: string, origin: string, signal: AbortSignal): Promise<{ value: Secret; anyField: boolean }>
}

/** What was filled in since the start, in the forms in which pages and programs write it. */
export class Hidden {
  readonly #redactor = createRedactor()
  readonly #values = new Set<string>()

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  get values(): readonly string[] {
    return [...this.#values]
  }

  add(value: string): void {
    if (this.#values.has(value)) return
    this.#values.add(value)
    for (const form of formsOf(value)) this.#redactor.add(form)
  }

  /** Values of fewer than six characters stay: they would mangle everything. */
  hide(text: string): string {
    return this.isEmpty ? text : this.#redactor.hideRegistered(text)
  }
}

/** The redactor knows them in addresses and in JSON by itself. */
export function formsOf(value: string): string[] {
  const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
  const form = new URLSearchParams([["", value]]).toString().slice(1)
  return [...new Set([value, html, form, Buffer.from(value).toString("base64").replaceAll("=", "")])]
}

/** The same operations, whose answers and errors show nothing that is hidden. */
export function hideIn<Operations extends object>(operations: Operations, hidden: Hidden): Operations {
  const wrapped = Object.entries(operations).map(([name, run]) => [
    name,
    typeof run !== "function"
      ? run
      : (...given: unknown[]) => {
          try {
            const answer: unknown = run(...given)
            if (!(answer instanceof Promise)) return hideValue(answer, hidden)
            return answer.then(
              (value) => hideValue(value, hidden),
              (error: unknown) => fail(error, hidden),
            )
          } catch (error) {
            return fail(error, hidden)
          }
        },
  ])
  return Object.fromEntries(wrapped) as Operations
}

function fail(error: unknown, hidden: Hidden): never {
  throw hidden.isEmpty ? error : hideValue(error, hidden)
}

function hideValue(value: unknown, hidden: Hidden): unknown {
  if (hidden.isEmpty) return value
  if (typeof value === "string") return hidden.hide(value)
  if (Array.isArray(value)) return value.map((each) => hideValue(each, hidden))
  if (value instanceof AppError) {
    const { hint } = value
    const shown = { cause: value, ...(hint === undefined ? {} : { hint: hidden.hide(hint) }) }
    return new AppError(value.code, hidden.hide(value.message), shown)
  }
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return value
  // Pictures are no text, and have been looked after by then.
  const shown = Object.entries(value).map(([name, each]) => [
    hidden.hide(name),
    name === "data" ? each : hideValue(each, hidden),
  ])
  return Object.fromEntries(shown)
}
