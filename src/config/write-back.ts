// Changes one key of the configuration on the disk: edit the file's own text -> check the result as a whole -> backup ->
// replace atomically. Placeholders stay placeholders; what is invalid is never written. A key that an included file
// holds is changed in that file.
import type { ObjectNode } from "@humanwhocodes/momoa"
import { existsSync } from "node:fs"
import { AppError } from "../kernel/errors.ts"
import { isJsonObject } from "../kernel/json.ts"
import type { Json, JsonObject } from "../kernel/json.ts"
import { writePrivateFile } from "../kernel/private-file.ts"
import { rotateBackups } from "./backups.ts"
import type { ConfigIssue } from "./document.ts"
import { addElement, addMember, isBlank, removeElement, removeMember, renameMember, replaceValue } from "./edit-text.ts"
import type { Variables } from "./environment.ts"
import { loadConfigFile, realConfigPath } from "./load.ts"
import type { ConfigSnapshot } from "./load.ts"
import { formatConfigPath, parseConfigPath, refusePrototypeSegments } from "./path.ts"
import type { ConfigPath } from "./path.ts"
import { configSchema } from "./schema.ts"
import { isMapEntry } from "./schema-walk.ts"
import { buildSourceTree, findNode, includeKey } from "./source-tree.ts"
import type { SourceNode } from "./source-tree.ts"

export type WriteResult =
  /** `files` are those that were replaced; empty when the configuration already said so. */
  { kind: "ok"; snapshot: ConfigSnapshot; files: string[] } | { kind: "invalid"; issues: ConfigIssue[] }

interface Target {
  /** The configuration file. */
  path: string
  env: Variables
  /** `leave-out`: a variable that is not set at this terminal keeps nobody from writing another key. */
  missingVariables?: "refuse" | "leave-out"
  key: string | ConfigPath
}

/** Throws AppError `bad-request` or `config-write-refused` for a key that cannot be written. */
export function setConfigValue(options: Target & { value: Json }): WriteResult {
  const key = readKey(options.key)
  refusePrototypeNames(options.value)
  return write(options, () => (root) => setStep(root, key, options.value))
}

/** Removes a key and the sections that become empty by it; entries of maps (a group, an account) stay. */
export function unsetConfigValue(options: Target): WriteResult {
  const key = readKey(options.key)
  return write(options, () => {
    // Elements move up when one is removed, so an index is good for one removal only.
    let elementRemoved = false
    return (root) => {
      const edit = elementRemoved ? undefined : unsetStep(root, key)
      elementRemoved ||= edit !== undefined && typeof key.at(-1) === "number"
      return edit
    }
  })
}

/**
 * Gives entries of maps another name, in one replacement of each file; what they hold and the comments stay. An entry
 * that is not there, or whose new name is taken, is left alone.
 */
export function renameConfigEntries(
  options: Pick<Target, "path" | "env"> & { entries: readonly { key: ConfigPath; to: string }[] },
): WriteResult {
  const entries = options.entries.map(({ key, to }) => ({ key: readKey(key), to: String(readKey([to])[0]) }))
  return write(options, () => {
    let open: typeof entries | undefined
    return (root) => {
      // Decided before the first edit: afterwards the new name is there because of us.
      open ??= entries.filter(({ key, to }) => !membersAt(root, key.slice(0, -1))?.has(to))
      for (const entry of open) {
        const edit = renameStep(root, entry.key, entry.to)
        if (edit) return edit
      }
      return undefined
    }
  })
}

/** One key; without a value it is removed. */
export interface KeyChange {
  key: ConfigPath
  value?: Json
}

export interface FileChange {
  file: string
  before: string
  after: string
}

export type ChangePlan =
  | { kind: "ok"; snapshot: ConfigSnapshot; files: FileChange[] }
  | { kind: "invalid"; issues: ConfigIssue[] }

interface Changes extends Omit<Target, "key"> {
  changes: readonly KeyChange[]
}

