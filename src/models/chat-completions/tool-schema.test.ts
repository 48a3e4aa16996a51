import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { JsonObject } from "../../kernel/index.ts"
import { adaptToolSchema, type SchemaDialect } from "./tool-schema.ts"

/** What becomes of one property. */
function property(schema: JsonObject, dialect: SchemaDialect): unknown {
  const adapted = adaptToolSchema({ type: "object", properties: { it: schema } }, dialect)
  return (adapted["properties"] as JsonObject)["it"]
}

describe("a tool's schema", () => {
  const dialects: SchemaDialect[] = ["plain", "grammar", "google", "moonshot", "xai", "cerebras"]

  test("loses `$schema` everywhere, and properties of such names nowhere", () => {
    for (const dialect of dialects) {
      const names = { $schema: {}, pattern: {}, format: {}, additionalProperties: {}, $ref: {}, enum: {}, title: {} }
      const properties = Object.fromEntries(Object.keys(names).map((name) => [name, { type: "string" }]))
      const schema = { $schema: "draft", type: "object", properties, required: ["$schema"] }
      assert.deepEqual(adaptToolSchema(schema, dialect), { type: "object", properties, required: ["$schema"] }, dialect)
    }
  })

  test("stays as it was given", () => {
    const schema = { $schema: "x", type: "object", properties: { a: { type: ["string", "null"], pattern: "x" } } }
    const before = structuredClone(schema)
    for (const dialect of dialects) adaptToolSchema(schema, dialect)
    assert.deepEqual(schema, before)
  })

  test("without properties gets none, and `true` becomes an empty schema", () => {
    assert.deepEqual(adaptToolSchema({ type: "object" }, "plain"), { type: "object", properties: {} })
    assert.deepEqual(
      adaptToolSchema({ type: "object", properties: { a: true }, additionalProperties: false }, "plain"),
      { type: "object", properties: { a: {} }, additionalProperties: false },
    )
  })

  test("is a grammar for llama.cpp and holds nothing that fails there", () => {
    const items = { type: "string", pattern: "^\\d+$", format: "uuid", maxLength: 65_536, enum: ["a"] }
    assert.deepEqual(property({ type: "array", items, minItems: 1 }, "grammar"), {
      type: "array",
      items: { type: "string", enum: ["a"] },
      minItems: 1,
    })
    assert.deepEqual(property({ anyOf: [{ type: "string", pattern: "x" }] }, "grammar"), {
      anyOf: [{ type: "string" }],
    })
  })

  test("loses for each service what it refuses", () => {
    const closed = { type: "object", properties: {}, additionalProperties: false }
    assert.deepEqual(property(closed, "xai"), { type: "object", properties: {} })
    assert.deepEqual(property({ type: "object", additionalProperties: { type: "string" } }, "xai"), {
      type: "object",
      additionalProperties: { type: "string" },
    })
    assert.deepEqual(property({ type: "array", items: { type: "string" }, minItems: 1 }, "cerebras"), {
      type: "array",
      items: { type: "string" },
    })
    assert.deepEqual(property({ type: "string", anyOf: [{ minLength: 1 }, { type: "null" }] }, "moonshot"), {
      anyOf: [{ type: "string", minLength: 1 }, { type: "null" }],
    })
    assert.deepEqual(property({ type: "array", items: [{ type: "string" }] }, "moonshot"), {
      type: "array",
      prefixItems: [{ type: "string" }],
    })
  })

  const forGoogle: [JsonObject, JsonObject][] = [
    [{ const: "a" }, { type: "string", enum: ["a"] }],
    [{ type: ["string", "null"] }, { type: "string", nullable: true }],
    [{ type: ["string", "number"] }, { anyOf: [{ type: "string" }, { type: "number" }] }],
    [{ type: "integer", enum: [1, 2] }, { type: "integer" }],
    [{ enum: ["a", null] }, { type: "string", enum: ["a"], nullable: true }],
    [{ type: "array" }, { type: "array", items: { type: "string" } }],
    [
      { type: "array", items: [{ type: "number" }] },
      { type: "array", items: { type: "number" } },
    ],
    [
      { type: "array", prefixItems: [{ type: "number" }] },
      { type: "array", items: { type: "number" } },
    ],
    [{ oneOf: [{ type: "string" }] }, { anyOf: [{ type: "string" }] }],
    [{ type: "string", format: "uri" }, { type: "string" }],
    [
      { type: "string", format: "date-time" },
      { type: "string", format: "date-time" },
    ],
    [
      { type: "object", properties: { a: {} }, required: ["a", "b"], additionalProperties: false, propertyNames: {} },
      { type: "object", properties: { a: {} }, required: ["a"] },
    ],
    [
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
        ],
      },
      { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a", "b"] },
    ],
  ]
  for (const [given, expected] of forGoogle) {
    test(`${JSON.stringify(given)} is ${JSON.stringify(expected)} for Gemini`, () => {
      assert.deepEqual(property(given, "google"), expected)
    })
  }

  test("has no references for Gemini, and ends where they go round", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" }, name: { type: "string" } } }
    const schema = {
      type: "object",
      properties: { first: { $ref: "#/$defs/node", description: "Head" } },
      $defs: { node },
    }
    assert.deepEqual(adaptToolSchema(schema, "google"), {
      type: "object",
      properties: {
        first: {
          type: "object",
          description: "Head",
          properties: { next: { type: "object" }, name: { type: "string" } },
        },
      },
    })
    assert.deepEqual(adaptToolSchema(schema, "plain"), schema)
  })
})
