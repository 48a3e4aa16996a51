// Reads the configuration: files -> merged tree -> variables -> schema -> snapshot. Nothing half-way comes out: either
// a snapshot that is right as a whole, or every issue that was found.
import { createHash } from "node:crypto"
import { lstatSync, readlinkSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve, sep } from "node:path"
import { AppError } from "../kernel/errors.ts"
import type { Json, JsonObject } from "../kernel/json.ts"
import { addVariables, readEnvironment, resolveHome } from "./environment.ts"
import type { Environment, Variables } from "./environment.ts"
import type { ConfigIssue } from "./document.ts"
import { secretsOf } from "./env-file.ts"
import { describeSchemaIssue, toConfigIssues } from "./issue-text.ts"
import { formatConfigPath } from "./path.ts"
import type { ConfigPath } from "./path.ts"
import { collectSecrets } from "./redact.ts"
import { configSchema } from "./schema.ts"
import type { Config } from "./schema.ts"
import { buildSourceTree, findNode, issueAt, treeToJson } from "./source-tree.ts"
import type { SourceNode, SourceTree } from "./source-tree.ts"
import { readLoginShell, shellMark } from "./shell-env.ts"
import { substituteVariables } from "./substitute.ts"

export interface ConfigSnapshot {
  /** Validated, with defaults and variables; what the product runs on. */
  config: Config
  /** What the files say, merged, with placeholders as written. */
  source: JsonObject
  /** The file that was asked for. */
  path: string
  /** Real paths of all files it is made of, the main one first. Empty when there is no file. */
  files: string[]
  /** Every secret value, for the redactor of the log. */
  secrets: string[]
  /** Keys that were left out because their variables are not set. */
  missing: MissingVariable[]
  /** Changes when any of the files or `.env` does. */
  hash: string
  /** The process's environment with `.env` and then the `env` section below it. */
  environment: Environment
  /** What the login shell has said, where it was asked. */
  shell: Readonly<Record<string, string>>
}

export interface MissingVariable extends ConfigIssue {
  at: ConfigPath
  variable: string
}

export type LoadResult =
  | { kind: "ok"; snapshot: ConfigSnapshot }
  | { kind: "invalid"; issues: ConfigIssue[]; files: string[] }

export interface LoadOptions {
  path: string
  env: Variables
  /**
   * `leave-out`: a key whose variable is missing is as if it were not written, and `missing` names it. For commands that
   * look at other keys.
   */
  missingVariables?: "refuse" | "leave-out"
  /** What the login shell has said before (`ConfigSnapshot.shell`): it is not asked again. */
  shell?: Readonly<Record<string, string>>
  /** Texts by real path that stand in for files, to check an edit before it is written. */
  overlay?: ReadonlyMap<string, string>
}

/** A missing file is an empty configuration. Throws only for variables of ours that cannot be used. */
export function loadConfigFile(options: LoadOptions): LoadResult {
  const own = readEnvironment(options.env)
  const environment = addVariables(own, own.envFile.values)
  const file = realConfigPath(options.path)
  const overlay = options.overlay ?? new Map<string, string>()
  if (!exists(file) && !overlay.has(file)) return validate(options, file, emptyTree(file), environment, [])
  const built = buildSourceTree(file, overlay)
  if (built.kind === "invalid") return built
  const files = built.tree.documents.map((document) => document.file)
  return validate(options, file, built.tree, environment, files)
}

/** For a start: the snapshot, or AppError `config-invalid` that lists every issue. */
export function loadConfigOrThrow(options: LoadOptions): ConfigSnapshot {
  const result = loadConfigFile(options)
  if (result.kind === "ok") return result.snapshot
  throw configInvalid(options.path, result.issues)
}

export function configInvalid(path: string, issues: readonly ConfigIssue[]): AppError {
  const lines = issues.map((issue) => `  ${formatIssue(issue)}`).join("\n")
  return new AppError("config-invalid", `The configuration ${path} has errors:\n${lines}`, {
    hint: "Correct the file; svc config validate checks it",
  })
}

/** One line: place, key, what is wrong, what was found. */
export function formatIssue(issue: ConfigIssue): string {
  const place = issue.line > 0 ? `${issue.file}:${issue.line}:${issue.column}` : issue.file
  const key = issue.path === "" ? "" : `${issue.path}: `
  const found = issue.value === undefined ? "" : ` (found ${issue.value})`
  return `${place}: ${key}${issue.message}${found}`
}

