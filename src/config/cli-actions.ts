// What the `svc config` commands do. Loaded only when one of them runs.
import { existsSync } from "node:fs"
import { evaluate, parse } from "@humanwhocodes/momoa"
import { z } from "zod"
import { AppError, toErrorBody } from "../kernel/errors.ts"
import type { Json } from "../kernel/json.ts"
import type { ConfigCommandIo } from "./cli.ts"
import type { ConfigIssue } from "./document.ts"
import { readEnvironment } from "./environment.ts"
import { nearestName } from "./issue-text.ts"
import { configInvalid, formatIssue, loadConfigFile, loadConfigOrThrow } from "./load.ts"
import { formatConfigPath, parseConfigPath } from "./path.ts"
import type { ConfigPath } from "./path.ts"
import { redactAt, redactConfig } from "./redact.ts"
import { configSchema } from "./schema.ts"
import { knownKeys, schemasAt } from "./schema-walk.ts"
import { setConfigValue, unsetConfigValue } from "./write-back.ts"
import type { WriteResult } from "./write-back.ts"

interface Output {
  json: boolean
}

export function getConfigValue(
  io: ConfigCommandIo,
  options: Output & { key: string | undefined; reveal: boolean },
): void {
  run(io, options, () => {
    const { config } = loadConfigOrThrow({ path: configPath(io), env: io.env })
    const path = options.key === undefined ? [] : parseConfigPath(options.key)
    const value = valueAt(config, path)
    if (value === undefined) throw notFound(path)
    const name = String(path.at(-1) ?? "")
    const shown = options.reveal
      ? value
      : path.length === 0
        ? redactConfig(value)
        : redactAt(value, schemasAt(configSchema, path), name)
    io.stdout(!options.json && typeof shown === "string" ? `${shown}\n` : `${JSON.stringify(shown, null, 2)}\n`)
  })
}

export function setConfigFromText(io: ConfigCommandIo, options: Output & { key: string; value: string }): void {
  run(io, options, () => {
    const target = { path: configPath(io), env: io.env, key: parseConfigPath(options.key) }
    const parsed = parseValue(options.value)
    let result = setConfigValue({ ...target, value: parsed })
    // `12345` for a key that takes text was meant as text.
    if (result.kind === "invalid" && typeof parsed !== "string") {
      const asText = setConfigValue({ ...target, value: options.value })
      if (asText.kind === "ok") result = asText
    }
    report(io, options, result, formatConfigPath(target.key), "set")
  })
}

export function unsetConfigKey(io: ConfigCommandIo, options: Output & { key: string }): void {
  run(io, options, () => {
    const key = parseConfigPath(options.key)
    const result = unsetConfigValue({ path: configPath(io), env: io.env, key })
    report(io, options, result, formatConfigPath(key), "removed")
  })
}

export function validateConfigFile(io: ConfigCommandIo, options: Output): void {
  run(io, options, () => {
    const path = configPath(io)
    const result = loadConfigFile({ path, env: io.env })
    if (result.kind === "invalid") throw new IssuesError(path, result.issues)
    const { files } = result.snapshot
    if (options.json) io.stdout(`${JSON.stringify({ ok: true, files, issues: [] })}\n`)
    else if (files.length === 0) io.stdout(`${path} does not exist; the defaults are used\n`)
    else io.stdout(`${files.join(", ")}: no errors\n`)
  })
}

export function printConfigSchema(io: ConfigCommandIo): void {
  io.stdout(`${JSON.stringify(configJsonSchema(), null, 2)}\n`)
}

/** JSON schema of the file as a person writes it. */
export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" })
}

export function printConfigPath(io: ConfigCommandIo, options: Output): void {
  run(io, options, () => {
    const path = configPath(io)
    io.stdout(options.json ? `${JSON.stringify({ ok: true, path, exists: existsSync(path) })}\n` : `${path}\n`)
  })
}

class IssuesError extends Error {
  readonly app: AppError
  readonly issues: readonly ConfigIssue[]

  constructor(path: string, issues: readonly ConfigIssue[]) {
    super("The configuration is invalid")
    this.app = configInvalid(path, issues)
    this.issues = issues
  }
}

function run(io: ConfigCommandIo, options: Output, work: () => void): void {
  try {
    work()
  } catch (error) {
    const app = error instanceof IssuesError ? error.app : error
    if (!(app instanceof AppError)) throw error
    const issues = error instanceof IssuesError ? { issues: error.issues } : {}
    if (options.json) io.stdout(`${JSON.stringify({ ...toErrorBody(app), ...issues })}\n`)
    else io.stderr(`${app.message}\n${app.hint === undefined ? "" : `${app.hint}\n`}`)
    io.exit(1)
  }
}

function report(io: ConfigCommandIo, options: Output, result: WriteResult, key: string, done: string): void {
  if (result.kind === "invalid") {
    if (options.json) {
      const app = new AppError("config-invalid", "The change would make the configuration invalid; nothing was written")
      io.stdout(`${JSON.stringify({ ...toErrorBody(app), issues: result.issues })}\n`)
    } else {
      io.stderr(`Nothing was written; the configuration would be invalid:\n`)
      for (const issue of result.issues) io.stderr(`  ${formatIssue(issue)}\n`)
    }
    io.exit(1)
    return
  }
  if (options.json) io.stdout(`${JSON.stringify({ ok: true, key, files: result.files })}\n`)
  else if (result.files.length === 0) io.stdout(`${key}: nothing to change\n`)
  else io.stdout(`${key}: ${done} in ${result.files.join(", ")}\n`)
}

function configPath(io: ConfigCommandIo): string {
  return readEnvironment(io.env).configPath
}

/** JSON5 when it is, else the text itself: a token or a URL needs no quotes. */
function parseValue(text: string): Json {
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
