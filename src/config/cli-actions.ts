// What the `svc config` commands do. Loaded only when one of them runs.
import { existsSync } from "node:fs"
import { z } from "zod"
import { AppError, toErrorBody } from "../kernel/errors.ts"
import type { ConfigCommandIo, ConfigWarning } from "./cli.ts"
import type { ConfigIssue } from "./document.ts"
import { readConfigValue, setConfigText, showConfigValue } from "./edit.ts"
import { readEnvironment } from "./environment.ts"
import { configInvalid, formatIssue, loadConfigFile, loadConfigOrThrow, realConfigPath } from "./load.ts"
import { type ConfigPath, formatConfigPath, parseConfigPath } from "./path.ts"
import { configSchema } from "./schema.ts"
import { buildSourceTree, findNode, issueAt } from "./source-tree.ts"
import { unsetConfigValue } from "./write-back.ts"
import type { WriteResult } from "./write-back.ts"

interface Output {
  json: boolean
}

export function getConfigValue(
  io: ConfigCommandIo,
  options: Output & { key: string | undefined; reveal: boolean },
): void {
  run(io, options, () => {
    const { config, missing } = loadConfigOrThrow(target(io))
    const path = options.key === undefined ? [] : parseConfigPath(options.key)
    const wanted = missing.filter(({ at }) => path.every((segment, index) => segment === at[index]))
    const exact = wanted.find(({ at }) => at.length === path.length)
    if (exact) throw new AppError("config-invalid", formatIssue(exact))
    for (const each of wanted) io.stderr(`left out: ${formatIssue(each)}\n`)
    const shown = options.reveal ? readConfigValue(config, path) : showConfigValue(config, path)
    io.stdout(!options.json && typeof shown === "string" ? `${shown}\n` : `${JSON.stringify(shown, null, 2)}\n`)
  })
}

export async function setConfigFromText(
  io: ConfigCommandIo,
  options: Output & { key: string; value: string },
): Promise<void> {
  try {
    const key = parseConfigPath(options.key)
    const result = setConfigText({ ...target(io), key, text: options.value })
    const warnings = result.kind === "ok" ? await warningsAt(io, key) : []
    report(io, options, { result, key: formatConfigPath(key), done: "set", warnings })
  } catch (error) {
    fail(io, options, error)
  }
}

/** What `validate` would say of this key. */
async function warningsAt(io: ConfigCommandIo, key: ConfigPath): Promise<ConfigIssue[]> {
  if (!io.findWarnings) return []
  const loaded = loadConfigFile(target(io))
  if (loaded.kind !== "ok") return []
  const warnings = await io.findWarnings(loaded.snapshot)
  const concern = warnings.filter(({ path }) => key.every((segment, index) => String(segment) === String(path[index])))
  return placed(configPath(io), concern)
}

export function unsetConfigKey(io: ConfigCommandIo, options: Output & { key: string }): void {
  run(io, options, () => {
    const key = parseConfigPath(options.key)
    const result = unsetConfigValue({ ...target(io), key })
    report(io, options, { result, key: formatConfigPath(key), done: "removed", warnings: [] })
  })
}

/** Warnings leave the exit code as it is: the file can be used. */
export async function validateConfigFile(io: ConfigCommandIo, options: Output): Promise<void> {
  try {
    const path = configPath(io)
    const result = loadConfigFile({ path, env: io.env })
    if (result.kind === "invalid") throw new IssuesError(path, result.issues)
    const { files } = result.snapshot
    const warnings = placed(path, (await io.findWarnings?.(result.snapshot)) ?? [])
    if (options.json) return io.stdout(`${JSON.stringify({ ok: true, files, issues: [], warnings })}\n`)
    if (files.length === 0) io.stdout(`${path} does not exist; the defaults are used\n`)
    else io.stdout(`${files.join(", ")}: no errors\n`)
    for (const warning of warnings) io.stdout(`warning: ${formatIssue(warning)}\n`)
  } catch (error) {
    fail(io, options, error)
  }
}

/** With the place of each in the file. */
function placed(path: string, warnings: readonly ConfigWarning[]): ConfigIssue[] {
  if (warnings.length === 0) return []
  const file = realConfigPath(path)
  const built = existsSync(file) ? buildSourceTree(file) : undefined
  return warnings.map((warning) => {
    if (built?.kind !== "ok") {
      return { file, line: 0, column: 0, path: formatConfigPath(warning.path), message: warning.message }
    }
    return issueAt(findNode(built.tree.root, warning.path).node, warning.path, warning.message)
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
    fail(io, options, error)
  }
}

function fail(io: ConfigCommandIo, options: Output, error: unknown): void {
  const app = error instanceof IssuesError ? error.app : error
  if (!(app instanceof AppError)) throw error
  const issues = error instanceof IssuesError ? { issues: error.issues } : {}
  if (options.json) io.stdout(`${JSON.stringify({ ...toErrorBody(app), ...issues })}\n`)
  else io.stderr(`${app.message}\n${app.hint === undefined ? "" : `${app.hint}\n`}`)
  io.exit(1)
}

interface Written {
  result: WriteResult
  key: string
  done: "set" | "removed"
  warnings: readonly ConfigIssue[]
}

function report(io: ConfigCommandIo, options: Output, { result, key, done, warnings }: Written): void {
  if (result.kind === "invalid") {
    const hint = "docs/reference/config.md lists all keys with their values"
    if (options.json) {
      const app = new AppError(
        "config-invalid",
        "The change would make the configuration invalid; nothing was written",
        { hint },
      )
      io.stdout(`${JSON.stringify({ ...toErrorBody(app), issues: result.issues })}\n`)
    } else {
      io.stderr(`Nothing was written; the configuration would be invalid:\n`)
      for (const issue of result.issues) io.stderr(`  ${formatIssue(issue)}\n`)
      io.stderr(`hint: ${hint}\n`)
    }
    io.exit(1)
    return
  }
  if (options.json)
    io.stdout(
      `${JSON.stringify({ ok: true, key, files: result.files, ...(warnings.length > 0 ? { warnings } : {}) })}\n`,
    )
  else if (result.files.length === 0) io.stdout(`${key}: nothing to change\n`)
  else io.stdout(`${key}: ${done} in ${result.files.join(", ")}\n`)
  if (!options.json) for (const warning of warnings) io.stdout(`warning: ${formatIssue(warning)}\n`)
}

/** These commands look at, or change, one key: variables that others want need not be set at this terminal. */
function target(io: ConfigCommandIo) {
  return { path: configPath(io), env: io.env, missingVariables: "leave-out" as const }
}

function configPath(io: ConfigCommandIo): string {
  return readEnvironment(io.env).configPath
}