/** What changes of several keys would make of the files. Throws as `setConfigValue` does. */
export function planConfigChanges({ changes, ...target }: Changes): ChangePlan {
  const prepared = prepare(target, keysOf(changes), changeSteps(changes))
  if (prepared.kind === "invalid") return prepared
  return { kind: "ok", snapshot: prepared.snapshot, files: fileChanges(prepared) }
}

/** Makes them, all or none in each file; `conflict` when the plan is not the wanted one any more. */
export function writeConfigChanges(
  options: Changes & { isWanted: (files: readonly FileChange[]) => boolean },
): WriteResult {
  const { changes, ...target } = options
  return write(target, changeSteps(changes), keysOf(changes))
}

function keysOf(changes: readonly KeyChange[]): ConfigPath[] {
  return changes.map(({ key }) => key)
}

function fileChanges({ before, files }: Prepared): FileChange[] {
  return files.map(([file, after]) => ({ file, before: before.get(file) ?? "", after }))
}

function changeSteps(changes: readonly KeyChange[]): () => Step {
  const wanted = changes.map(({ key, value }) => {
    if (value !== undefined) refusePrototypeNames(value)
    return { key: readKey(key), value }
  })
  // What is added takes its looks from what is there, so what goes goes last.
  const ordered = [
    ...wanted.filter(({ value }) => value !== undefined),
    ...wanted.filter(({ value }) => value === undefined),
  ]
  return () => (root) => {
    for (const { key, value } of ordered) {
      const next = value === undefined ? unsetStep(root, key) : setStep(root, key, value)
      if (next) return next
    }
    return undefined
  }
}

interface Edit {
  file: string
  text: string
}

type Overlay = Map<string, string>
/** The next edit that is needed, or undefined when the tree is as wanted. */
type Step = (root: SourceNode) => Edit | undefined

/** More than any edit needs (one for each file and each level that becomes empty). */
const maxSteps = 200
const maxTries = 5

interface WriteOptions extends Pick<Target, "path" | "env" | "missingVariables"> {
  /** Of what is written, where that is one key. */
  key?: string | ConfigPath
  /** Asked with what would be replaced, before anything is. */
  isWanted?: (files: readonly FileChange[]) => boolean
}

/** A variable that is not set keeps the key that wants it from being written, also where others may lack theirs. */
function isBelow(path: string, key: string | ConfigPath): boolean {
  const written = formatConfigPath(readKey(key))
  return path === written || path.startsWith(`${written}.`) || path.startsWith(`${written}[`)
}

type Prepared = { kind: "ok"; snapshot: ConfigSnapshot; main: string; before: Overlay; files: [string, string][] }

/** What an edit makes of the files, checked as a whole; nothing is written. */
function prepare(
  { path, env, missingVariables = "refuse" }: WriteOptions,
  keys: readonly (string | ConfigPath)[],
  makeStep: () => Step,
): Prepared | InvalidEdit {
  const main = realConfigPath(path)
  const before: Overlay = new Map()
  const edited = edit(main, makeStep(), before)
  if (edited.kind === "invalid") return edited
  const result = loadConfigFile({ path, env, overlay: edited.overlay, missingVariables })
  if (result.kind === "invalid") return { kind: "invalid", issues: result.issues }
  const lacking = result.snapshot.missing.filter((issue) => keys.some((key) => isBelow(issue.path, key)))
  if (lacking.length > 0) return { kind: "invalid", issues: lacking }
  const files = [...edited.overlay].filter(([file, text]) => before.get(file) !== text)
  return { kind: "ok", snapshot: result.snapshot, main, before, files }
}

