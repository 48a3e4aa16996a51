// The configuration as a form: schema, what the files say, and what is in use -> one field a key, with what it may be,
// where its value comes from, and whether it may be written here. Secrets are never in it.
import { existsSync } from "node:fs"
import type { z } from "zod"
import { isJsonObject } from "../../kernel/json.ts"
import type { Json } from "../../kernel/json.ts"
import type { ConfigSnapshot } from "../load.ts"
import { realConfigPath } from "../load.ts"
import { formatConfigPath } from "../path.ts"
import type { ConfigPath } from "../path.ts"
import { isProtectedPath } from "../protected-paths.ts"
import { mask, redactAt } from "../redact.ts"
import { configSchema } from "../schema.ts"
import { isShowable, openSchema, schemasAt } from "../schema-walk.ts"
import type { OpenedSchema } from "../schema-walk.ts"
import { buildSourceTree, findNode } from "../source-tree.ts"
import type { SourceNode } from "../source-tree.ts"

export interface ConfigSection {
  name: string
  description: string
  /** Keys that the files set. */
  written: number
}

export interface ConfigField {
  key: string
  /** `map`: entries of names of one's choice, which have fields of their own. `json`: whatever it holds, as JSON5. */
  kind: "text" | "number" | "choice" | "list" | "json" | "map"
  /** Of a choice. */
  choices?: (string | boolean | number)[]
  description: string
  /** In words; absent where there is none. */
  default?: string
  /** What the files say, with placeholders as written; absent where they say nothing. */
  written?: Json
  /** What is in use; absent where nothing is, or where it is no more than what is written. */
  value?: Json
  /** Where it is written. */
  place?: { file: string; line: number }
  /** Why it is changed in the file alone. */
  guarded?: "secret" | "guarded"
  /** Accepted and checked, but of no effect yet. */
  later?: boolean
}

export function listSections({ source }: ConfigSnapshot): ConfigSection[] {
  return membersOf(openSchema(configSchema)).map(([name, schema]) => ({
    name,
    description: openSchema(schema).meta.description ?? "",
    written: countLeaves(source[name]),
  }))
}

function countLeaves(value: Json | undefined): number {
  if (value === undefined) return 0
  if (!isJsonObject(value)) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + countLeaves(member), 0)
}

/** Fields of one top-level key. `extra` is an entry of a map that is to be made. Empty for a section that there is not. */
export function listFields(snapshot: ConfigSnapshot, section: string, extra?: ConfigPath): ConfigField[] {
  const file = realConfigPath(snapshot.path)
  const built = existsSync(file) ? buildSourceTree(file) : undefined
  const root = built?.kind === "ok" ? built.tree.root : undefined
  return schemasAt(configSchema, [section]).flatMap((schema) => walk({ snapshot, root, extra }, [section], schema))
}

/** Whether the form may write a key: it is known, holds no secret, and guards nothing. */
export function isFormPath(path: ConfigPath): boolean {
  return isShowable(configSchema, path) && !isProtectedPath(path)
}

interface Walk {
  snapshot: ConfigSnapshot
  root: SourceNode | undefined
  extra: ConfigPath | undefined
}

function walk(around: Walk, path: ConfigPath, schema: z.core.$ZodType): ConfigField[] {
  const opened = openSchema(schema)
  const [core] = opened.cores
  if (opened.cores.length === 1 && core) {
    const definition = core._zod.def
    const members = membersOf(opened)
    if (members.length > 0) return members.flatMap(([name, member]) => walk(around, [...path, name], member))
    if (definition.type === "record" && membersOf(openSchema(definition.valueType)).length > 0) {
      return [fieldOf(around, path, opened, "map"), ...entriesOf(around, path, definition.valueType)]
    }
  }
  return [fieldOf(around, path, opened, kindOf(opened))]
}

function entriesOf(around: Walk, path: ConfigPath, schema: z.core.$ZodType): ConfigField[] {
  const { snapshot, extra } = around
  const written = valueAt(snapshot.source, path)
  const names = isJsonObject(written) ? Object.keys(written) : []
  const added = extra?.length === path.length + 1 && path.every((segment, index) => segment === extra[index])
  if (added && !names.includes(String(extra.at(-1)))) names.push(String(extra.at(-1)))
  return names.flatMap((name) => walk(around, [...path, name], schema))
}

