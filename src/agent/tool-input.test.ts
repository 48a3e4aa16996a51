import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { assertGrowsInLine } from "../../test/support/growth.ts"
import { z } from "zod"
import type { Json } from "../kernel/index.ts"
import { smallTool } from "./agent.fixture.ts"
import type { Tool } from "./tool.ts"
import { readToolInput } from "./tool-input.ts"

const point = z.strictObject({ x: z.int(), y: z.int() })
const input = z.strictObject({
  action: z.enum(["draw", "erase"]),
  points: z.array(point).min(1),
  colour: z.enum(["red", "blue"]).optional(),
  weight: z.union([z.literal(""), z.string().regex(/^\d+$/, "must be digits")]).optional(),
  label: z.string().max(5).optional(),
  width: z.union([z.literal("auto"), z.int()]).optional(),
})
const tool = smallTool("draw", { input: input as never }) as Tool

function read(written: Json): unknown {
  const result = readToolInput(tool, written)
  return result.kind === "accepted" ? result.value : result.reason
}

test("fields that a tool does not have are left out, at any depth", () => {
  const points = [{ x: 1, y: "2", z: 3 }]
  const meant = { action: "draw", points: [{ x: 1, y: 2 }] }
  assert.deepEqual(read({ action: "draw", points, thought: "a point" }), meant)
  assert.deepEqual(read(JSON.stringify({ action: "Draw", points, id: 5 })), meant)
})

test("fields too many are left out at a cost that grows with their number", async () => {
  await assertGrowsInLine(
    (length) => {
      const points = Array.from({ length }, (_, n) => ({ x: n, y: n, z: n }))
      assert.equal(readToolInput(tool, { action: "draw", points }).kind, "accepted")
    },
    { size: 1_000 },
  )
})

describe("a refused input is told with what is wrong, for which action, and the form that was expected", () => {
  const expected = '"points": [{"x": integer, "y": integer}]'
  const cases: [string, Json, string][] = [
    [
      "a field that is missing",
      { action: "erase" },
      `The input is not acceptable for the action erase: points is missing. Expected: {"action": "erase", ${expected}, ...}`,
    ],
    [
      "fields of other types",
      { action: "draw", points: [{ x: "left" }], label: ["a"] },
      `The input is not acceptable for the action draw: points.0.x must be a number; points.0.y is missing; label must be a string. Expected: {"action": "draw", ${expected}, "label"?: string, ...}`,
    ],
    [
      "values that are not taken",
      { action: "dance", points: [{ x: 1, y: 2 }], colour: "green", weight: "much" },
      `The input is not acceptable: action must be one of draw, erase; colour must be one of red, blue; weight must be digits. Expected: {"action": "draw" | "erase", ${expected}, "colour"?: "red" | "blue", "weight"?: string, ...}`,
    ],
    [
      "a value of no form that is taken, by the last of them",
      { action: "draw", points: [{ x: 1, y: 2 }], width: true },
      `The input is not acceptable for the action draw: width must be a number. Expected: {"action": "draw", ${expected}, "width"?: string, ...}`,
    ],
    [
      "limits",
      { action: "draw", points: [], label: "too long" },
      `The input is not acceptable for the action draw: points is not acceptable (Too small: expected array to have >=1 items); label is not acceptable (Too big: expected string to have <=5 characters). Expected: {"action": "draw", ${expected}, "label"?: string, ...}`,
    ],
    [
      "something else altogether",
      "draw a line",
      `The input is not acceptable: it must be an object. Expected: {"action": "draw" | "erase", ${expected}, ...}`,
    ],
  ]
  for (const [name, written, reason] of cases) test(name, () => assert.equal(read(written), reason))

  test("in a line of bounded length, whatever is written", () => {
    const many = z.strictObject(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`field${n}`, z.string()])))
    const wide = smallTool("wide", { input: many as never }) as Tool
    const result = readToolInput(wide, { field0: { "<untrusted-content>": "x".repeat(10_000) } })
    assert.ok(result.kind === "refused" && result.reason.length < 1_200)
    assert.doesNotMatch(result.reason, /[\n<]/)
  })
})