function write(options: WriteOptions, makeStep: () => Step, keys = options.key === undefined ? [] : [options.key]) {
  for (let attempt = 1; ; attempt += 1) {
    const prepared = prepare(options, keys, makeStep)
    if (prepared.kind === "invalid") return prepared
    const { snapshot, main, before, files } = prepared
    if (options.isWanted?.(fileChanges(prepared)) === false) throw changedMeanwhile(options.path)
    // Somebody else wrote the file since we read it: their change must survive, so ours is made again on top of it.
    const unchanged = () => files.every(([file]) => readTree(main).get(file) === before.get(file))
    if (unchanged() && files.every(([file, text]) => replaceFile(file, text, unchanged, files.length))) {
      return { kind: "ok" as const, snapshot, files: files.map(([file]) => file) }
    }
    if (attempt === maxTries) throw new AppError("conflict", `${options.path} keeps being changed by another program`)
  }
}

function changedMeanwhile(path: string): AppError {
  return new AppError("conflict", `${path} has changed since the difference was shown`, {
    hint: "Look at the difference again, and save then",
  })
}

function replaceFile(file: string, text: string, unchanged: () => boolean, fileCount: number): boolean {
  // With several files the first rename changes what the check compares, so only a single file can be checked late.
  const check = fileCount === 1 ? unchanged : () => true
  return writePrivateFile(file, text, () => {
    if (!check()) return false
    rotateBackups(file)
    return true
  })
}

/** Texts of all files by real path; the main file is `{}` when it does not exist. */
function readTree(main: string): Overlay {
  const built = buildSourceTree(main, existsSync(main) ? undefined : new Map([[main, emptyText]]))
  return new Map(built.kind === "ok" ? built.tree.documents.map(({ file, text }) => [file, text]) : [])
}

const emptyText = "{}\n"

function edit(main: string, step: Step, before: Overlay): { kind: "ok"; overlay: Overlay } | InvalidEdit {
  const overlay: Overlay = existsSync(main) ? new Map() : new Map([[main, emptyText]])
  for (let count = 0; count < maxSteps; count += 1) {
    const built = buildSourceTree(main, overlay)
    if (built.kind === "invalid") return { kind: "invalid", issues: built.issues }
    for (const { file, text } of built.tree.documents) if (!before.has(file)) before.set(file, text)
    const next = step(built.tree.root)
    if (!next) return { kind: "ok", overlay }
    overlay.set(next.file, next.text)
  }
  throw new AppError("internal", "An edit of the configuration does not come to an end")
}

type InvalidEdit = { kind: "invalid"; issues: ConfigIssue[] }

function setStep(root: SourceNode, key: ConfigPath, value: Json): Edit | undefined {
  const { node, depth } = findNode(root, key)
  const { document } = node
  if (depth === key.length) {
    if (matches(node, value)) return undefined
    if (under(node).length > 0 && isJsonObject(value)) throw severalFiles(key)
    return { file: document.file, text: replaceValue(document, node.node, value) }
  }
  const segment = key[depth] as string | number
  const wrapped = wrap(key.slice(depth + 1), value, key)
  if (node.kind === "array") {
    if (segment !== node.elements.length || node.node.type !== "Array") throw outOfList(key)
    return { file: document.file, text: addElement(document, node.node, wrapped) }
  }
  if (node.kind === "object" && node.node.type === "Object") {
    if (typeof segment === "number" && depth === 0) throw outOfList(key)
    return { file: document.file, text: addMember(document, node.node, String(segment), wrapped) }
  }
  // A plain value stands where a section is wanted: the schema decides whether that may be.
  return { file: document.file, text: replaceValue(document, node.node, wrap(key.slice(depth), value, key)) }
}

/** `["a", "b"]` and 1 make `{a: {b: 1}}`. */
function wrap(rest: ConfigPath, value: Json, key: ConfigPath): Json {
  const [segment, ...deeper] = rest
  if (segment === undefined) return value
  const inner = wrap(deeper, value, key)
  if (typeof segment === "string") return { [segment]: inner }
  if (segment !== 0) throw outOfList(key)
  return [inner]
}