/** Names that the schema gives; what has names of one's choice beside them (`env`) is none. */
function membersOf(opened: OpenedSchema): [string, z.core.$ZodType][] {
  return opened.cores.flatMap((core) => {
    const definition = core._zod.def
    return definition.type === "object" ? Object.entries(definition.shape) : []
  })
}

function kindOf({ cores }: OpenedSchema): ConfigField["kind"] {
  const types = new Set(cores.map((core) => core._zod.def.type))
  if (isChoice(types)) return "choice"
  if (types.size > 1)
    return types.has("string") && [...types].every((type) => type === "string" || type === "number") ? "text" : "json"
  const [core] = cores
  if (!core) return "json"
  const definition = core._zod.def
  if (definition.type === "string") return "text"
  if (definition.type === "number") return "number"
  if (definition.type !== "array") return "json"
  const elements = openSchema(definition.element).cores.map((element) => element._zod.def.type)
  return elements.includes("string") && elements.every((type) => type === "string" || type === "number")
    ? "list"
    : "json"
}

const isChoice = (types: ReadonlySet<string>) =>
  types.size > 0 && [...types].every((type) => type === "enum" || type === "literal" || type === "boolean")

function choicesOf({ cores }: OpenedSchema): (string | boolean | number)[] {
  const found = cores.flatMap((core): unknown[] => {
    const definition = core._zod.def
    if (definition.type === "enum") return Object.values(definition.entries)
    return definition.type === "literal" ? [...definition.values] : [true, false]
  })
  return [...new Set(found)] as (string | boolean | number)[]
}

function fieldOf(
  { snapshot, root }: Walk,
  path: ConfigPath,
  opened: OpenedSchema,
  kind: ConfigField["kind"],
): ConfigField {
  const { description = "", later } = opened.meta
  const written = kind === "map" ? undefined : valueAt(snapshot.source, path)
  const value = kind === "map" ? undefined : valueAt(snapshot.config, path)
  const standard = defaultOf(opened)
  const place = root && findNode(root, path)
  const isWritten = place !== undefined && place.depth === path.length
  return {
    key: formatConfigPath(path),
    kind,
    description,
    ...(kind === "choice" ? { choices: choicesOf(opened) } : {}),
    ...(standard === undefined ? {} : { default: standard }),
    ...(written === undefined ? {} : { written: shown(written, path) }),
    ...(value === undefined || JSON.stringify(value) === JSON.stringify(written) ? {} : { value: shown(value, path) }),
    ...(isWritten ? { place: { file: place.node.document.file, line: place.node.node.loc.start.line } } : {}),
    ...guardOf(path, kind, opened),
    ...(later ? { later } : {}),
  }
}

/** A map may get entries where something inside one may be written. */
function guardOf(path: ConfigPath, kind: ConfigField["kind"], opened: OpenedSchema): Pick<ConfigField, "guarded"> {
  if (kind !== "map") {
    if (!isShowable(configSchema, path)) return { guarded: "secret" }
    return isProtectedPath(path) ? { guarded: "guarded" } : {}
  }
  const [core] = opened.cores
  const entry = core?._zod.def.type === "record" ? membersOf(openSchema(core._zod.def.valueType)) : []
  return entry.some(([name]) => isFormPath([...path, "*", name])) ? {} : { guarded: "guarded" }
}

function shown(value: unknown, path: ConfigPath): Json {
  const schemas = schemasAt(configSchema, path)
  return (isShowable(configSchema, path) ? redactAt(value, schemas, String(path.at(-1))) : mask) as Json
}

function defaultOf({ meta, defaultValue }: OpenedSchema): string | undefined {
  if (meta.defaultText !== undefined) return meta.defaultText.replaceAll("`", "")
  if (defaultValue === undefined) return undefined
  return typeof defaultValue.value === "string" ? defaultValue.value : JSON.stringify(defaultValue.value)
}

function valueAt(source: unknown, path: ConfigPath): Json | undefined {
  let value: unknown = source
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined
    value = (value as Record<string | number, unknown>)[segment]
  }
  return value as Json | undefined
}