/** The file behind a link, also when it does not exist yet: writes replace it and never the link. */
export function realConfigPath(path: string): string {
  let current = resolve(path)
  for (let hops = 0; hops < 40; hops += 1) {
    const status = lstatSync(current, { throwIfNoEntry: false })
    if (!status)
      return exists(dirname(current)) ? resolve(realpathSync(dirname(current)), basenameOf(current)) : current
    if (!status.isSymbolicLink()) return realpathSync(current)
    current = resolve(dirname(current), readlinkSync(current))
  }
  throw new AppError("config-invalid", `${path} is a link that leads in a circle`)
}

function basenameOf(path: string): string {
  return path.slice(dirname(path).length).replace(/^[/\\]/, "")
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function emptyTree(file: string): SourceTree {
  const start = { line: 1, column: 1, offset: 0 }
  const node = { type: "Object" as const, members: [], loc: { start, end: start } }
  const root: SourceNode = { document: { file, text: "{}", root: node }, node, kind: "object", members: new Map() }
  return { root, documents: [] }
}

function validate(
  options: LoadOptions,
  file: string,
  tree: SourceTree,
  outer: Environment,
  files: string[],
): LoadResult {
  const { path } = options
  const source = treeToJson(tree.root) as JsonObject
  const missing: MissingVariable[] = []
  const shell = shellOf(options, tree, outer)
  const environment = addVariables(addVariables(outer, readEnvSection(tree, outer, missing)), shell.variables)
  const substituted = treeToJson(tree.root, (text, place, at) => {
    // The `env` section is what others refer to; it may itself refer to the real environment only.
    const variables = at[0] === "env" ? outer.variables : environment.variables
    const result = substituteVariables(text, variables)
    if (at[0] !== "env") missing.push(...missingIssues(result.missing, place, at, outer, shell.problem))
    return result.text
  })
  const mayMiss = options.missingVariables === "leave-out"
  const issues: ConfigIssue[] = mayMiss ? [] : [...missing]
  // One broken variable must not hide what else is wrong, so the schema looks at the file in any case.
  const parsed = parseConfig(substituted, mayMiss ? missing : [])
  if (!parsed.success) {
    const found = toConfigIssues({ schema: configSchema, root: tree.root, source, found: parsed.error.issues })
    const known = new Set(issues.map((issue) => issue.path))
    issues.push(...found.filter((issue) => !known.has(issue.path)))
  }
  if (!parsed.success || issues.length > 0) {
    return { kind: "invalid", issues: issues.sort(byPlace), files: files.length > 0 ? files : [file] }
  }
  const misplaced = transformsDirProblem(parsed.data, path, environment)
  if (misplaced !== undefined) {
    const at = ["hooks", "transformsDir"]
    return { kind: "invalid", issues: [issueAt(findNode(tree.root, at).node, at, misplaced)], files }
  }
  const config = applyOverrides(parsed.data, environment)
  const hash = createHash("sha256")
  for (const document of tree.documents) hash.update(document.file).update("\0").update(document.text).update("\0")
  hash.update(JSON.stringify(outer.envFile.values))
  const secrets = [...collectSecrets(config), ...secretVariables(environment), ...secretsOf(outer.envFile)]
  return {
    kind: "ok",
    snapshot: {
      config,
      source,
      path,
      files,
      secrets,
      missing: mayMiss ? missing : [],
      hash: hash.digest("hex"),
      environment,
      shell: shell.variables,
    },
  }
}

/**
 * With variables that are missing and may be: without the keys that want them, so that no placeholder is taken for a
 * value. A key that must be there has its placeholder; where that is no possible value, what it stands in is left out.
 */
function parseConfig(value: Json, missing: readonly { at: ConfigPath }[]) {
  const parse = (tried: Json) => configSchema.safeParse(tried, { error: describeSchemaIssue })
  const gaps = missing.map(({ at }) => ({ at, depth: at.length, isWritten: false }))
  for (;;) {
    const lean = structuredClone(value)
    for (const { at, depth, isWritten } of gaps) if (!isWritten) remove(lean, at.slice(0, depth))
    const parsed = parse(lean)
    if (parsed.success) return parsed
    const paths = parsed.error.issues.map(({ path }) => path)
    const guilty = gaps.filter(({ at, depth }) => depth > 1 && paths.some((path) => startsWith(at, path)))
    if (guilty.length === 0) return parsed
    for (const gap of guilty) {
      const isFirst = !gap.isWritten && gap.depth === gap.at.length
      if (!isFirst) gap.depth -= 1
      gap.isWritten = isFirst
    }
  }
}

function startsWith(path: ConfigPath, start: readonly PropertyKey[]): boolean {
  return start.length > 0 && start.every((segment, index) => segment === path[index])
}

/** Members of objects; an element of a list stays, or those behind it would get its place. */
function remove(value: Json, path: ConfigPath): void {
  let at: unknown = value
  for (const segment of path.slice(0, -1)) at = (at as Record<string | number, unknown> | undefined)?.[segment]
  const last = path.at(-1)
  if (typeof at === "object" && at !== null && !Array.isArray(at) && last !== undefined) {
    delete (at as Record<string | number, unknown>)[last]
  }
}

/** Whoever may write there runs code in the gateway: it is a place as well kept as the configuration's own. */
function transformsDirProblem({ hooks }: Config, path: string, { home }: Environment): string | undefined {
  if (hooks.transformsDir === undefined) return undefined
  const base = dirname(resolve(path))
  const folder = resolveHome(hooks.transformsDir, home, base)
  const isInside = [relative(base, folder), relative(realOf(base), realOf(folder))].every(
    (way) => way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way),
  )
  return isInside ? undefined : `must be a folder in that of the configuration (${base}), not one that a link leads to`
}

