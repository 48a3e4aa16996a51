// Looks into the schema: which keys exist at a path, what is secret, what a key means. Everything that must follow the
// schema (redaction, messages, the reference) asks here, so that a key is described in one place only.
import { globalRegistry } from "zod"
import type { z } from "zod"
import type { ConfigPath } from "./path.ts"

export interface KeyMeta {
  description?: string
  /** Never shown: masked in every dump, kept out of messages. */
  secret?: boolean
  /** Accepted and checked, but of no effect yet. */
  later?: boolean
  /** The default in words, where code outside the schema decides it. */
  defaultText?: string
}

type AnySchema = z.core.$ZodType

/** A schema without its wrappers; the metadata of all of them joined, the outermost winning. */
export interface OpenedSchema {
  /** More than one for a union. */
  cores: z.core.$ZodTypes[]
  meta: KeyMeta
  required: boolean
  defaultValue: { value: unknown } | undefined
}

export function openSchema(schema: AnySchema): OpenedSchema {
  const opened: OpenedSchema = { cores: [], meta: {}, required: true, defaultValue: undefined }
  const visit = (current: AnySchema): void => {
    opened.meta = { ...(globalRegistry.get(current) as KeyMeta | undefined), ...opened.meta }
    const core = current as z.core.$ZodTypes
    const definition = core._zod.def
    if (definition.type === "default" || definition.type === "prefault") {
      opened.required = false
      opened.defaultValue ??= { value: definition.defaultValue }
      visit(definition.innerType)
    } else if (definition.type === "optional" || definition.type === "catch") {
      if (definition.type === "optional") opened.required = false
      visit(definition.innerType)
    } else if (definition.type === "pipe") visit(definition.in)
    else if (definition.type === "union") for (const option of definition.options) visit(option)
    else opened.cores.push(core)
  }
  visit(schema)
  return opened
}

/** What stands below a schema under a name or index: several schemas when it is a union. */
export function childSchemas(schema: AnySchema, segment: string | number): AnySchema[] {
  return openSchema(schema).cores.flatMap((core) => {
    const definition = core._zod.def
    if (definition.type === "object") {
      const member = Object.hasOwn(definition.shape, segment) ? definition.shape[segment] : definition.catchall
      return member && member._zod.def.type !== "never" ? [member] : []
    }
    if (definition.type === "record") return [definition.valueType]
    return definition.type === "array" ? [definition.element] : []
  })
}

export function schemasAt(schema: AnySchema, path: ConfigPath): AnySchema[] {
  let level: AnySchema[] = [schema]
  for (const segment of path) level = level.flatMap((entry) => childSchemas(entry, segment))
  return level
}

/** Names that the schema itself gives to members; none for maps with names of the user's choice. */
export function knownKeys(schema: AnySchema, path: ConfigPath): string[] {
  const names = schemasAt(schema, path).flatMap((entry) =>
    openSchema(entry).cores.flatMap((core) =>
      core._zod.def.type === "object" ? Object.keys(core._zod.def.shape) : [],
    ),
  )
  return [...new Set(names)]
}

/** Whether the last segment of the path is a name of the user's choice (a group, an account, a profile). */
export function isMapEntry(schema: AnySchema, path: ConfigPath): boolean {
  return schemasAt(schema, path.slice(0, -1)).some((entry) =>
    openSchema(entry).cores.some((core) => core._zod.def.type === "record"),
  )
}

/** Whether a value at this path may be shown: it is a plain value of a known key, and not secret. */
export function isShowable(schema: AnySchema, path: ConfigPath): boolean {
  const schemas = schemasAt(schema, path)
  return schemas.length > 0 && schemas.every((entry) => !holdsSecret(entry))
}

export function isSecret(schema: AnySchema, path: ConfigPath): boolean {
  return schemasAt(schema, path).some((entry) => openSchema(entry).meta.secret === true)
}

function holdsSecret(schema: AnySchema): boolean {
  const { cores, meta } = openSchema(schema)
  if (meta.secret === true) return true
  return cores.some((core) => {
    const definition = core._zod.def
    if (definition.type === "object") {
      const members = [...Object.values(definition.shape), ...(definition.catchall ? [definition.catchall] : [])]
      return members.some(holdsSecret)
    }
    if (definition.type === "record") return holdsSecret(definition.valueType)
    return definition.type === "array" && holdsSecret(definition.element)
  })
}
