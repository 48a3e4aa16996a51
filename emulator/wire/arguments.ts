// Arguments of one API call: text fields and uploaded files, whatever form they came in.
// The platform sees every argument as text; these readers follow its lenient conversions.

export interface UploadedPart {
  field: string
  filename: string
  contentType: string
  bytes: Buffer
}

export class Arguments {
  readonly #fields: Map<string, string>
  readonly files: readonly UploadedPart[]

  constructor(fields: Map<string, string>, files: readonly UploadedPart[] = []) {
    this.#fields = fields
    this.files = files
  }

  has(name: string): boolean {
    return this.#fields.has(name)
  }

  /** The text of an argument, or "" when it is missing: the platform does not tell these apart. */
  text(name: string): string {
    return this.#fields.get(name) ?? ""
  }

  /** The leading integer of the text, clamped; text that starts with none counts as 0, a missing one as the default. */
  integer(name: string, byDefault = 0, minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): number {
    const text = this.text(name)
    if (text === "") return byDefault
    const value = Number.parseInt(/^-?\d+/.exec(text)?.[0] ?? "0", 10)
    return Math.min(Math.max(value, minimum), maximum)
  }

  boolean(name: string): boolean {
    return ["true", "yes", "1"].includes(this.text(name).toLowerCase())
  }

  /** The JSON value of an argument; undefined when it is missing. Throws what `onInvalid` makes when it is not JSON. */
  json(name: string, onInvalid: () => Error): unknown {
    const text = this.text(name)
    if (text === "") return undefined
    return parseJson(text, onInvalid)
  }

  file(field: string): UploadedPart | undefined {
    return this.files.find((part) => part.field === field)
  }

  /** All arguments as values for the call log: JSON is shown as JSON, all else as text. */
  readable(): Record<string, unknown> {
    return Object.fromEntries([...this.#fields].map(([name, text]) => [name, readableValue(name, text)]))
  }
}

export function parseJson(text: string, onInvalid: () => Error): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const error = onInvalid()
    error.cause = cause
    throw error
  }
}

/** Fields that are plain text on the wire even when they look like JSON. */
const textFields = new Set(["text", "caption", "name", "title", "description", "callback_query_id", "secret_token"])

function readableValue(name: string, text: string): unknown {
  if (textFields.has(name) || !/^(?:[[{]|-?\d+$|true$|false$)/.test(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "number" && !Number.isSafeInteger(value) ? text : value
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}
