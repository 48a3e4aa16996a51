// JSON schemas made from the zod schemas of requests and replies.
import { z } from "zod"
import { replies } from "../replies/index.ts"
import { looseForms } from "../requests/index.ts"

export interface JsonSchema {
  type?: unknown
  properties?: Record<string, unknown>
  required?: string[]
  oneOf?: unknown[]
  [key: string]: unknown
}

/** As a caller should write it: of forms that are taken out of kindness (numbers as text) only the plain one is shown. */
export function requestSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const forms = looseForms.has(zodSchema as unknown as z.ZodType) ? jsonSchema.anyOf : undefined
      if (forms?.[0] === undefined) return
      delete jsonSchema.anyOf
      Object.assign(jsonSchema, forms[0])
    },
  }) as JsonSchema
  return json
}

/** By name, with references to each other; open for fields that later versions may add. */
export function replySchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(replies)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    unrepresentable: "any",
    override({ jsonSchema }) {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [name, schema as JsonSchema]),
  )
}
