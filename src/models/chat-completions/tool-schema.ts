// A tool's schema -> the part of JSON Schema that a service takes, with the source of each rule. What is taken out here
// still holds: the tool checks its input by its own schema. Used for the Gemini interface as well.
import { isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"

/**
 * `plain`: nearly all. `grammar`: servers that make a grammar of it (llama.cpp, LM Studio, Ollama). `google`: Gemini,
 * native or compatible. `moonshot`: Kimi. `xai` and `cerebras`: those services.
 */
export type SchemaDialect = "plain" | "grammar" | "google" | "moonshot" | "xai" | "cerebras"

interface Rules {
  drop: ReadonlySet<string>
  /** Last word on a schema whose parts are done. */
  finish?: (schema: JsonObject, atTop: boolean) => JsonObject
  /** References are replaced by what they name. */
  inline?: boolean
}

/** Kimi K2.5 answers nonsense when `$schema` is there (vercel/ai moonshotai); no service has a use for it. */
const always = ["$schema"]

const rules: Readonly<Record<SchemaDialect, Rules>> = {
  plain: { drop: new Set(always) },
  // llama.cpp#26930 (patterns without anchors), #27580 (`\d`), #25895 (nested patterns), #26596 (large `maxLength`):
  // one such tool fails the whole request. Formats that it does not know and names by rule: hermes-agent#18530.
  grammar: {
    drop: new Set([...always, "pattern", "format", "propertyNames", "patternProperties", "minLength", "maxLength"]),
  },
  // ai.google.dev/api/caching#Schema lists what is known; anything else is "Unknown name" and a refusal. Of `required`
  // each name must be a property; an array needs `items`; `enum` is for text; a type is one type.
  google: {
    drop: new Set(
      always.concat(
        ["$id", "$comment", "$anchor", "additionalProperties", "unevaluatedProperties", "propertyNames"],
        ["patternProperties", "dependentRequired", "dependentSchemas", "if", "then", "else", "not", "contains"],
        ["minContains", "maxContains", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
        ["default", "examples", "example", "readOnly", "writeOnly", "deprecated", "title"],
        ["contentEncoding", "contentMediaType"],
      ),
    ),
    finish: finishForGoogle,
    inline: true,
  },
  // vercel/ai moonshotai: tuples are `prefixItems`, and a type beside `anyOf` belongs into its branches.
  moonshot: { drop: new Set(always), finish: finishForMoonshot },
  // vercel/ai xai, docs.x.ai structured outputs: `additionalProperties: false` is refused.
  xai: { drop: new Set(always), finish: withoutClosedObjects },
  // claude-code-router#338, #708: "Unsupported JSON schema fields".
  cerebras: {
    drop: new Set([...always, "pattern", "format", "minItems", "maxItems", "minLength", "maxLength", "propertyNames"]),
  },
}

/** The schemas of tools are the same objects at each step; remembered by them. */
const adaptedTo = new Map<SchemaDialect, WeakMap<JsonObject, JsonObject>>()

/** The schema itself stays as it is; what comes back is for sending only, and never changed. */
export function adaptToolSchema(schema: JsonObject, dialect: SchemaDialect): JsonObject {
  const known = adaptedTo.get(dialect) ?? new WeakMap<JsonObject, JsonObject>()
  adaptedTo.set(dialect, known)
  const adapted = known.get(schema) ?? adaptWhole(schema, dialect)
  known.set(schema, adapted)
  return adapted
}

function adaptWhole(schema: JsonObject, dialect: SchemaDialect): JsonObject {
  const chosen = rules[dialect]
  const definitions = chosen.inline === true ? readDefinitions(schema) : undefined
  const adapted = adapt(schema, { rules: chosen, definitions, above: [] }, true)
  const object = isJsonObject(adapted) ? adapted : {}
  return object["properties"] === undefined ? { ...object, type: "object", properties: {} } : object
}

interface Walk {
  rules: Rules
  definitions: ReadonlyMap<string, Json> | undefined
  /** References that lead here; one of them again would have no end. */
  above: readonly string[]
}

/** Keywords by what they hold. */
const schemaKeys = new Set(["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"])
const schemaListKeys = new Set(["anyOf", "oneOf", "allOf", "prefixItems"])
const schemaMapKeys = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])

function adapt(schema: Json, walk: Walk, atTop = false): Json {
  // `true` for "anything" is refused by servers that read schemas into types (ollama api/types.go).
  if (!isJsonObject(schema)) return {}
  const reference = schema["$ref"]
  if (walk.definitions !== undefined && typeof reference === "string") return inlined(schema, reference, walk)
  const adapted: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (walk.rules.drop.has(key)) continue
    if (walk.definitions !== undefined && (key === "$defs" || key === "definitions")) continue
    if (schemaMapKeys.has(key) && isJsonObject(value)) adapted[key] = adaptMap(value, walk)
    else if ((schemaListKeys.has(key) || key === "items") && Array.isArray(value)) {
      adapted[key] = value.map((each) => adapt(each, walk))
    } else if (schemaKeys.has(key) && typeof value !== "boolean") adapted[key] = adapt(value, walk)
    else adapted[key] = value
  }
  return walk.rules.finish?.(adapted, atTop) ?? adapted
}

