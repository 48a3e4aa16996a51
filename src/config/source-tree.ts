// A configuration as one tree put together from all its files: file -> $include -> merged tree.
// Every node knows the file and place it was written at, for messages and for write-back.
//
// `$include` names a file or a list of files, relative to the file it stands in. Later files win over earlier ones and
// the keys beside `$include` win over all of them; objects are merged, everything else is replaced. A relative path
// must stay below the folder of the main file, links followed; whoever wants another place writes an absolute path.
import { readFileSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve, sep } from "node:path"
import type { ObjectNode, ValueNode } from "@humanwhocodes/momoa"
import type { Json } from "../kernel/json.ts"
import { memberName, parseDocument, scalarValue } from "./document.ts"
import type { ConfigDocument, ConfigIssue } from "./document.ts"
import { formatConfigPath } from "./path.ts"
import type { ConfigPath } from "./path.ts"

export const includeKey = "$include"
const maxIncludeDepth = 10
/** Far above any real configuration; keeps a wrong path from filling the memory. */
const maxFileBytes = 4 * 1024 * 1024

export type SourceNode = { document: ConfigDocument; node: ValueNode } &
  /** `under`: the objects of included files that are merged into this one, the nearest first. */
  (
    | { kind: "object"; members: Map<string, SourceNode>; under?: SourceNode[] }
    | { kind: "array"; elements: SourceNode[] }
    | { kind: "scalar"; value: Json }
  )

export interface SourceTree {
  root: SourceNode
  /** All files that were read, the main one first, by their real paths. */
  documents: ConfigDocument[]
}

export type BuiltTree = { kind: "ok"; tree: SourceTree } | { kind: "invalid"; issues: ConfigIssue[]; files: string[] }

interface BuildState {
  issues: ConfigIssue[]
  documents: Map<string, ConfigDocument>
  /** All files that were asked for, readable or not. */
  files: Set<string>
  /** Real paths of the files that are being read, outermost first. */
  open: string[]
  rootFolder: string
  overlay: ReadonlyMap<string, string>
}

/** `overlay` has texts, by real path, that stand in for what is on the disk: an edit that is not yet written. */
export function buildSourceTree(mainFile: string, overlay: ReadonlyMap<string, string> = new Map()): BuiltTree {
  const state: BuildState = {
    issues: [],
    documents: new Map(),
    files: new Set(),
    open: [],
    rootFolder: dirname(mainFile),
    overlay,
  }
  const root = readFile(mainFile, state, undefined, [])
  if (!root || state.issues.length > 0) return { kind: "invalid", issues: state.issues, files: [...state.files] }
  return { kind: "ok", tree: { root, documents: [...state.documents.values()] } }
}

interface Place {
  document: ConfigDocument
  node: ValueNode
}

function readFile(file: string, state: BuildState, from: Place | undefined, path: ConfigPath): SourceNode | undefined {
  state.files.add(file)
  const text = readText(file, state, from, path)
  if (text === undefined) return undefined
  const parsed = parseDocument(file, text)
  if (parsed.kind === "invalid") {
    state.issues.push(parsed.issue)
    return undefined
  }
  state.documents.set(file, parsed.document)
  state.open.push(file)
  const node = convert(parsed.document, parsed.document.root, path, state)
  state.open.pop()
  return node
}

