// Which tools are there, by the names that a configuration has.
import assert from "node:assert/strict"
import { test } from "node:test"
import { smallTool } from "./agent.fixture.ts"
import { type ToolPolicy, allowedTools, unknownNames } from "./tool-policy.ts"

const names = ["browser", "exec", "memory_search"]
const tools = names.map((name) => smallTool(name))
const allowed = (policy?: ToolPolicy) => allowedTools(tools, policy).map(({ name }) => name)

test("every tool is allowed that no list leaves out, and what is denied is not there whatever allows it", () => {
  assert.deepEqual(allowed(), names)
  assert.deepEqual(allowed({}), names)
  assert.deepEqual(allowed({ allow: [" Browser ", "exec"] }), ["browser", "exec"])
  assert.deepEqual(allowed({ deny: ["EXEC"] }), ["browser", "memory_search"])
  assert.deepEqual(allowed({ allow: ["*"], deny: ["browser"] }), ["exec", "memory_search"])
  assert.deepEqual(allowed({ allow: ["browser"], deny: [" * "] }), [])
  assert.deepEqual(allowed({ allow: [] }), [])
  assert.deepEqual(allowed({ allow: ["brow", "memory"] }), [], "names are whole")
})

test("names that no tool has are told, as they are written", () => {
  assert.deepEqual(unknownNames({}, names), [])
  assert.deepEqual(unknownNames({ allow: ["*", " Browser"], deny: [" * ", "exec"] }, names), [])
  assert.deepEqual(unknownNames({ allow: ["Brwoser", "exec"], deny: ["web"] }, names), ["Brwoser", "web"])
})
