// What is said about fields that are wrong.
import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { flag, numeric, word } from "./fields.ts"
import { parseRequest } from "./parse.ts"

const schema = z.object({
  width: numeric(z.number().min(1).max(9)).optional(),
  full: flag.optional(),
  type: z.enum(["png", "jpeg"]).optional(),
  ref: word,
  fields: z
    .array(z.object({ ref: word }))
    .min(1)
    .optional(),
  text: z.string().max(5).optional(),
  headers: z.record(z.string().regex(/^\w+$/, "is not the name of a header"), z.string()).optional(),
  origin: z.url({ protocol: /^https?$/ }).optional(),
})

test("names the field and says what it must be", () => {
  for (const [more, words] of [
    [{ width: "wide" }, "width: must be a number"],
    [{ width: 0 }, "width: must be at least 1"],
    [{ width: "10" }, "width: must be at most 9"],
    [{ width: [] }, "width: must be a number"],
    [{ full: "maybe" }, "full: must be one of 0, 1, true, yes, false, no"],
    [{ full: 3 }, "full: must be a boolean"],
    [{ type: "gif" }, "type: must be one of png, jpeg"],
    [{ ref: undefined }, "ref: is missing"],
    [{ ref: " " }, "ref: must not be empty"],
    [{ ref: {} }, "ref: must be a string"],
    [{ fields: [] }, "fields: must be at least 1 long"],
    [{ fields: [{}] }, "fields.0.ref: is missing"],
    [{ text: "too long" }, "text: must be at most 5 characters long"],
    [{ text: 5 }, "text: must be a string"],
    [{ headers: [] }, "headers: must be an object"],
    [{ headers: { "a b": "1" } }, "headers.a b: is not the name of a header"],
    [{ origin: "example.com" }, "origin: must be an http or https URL"],
    [{ origin: "ftp://example.com" }, "origin: must be an http or https URL"],
  ] as const) {
    assert.throws(() => parseRequest(schema, { ref: "e1", ...more }), { code: "bad-request", message: words })
  }
  assert.throws(() => parseRequest(schema, []), { message: "must be an object" })
})
