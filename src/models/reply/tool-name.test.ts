import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { cleanToolName } from "./index.ts"

const known = ["browser", "skill", "send_message", "web-search", "readFile", "run.shell", "json"]

test("the tool that was meant is found behind what a model makes of its name", () => {
  const rows: [string, string][] = [
    ["browser", "browser"],
    ["skill<|channel|>json", "skill"],
    ["skill<|channel|>commentary", "skill"],
    ["browser<|constrain|>json", "browser"],
    ["functions.browser", "browser"],
    ["functions.browser<|channel|>commentary", "browser"],
    ["functions.browser:0", "browser"],
    ["function.browser", "browser"],
    ["default_api.browser", "browser"],
    ["default_api:send_message", "send_message"],
    ["tools.browser", "browser"],
    ["<|channel|>commentary to=functions.browser <|constrain|>json", "browser"],
    ["assistant<|channel|>commentary to=browser", "browser"],
    ["<|start|>browser", "browser"],
    ["<tool_call>browser", "browser"],
    ["browser commentary", "browser"],
    ["browsercommentary", "browser"],
    ["skilljson", "skill"],
    [" Browser ", "browser"],
    ["BROWSER", "browser"],
    ["browser()", "browser"],
    ['browser({"url":1})', "browser"],
    ["browser.", "browser"],
    ["browser,", "browser"],
    ["`browser`", "browser"],
    ['"browser"', "browser"],
    ["sendMessage", "send_message"],
    ["send-message", "send_message"],
    ["web_search", "web-search"],
    ["read_file", "readFile"],
    ["run_shell", "run.shell"],
    ["json", "json"],
  ]
  for (const [name, tool] of rows) assert.equal(cleanToolName(name, known), tool, name)
})

test("a name that no tool has becomes one that can be sent back", () => {
  const rows: [string, string][] = [
    ["weather", "weather"],
    ["functions.weather", "weather"],
    ["weather<|channel|>json", "weather"],
    ["get weather", "get"],
    ["wetter/für.heute", "wetter_f_r_heute"],
    ["", "unknown"],
    ["<|channel|>", "unknown"],
    ["名前", "unknown"],
    ["a".repeat(100), "a".repeat(64)],
  ]
  for (const [name, cleaned] of rows) assert.equal(cleanToolName(name, known), cleaned, name)
})

test("a name that fits two tools is not guessed", () => {
  assert.equal(cleanToolName("READ_FILE", ["read-file", "readFile"]), "READ_FILE")
  assert.equal(cleanToolName("readFile", ["read-file", "readFile"]), "readFile")
})

test("whatever a model writes, the name is a known one or in the form that providers take", () => {
  const name = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("<|", "|>", "to=", "functions.").chain((part) => fc.string().map((rest) => part + rest + part)),
  )
  fc.assert(
    fc.property(name, (written) => {
      const cleaned = cleanToolName(written, known)
      assert.ok(known.includes(cleaned) || /^[a-zA-Z0-9_-]{1,64}$/.test(cleaned), cleaned)
    }),
    { numRuns: 2000 },
  )
})