function readText(file: string, state: BuildState, from: Place | undefined, path: ConfigPath): string | undefined {
  const overlaid = state.overlay.get(file)
  if (overlaid !== undefined) return overlaid
  const fail = (message: string) => {
    state.issues.push(from ? issueAt(from, path, message) : { file, line: 0, column: 0, path: "", message })
    return undefined
  }
  try {
    const bytes = readFileSync(file)
    if (bytes.length > maxFileBytes) return fail(`${file} is larger than ${maxFileBytes / 1024 / 1024} MB`)
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return fail(`${file} is not UTF-8 text`)
    return fail(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  }
}

function convert(document: ConfigDocument, node: ValueNode, path: ConfigPath, state: BuildState): SourceNode {
  if (node.type === "Object") return convertObject(document, node, path, state)
  if (node.type === "Array") {
    const elements = node.elements.map((element, index) => convert(document, element.value, [...path, index], state))
    return { document, node, kind: "array", elements }
  }
  return { document, node, kind: "scalar", value: scalarValue(node) }
}

function convertObject(document: ConfigDocument, node: ObjectNode, path: ConfigPath, state: BuildState): SourceNode {
  const members = new Map<string, SourceNode>()
  let included: SourceNode | undefined
  for (const member of node.members) {
    const name = memberName(member)
    const place = { document, node: member.name.type === "String" ? member.name : member.value }
    if (name === "__proto__") state.issues.push(issueAt(place, [...path, name], "this key is not allowed"))
    else if (members.has(name)) state.issues.push(issueAt(place, [...path, name], "this key is written twice"))
    else if (name === includeKey) included = readIncludes(document, member.value, path, state)
    else members.set(name, convert(document, member.value, [...path, name], state))
  }
  const own: SourceNode = { document, node, kind: "object", members }
  return included ? merge(included, own) : own
}

function readIncludes(document: ConfigDocument, node: ValueNode, path: ConfigPath, state: BuildState) {
  const places = node.type === "Array" ? node.elements.map((element) => element.value) : [node]
  let result: SourceNode | undefined
  for (const place of places) {
    const included = readInclude({ document, node: place }, path, state)
    if (included) result = result ? merge(result, included) : included
  }
  return result
}

function readInclude(place: Place, path: ConfigPath, state: BuildState): SourceNode | undefined {
  const fail = (message: string) => {
    state.issues.push(issueAt(place, [...path, includeKey], message))
    return undefined
  }
  if (place.node.type !== "String" || place.node.value.trim() === "") {
    return fail("must be a file name or a list of file names")
  }
  const written = place.node.value
  const wanted = resolve(dirname(place.document.file), written)
  const file = state.overlay.has(wanted) ? wanted : realPathOf(wanted)
  if (file === undefined) return fail(`the included file ${wanted} does not exist`)
  if (!isAbsolute(written) && !isBelow(state.rootFolder, file)) {
    return fail(`the included file ${file} is outside the folder of the configuration; name it by its absolute path`)
  }
  if (state.open.includes(file)) return fail(`${file} includes itself: ${[...state.open, file].join(" -> ")}`)
  if (state.open.length > maxIncludeDepth) return fail(`files include one another more than ${maxIncludeDepth} deep`)
  return readFile(file, state, place, [...path, includeKey])
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined
    throw error
  }
}

function isBelow(folder: string, file: string): boolean {
  const path = relative(folder, file)
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path)
}

/** The place of a merged object is that of `over`: new keys are written there. */
function merge(under: SourceNode, over: SourceNode): SourceNode {
  if (under.kind !== "object" || over.kind !== "object") return over
  const members = new Map(under.members)
  for (const [name, node] of over.members) {
    const below = members.get(name)
    members.set(name, below ? merge(below, node) : node)
  }
  const below = [...(over.under ?? []), under, ...(under.under ?? [])]
  return { document: over.document, node: over.node, kind: "object", members, under: below }
}

export function issueAt(place: Place, path: ConfigPath, message: string): ConfigIssue {
  const { line, column } = place.node.loc.start
  return { file: place.document.file, line, column, path: formatConfigPath(path), message }
}

/** The node at a path, or the deepest that exists on the way to it. */
export function findNode(root: SourceNode, path: ConfigPath): { node: SourceNode; depth: number } {
  let node = root
  for (const [depth, segment] of path.entries()) {
    const next =
      node.kind === "object"
        ? node.members.get(String(segment))
        : node.kind === "array"
          ? node.elements[Number(segment)]
          : undefined
    if (!next) return { node, depth }
    node = next
  }
  return { node, depth: path.length }
}

/** The plain value of a tree; `mapString` sees every string with its place. */
export function treeToJson(
  source: SourceNode,
  mapString: (text: string, place: SourceNode, path: ConfigPath) => string = (text) => text,
  path: ConfigPath = [],
): Json {
  if (source.kind === "array") {
    return source.elements.map((element, index) => treeToJson(element, mapString, [...path, index]))
  }
  if (source.kind === "scalar") {
    return typeof source.value === "string" ? mapString(source.value, source, path) : source.value
  }
  const result: { [key: string]: Json } = {}
  for (const [name, node] of source.members) result[name] = treeToJson(node, mapString, [...path, name])
  return result
}