/** Without links, as far as it exists. */
function realOf(path: string): string {
  if (exists(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : resolve(realOf(parent), basenameOf(path))
}

function byPlace(a: ConfigIssue, b: ConfigIssue): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column
}

function applyOverrides(config: Config, environment: Environment): Config {
  if (environment.gatewayPort === undefined) return config
  return { ...config, gateway: { ...config.gateway, port: environment.gatewayPort } }
}

function secretVariables(environment: Environment): string[] {
  const named = Object.entries(environment.variables)
    .filter(([name, value]) => name.endsWith("_API_KEY") && value !== undefined && value !== "")
    .map(([, value]) => value as string)
  return environment.chatappBotToken === undefined ? named : [environment.chatappBotToken, ...named]
}

/** Commands that only look at keys ask no shell. */
function shellOf(options: LoadOptions, tree: SourceTree, outer: Environment): ReturnType<typeof readShell> {
  if (options.shell?.[shellMark]) return { variables: options.shell }
  return options.missingVariables === "leave-out" ? { variables: {} } : readShell(tree, outer)
}

/** What the login shell has set, where `env.shellEnv.enabled` wants it and it was not asked before. */
function readShell(
  tree: SourceTree,
  { variables }: Environment,
): {
  variables: Readonly<Record<string, string>>
  problem?: string
} {
  const section = (node: SourceNode | undefined, name: string) =>
    node?.kind === "object" ? node.members.get(name) : undefined
  const shellEnv = section(section(tree.root, "env"), "shellEnv")
  const value = (name: string) => {
    const node = section(shellEnv, name)
    return node?.kind === "scalar" ? node.value : undefined
  }
  if (value("enabled") !== true || variables[shellMark] !== undefined) return { variables: {} }
  const timeoutMs = value("timeoutMs")
  const read = readLoginShell(variables, typeof timeoutMs === "number" ? timeoutMs : 0)
  if (read.kind === "failed") return { variables: {}, problem: read.reason }
  // Ours say where this gateway is: a profile must not move it.
  const foreign = Object.entries(read.variables).filter(([name]) => !name.startsWith("SVC_"))
  return { variables: { ...Object.fromEntries(foreign), [shellMark]: "1" } }
}

/** Names and values of the `env` section; what is wrong with its shape is the schema's to say. */
function readEnvSection(tree: SourceTree, outer: Environment, found: MissingVariable[]): Record<string, string> {
  const variables: Record<string, string> = {}
  const root = tree.root.kind === "object" ? tree.root.members.get("env") : undefined
  if (root?.kind !== "object") return variables
  const vars = root.members.get("vars")
  const entries = [...root.members, ...(vars?.kind === "object" ? vars.members : [])]
  for (const [name, node] of entries) {
    if (node.kind !== "scalar" || typeof node.value !== "string") continue
    const result = substituteVariables(node.value, outer.variables)
    const path = vars?.kind === "object" && vars.members.get(name) === node ? ["env", "vars", name] : ["env", name]
    found.push(...missingIssues(result.missing, node, path, outer))
    variables[name] = result.text
  }
  return variables
}

function missingIssues(
  names: readonly string[],
  place: SourceNode,
  at: ConfigPath,
  { envFile }: Environment,
  shellProblem?: string,
): MissingVariable[] {
  const { problem, path } = envFile
  // Where it may be set for good; and a file that is not used says why.
  const way = problem?.used === false ? `${problem.message} (${problem.fix})` : `set it, or write it into ${path}`
  const why = shellProblem === undefined ? "" : `; the login shell could not be asked: ${shellProblem}`
  return names.map((variable) => {
    const what = `the environment variable ${variable}, which ${formatConfigPath(at)} refers to, is not set or empty${why}`
    return { ...issueAt(place, at, `${what}; ${way}`), at, variable }
  })
}
