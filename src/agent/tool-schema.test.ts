import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { z } from "zod"
import { brokenToolRules } from "../../test/support/tool-rules.ts"
import type { JsonObject } from "../kernel/index.ts"
import { smallTool } from "./agent.fixture.ts"
import { toolSchemas } from "./tool-runner.ts"
import { flatSchema, inputSchemaOf, shownSchema } from "./tool-schema.ts"

const shown = (shape: z.ZodRawShape) => inputSchemaOf(z.strictObject(shape))["properties"]

describe("the schema that a model is shown", () => {
  test("has nothing of what some provider refuses", () => {
    const id = z.union([z.string().regex(/^\d+$/), z.int().positive()])
    const input = z.discriminatedUnion("action", [
      z.strictObject({ action: z.literal("send"), to: id.describe("Where to"), silent: z.boolean().default(false) }),
      z.strictObject({ action: z.literal("drop"), to: id, note: z.string().max(5).nullable().optional() }),
    ])
    const schema = inputSchemaOf(input)
    assert.deepEqual(schema, {
      type: "object",
      properties: {
        action: { type: "string", enum: ["send", "drop"] },
        to: { type: "string", description: "Where to" },
        silent: { type: "boolean" },
        note: { type: "string" },
      },
      required: ["action", "to"],
    })
    assert.deepEqual(brokenToolRules({ name: "act", description: "Acts", inputSchema: schema }), [])
  })

  test("shows the one form that all of a union's can be read from", () => {
    assert.deepEqual(
      shown({
        numberOrText: z.union([z.number(), z.string()]),
        oneOrMany: z.union([z.array(z.number()), z.number()]),
        wholeOrNot: z.union([z.int(), z.number()]),
        words: z.union([z.enum(["a", "b"]), z.literal("c")]),
        wordOrAny: z.union([z.enum(["a", "b"]), z.string()]),
        blankOrAny: z.union([z.literal(""), z.string()]).describe("May be blank"),
        fixed: z.literal(5),
        perhaps: z.number().nullable(),
        nested: z.array(z.array(z.object({ a: z.string().min(1) })).max(3)),
      }),
      {
        numberOrText: { type: "string" },
        oneOrMany: { type: "array", items: { type: "number" } },
        wholeOrNot: { type: "number" },
        words: { type: "string", enum: ["a", "b", "c"] },
        wordOrAny: { type: "string" },
        blankOrAny: { type: "string", description: "May be blank" },
        fixed: { type: "number" },
        perhaps: { type: "number" },
        nested: {
          type: "array",
          items: {
            type: "array",
            items: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          },
        },
      },
    )
  })

  test("is refused to a tool whose input has no such form", () => {
    const open: z.ZodRawShape[] = [
      { anything: z.any() },
      { map: z.record(z.string(), z.string()) },
      { pair: z.tuple([z.string(), z.number()]) },
      { both: z.intersection(z.object({ a: z.string() }), z.string()) },
      { flagOrNumber: z.union([z.boolean(), z.number()]) },
      { nothing: z.null() },
    ]
    for (const shape of open)
      assert.throws(() => shown(shape), /no form that every provider takes/, Object.keys(shape)[0])
    assert.throws(() => inputSchemaOf(z.array(z.string())), /no form that every provider takes/)
    for (const schema of [{ type: ["array", "null"] }, { $ref: "#/a" }, {}] satisfies JsonObject[]) {
      assert.throws(() => flatSchema(schema), /no form that every provider takes/)
    }
  })

  test("is the tool's own where it has one, reduced all the same, and made once", () => {
    const inputSchema: JsonObject = {
      type: "object",
      properties: { word: { type: "string", minLength: 1, enum: ["tea", ""] } },
      required: ["word", "gone"],
      additionalProperties: false,
    }
    const tool = smallTool("echo", { inputSchema })
    const [schema] = toolSchemas([tool])
    assert.deepEqual(schema?.inputSchema, {
      type: "object",
      properties: { word: { type: "string", enum: ["tea"] } },
      required: ["word"],
    })
    assert.equal(shownSchema(tool), schema?.inputSchema)
    assert.equal(shownSchema(smallTool("echo", { input: tool.input as never })), inputSchemaOf(tool.input))
  })
})