/** A property may have any name, `__proto__` and the names of keywords included. */
function adaptMap(map: JsonObject, walk: Walk): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, adapt(schema, walk)]))
}

function readDefinitions(schema: JsonObject): Map<string, Json> {
  const found = new Map<string, Json>()
  for (const key of ["$defs", "definitions"]) {
    const map = schema[key]
    if (isJsonObject(map)) for (const [name, each] of Object.entries(map)) found.set(`#/${key}/${name}`, each)
  }
  return found
}

/** More would be a schema that grows without end through references to each other. */
const maxReferences = 16

function inlined(schema: JsonObject, reference: string, walk: Walk): Json {
  const { $ref: _, ...beside } = schema
  const named = walk.definitions?.get(reference)
  if (!isJsonObject(named) || walk.above.includes(reference) || walk.above.length >= maxReferences) {
    return adapt({ type: "object", ...beside }, walk)
  }
  return adapt({ ...named, ...beside }, { ...walk, above: [...walk.above, reference] })
}

function finishForGoogle(schema: JsonObject): JsonObject {
  const { const: only, oneOf, allOf, ...rest } = schema
  let result: JsonObject = rest
  if (only !== undefined && result["enum"] === undefined) result = { ...result, enum: [only] }
  if (Array.isArray(oneOf) && result["anyOf"] === undefined) result = { ...result, anyOf: oneOf }
  if (Array.isArray(allOf)) result = allOf.filter(isJsonObject).reduce(merged, result)
  result = singleType(result)
  if (Array.isArray(result["enum"])) result = textEnum(result, result["enum"])
  if (result["type"] === "array" && !isJsonObject(result["items"])) result = { ...result, items: firstOf(result) }
  delete result["prefixItems"]
  if (result["type"] === "string" && result["format"] !== "date-time") delete result["format"]
  const { required, properties } = result
  if (Array.isArray(required)) {
    const known = isJsonObject(properties) ? properties : {}
    const kept = required.filter((name) => typeof name === "string" && Object.hasOwn(known, name))
    if (kept.length > 0) result = { ...result, required: kept }
    else delete result["required"]
  }
  return result
}

/** `["string", "null"]` -> a text that may be null; several types -> a choice of them. */
function singleType(schema: JsonObject): JsonObject {
  const { type } = schema
  if (!Array.isArray(type)) return schema
  const types = type.filter((each) => each !== "null")
  const nullable: JsonObject = types.length < type.length ? { nullable: true } : {}
  const { type: _, ...rest } = schema
  if (types.length === 1) return { ...rest, type: types[0] ?? "string", ...nullable }
  if (rest["anyOf"] !== undefined) return { ...rest, ...nullable }
  return { ...rest, anyOf: types.map((each) => ({ type: each })), ...nullable }
}

function textEnum(schema: JsonObject, values: Json[]): JsonObject {
  const { enum: _, ...rest } = schema
  const texts = values.filter((each) => typeof each === "string")
  const nullable: JsonObject = values.includes(null) ? { nullable: true } : {}
  const onlyText = texts.length > 0 && values.every((each) => typeof each === "string" || each === null)
  return onlyText ? { ...rest, type: "string", enum: texts, ...nullable } : { ...rest, ...nullable }
}

/** A tuple becomes a list of what its first place holds. */
function firstOf(schema: JsonObject): JsonObject {
  const places = [schema["items"], schema["prefixItems"]].find((each) => Array.isArray(each))
  const first = Array.isArray(places) ? places[0] : undefined
  return isJsonObject(first) ? first : { type: "string" }
}

function merged(base: JsonObject, other: JsonObject): JsonObject {
  const both = (key: string): JsonObject => {
    const [one, two] = [base[key], other[key]]
    return isJsonObject(one) && isJsonObject(two) ? { [key]: { ...one, ...two } } : {}
  }
  const required = [base["required"], other["required"]].flatMap((each) => (Array.isArray(each) ? each : []))
  return {
    ...other,
    ...base,
    ...both("properties"),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  }
}

function finishForMoonshot(schema: JsonObject, atTop: boolean): JsonObject {
  let result = schema
  if (Array.isArray(result["items"])) {
    const { items, ...rest } = result
    result = { ...rest, prefixItems: items ?? [] }
  }
  const { type, anyOf } = result
  if (atTop || typeof type !== "string" || !Array.isArray(anyOf)) return result
  const { type: _, ...rest } = result
  return { ...rest, anyOf: anyOf.map((each) => (isJsonObject(each) ? { type, ...each } : each)) }
}

function withoutClosedObjects(schema: JsonObject): JsonObject {
  if (schema["additionalProperties"] !== false) return schema
  const { additionalProperties: _, ...rest } = schema
  return rest
}
