// One key of the configuration, read and changed by what a person writes: shared by the command line and the chat.
import { evaluate, parse } from "@humanwhocodes/momoa"
import { AppError } from "../kernel/errors.ts"
import type { Json } from "../kernel/json.ts"
import type { Variables } from "./environment.ts"
import { nearestName } from "./issue-text.ts"
import { formatConfigPath } from "./path.ts"
import type { ConfigPath } from "./path.ts"
import { redactAt, redactConfig } from "./redact.ts"
import { configSchema } from "./schema.ts"
import type { Config } from "./schema.ts"
import { knownKeys, schemasAt } from "./schema-walk.ts"
import { setConfigValue } from "./write-back.ts"
import type { WriteResult } from "./write-back.ts"

/** The value in use, defaults included, as it is. Throws AppError `not-found`, with the nearest key as hint. */
export function readConfigValue(config: Config, path: ConfigPath): unknown {
  const value = valueAt(config, path)
  if (value === undefined) throw notFound(path)
  return value
}

/** The same with every secret as `***`. */
export function showConfigValue(config: Config, path: ConfigPath): unknown {
  const value = readConfigValue(config, path)
  if (path.length === 0) return redactConfig(value)
  return redactAt(value, schemasAt(configSchema, path), String(path.at(-1)))
}

interface TextTarget {
  path: string
  env: Variables
  key: ConfigPath
  text: string
  missingVariables?: "refuse" | "leave-out"
  /** `${NAME}` would let whoever can read the key read the environment too. */
  refusePlaceholders?: boolean
}

/** Writes a value that came as text: JSON5 where it is some, else the text itself. Throws as `setConfigValue` does. */
export function setConfigText(target: TextTarget): WriteResult {
  const { text, refusePlaceholders, ...rest } = target
  const parsed = parseConfigText(text)
  if (refusePlaceholders && /\$\{/.test(text + JSON.stringify(parsed))) {
    throw new AppError("config-write-refused", "Values of the environment (`${NAME}`) are set in the file itself")
  }
  const result = setConfigValue({ ...rest, value: parsed })
  if (result.kind === "ok" || typeof parsed === "string") return result
  // `12345` for a key that takes text was meant as text.
  const asText = setConfigValue({ ...rest, value: text })
  return asText.kind === "ok" ? asText : result
}

/** JSON5 where it is some, else the text itself: a token or a URL needs no quotes. */
export function parseConfigText(text: string): Json {
  try {
    const value = evaluate(parse(text, { mode: "json5" })) as Json
    return typeof value === "number" && !Number.isFinite(value) ? text : value
  } catch (error) {
    if (error instanceof Error) return text
    throw error
  }
}

function valueAt(config: unknown, path: ConfigPath): unknown {
  let value = config
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined
    value = (value as Record<string | number, unknown>)[segment]
  }
  return value
}

function notFound(path: ConfigPath): AppError {
  const name = formatConfigPath(path)
  if (schemasAt(configSchema, path).length > 0) return new AppError("not-found", `${name} is not set`)
  const nearest = nearestName(String(path.at(-1)), knownKeys(configSchema, path.slice(0, -1)))
  return new AppError("not-found", `There is no configuration key ${name}`, {
    hint: nearest === undefined ? "docs/reference/config.md lists all keys" : `Did you mean ${nearest}?`,
  })
}