function matches(node: SourceNode, value: Json): boolean {
  if (node.kind === "scalar") return Object.is(node.value, value)
  if (node.kind === "array") {
    if (!Array.isArray(value) || value.length !== node.elements.length) return false
    return node.elements.every((element, index) => matches(element, value[index] ?? null))
  }
  if (!isJsonObject(value) || Object.keys(value).length !== node.members.size) return false
  return [...node.members].every(([name, member]) => Object.hasOwn(value, name) && matches(member, value[name] ?? null))
}

function unsetStep(root: SourceNode, key: ConfigPath): Edit | undefined {
  const parentPath = key.slice(0, -1)
  const parent = findNode(root, parentPath)
  const name = key.at(-1)
  if (name === undefined || parent.depth < parentPath.length) return pruneStep(root, parentPath)
  const found = removeFrom(parent.node, name)
  return found ?? pruneStep(root, parentPath)
}

function membersAt(root: SourceNode, path: ConfigPath): ReadonlyMap<string, SourceNode> | undefined {
  const { node, depth } = findNode(root, path)
  return depth === path.length && node.kind === "object" ? node.members : undefined
}

function renameStep(root: SourceNode, key: ConfigPath, to: string): Edit | undefined {
  const parentPath = key.slice(0, -1)
  const { node, depth } = findNode(root, parentPath)
  if (depth < parentPath.length) return undefined
  for (const { document, node: source } of [node, ...under(node)]) {
    if (source.type !== "Object") continue
    const text = renameMember(document, source, String(key.at(-1)), to)
    if (text !== undefined) return { file: document.file, text }
  }
  return undefined
}

function removeFrom(parent: SourceNode, name: string | number): Edit | undefined {
  if (parent.kind === "array" && parent.node.type === "Array") {
    const text = removeElement(parent.document, parent.node, Number(name))
    return text === undefined ? undefined : { file: parent.document.file, text }
  }
  for (const source of [parent, ...under(parent)]) {
    if (source.node.type !== "Object") continue
    const text = removeMember(source.document, source.node, String(name))
    if (text !== undefined) return { file: source.document.file, text }
  }
  return undefined
}

/** The objects of included files that a merged object is also made of. */
function under(node: SourceNode): SourceNode[] {
  return node.kind === "object" ? (node.under ?? []) : []
}

/** Removes the deepest empty section on the way to a key that was removed. */
function pruneStep(root: SourceNode, path: ConfigPath): Edit | undefined {
  if (path.length === 0) return undefined
  const { node, depth } = findNode(root, path)
  if (depth < path.length) return pruneStep(root, path.slice(0, -1))
  if (node.kind !== "object" || node.members.size > 0 || isMapEntry(configSchema, path)) return undefined
  if (!isBlank(node.document, node.node as ObjectNode)) return undefined
  return removeFrom(findNode(root, path.slice(0, -1)).node, path.at(-1) as string | number)
}

function readKey(key: string | ConfigPath): ConfigPath {
  const path = typeof key === "string" ? parseConfigPath(key) : key
  refusePrototypeSegments(path)
  if (path.length === 0) throw new AppError("bad-request", "The configuration key is empty")
  if (!path.includes(includeKey)) return path
  throw new AppError("config-write-refused", `"${includeKey}" is changed in the file itself`)
}

function refusePrototypeNames(value: Json): void {
  if (Array.isArray(value)) value.forEach(refusePrototypeNames)
  else if (isJsonObject(value)) {
    refusePrototypeSegments(Object.keys(value))
    Object.values(value as JsonObject).forEach(refusePrototypeNames)
  }
}

function severalFiles(key: ConfigPath): AppError {
  return new AppError("config-write-refused", `${formatConfigPath(key)} is put together from several files`, {
    hint: "Set the keys inside it one by one",
  })
}

function outOfList(key: ConfigPath): AppError {
  return new AppError("bad-request", `${formatConfigPath(key)} is outside its list`, {
    hint: "Elements can be replaced, or added at the end",
  })
}
