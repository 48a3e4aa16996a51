import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { type ConfigSnapshot, configSchema, formatConfigPath, readEnvironment } from "../config/index.ts"
import type { JsonObject } from "../kernel/index.ts"
import { createConfigWarner, findConfigWarnings } from "./config-findings.ts"

const snapshot = (source: JsonObject): ConfigSnapshot => ({
  config: configSchema.parse(source),
  source,
  environment: readEnvironment({ SVC_STATE_DIR: "/nonexistent" }),
  path: "/nonexistent/svc.json",
  files: [],
  secrets: [],
  hash: "",
})
const find = (source: JsonObject) =>
  findConfigWarnings(snapshot(source)).map(({ path, message }) => `${formatConfigPath(path)}: ${message}`)

test("finds what may not work, each with its key, and nothing in a good configuration", () => {
  assert.deepEqual(find({}), [])
  const cases: [JsonObject, RegExp][] = [
    [{ channels: { chatapp: { botToken: "123-abc" } } }, /^channels\.chatapp\.botToken: does not have the form/],
    [{ channels: { chatapp: { botToken: "123456:<your token>" } } }, /botToken: is still the placeholder/],
    [{ agents: { defaults: { model: "anthropic/<model id>" } } }, /^agents\.defaults\.model: is still the placeholder/],
    [
      { channels: { chatapp: { tokenFile: "no.token" } } },
      /tokenFile: names a file that does not exist: \/nonexistent/,
    ],
    [{ browser: { defaultProfile: "managd" } }, /^browser\.defaultProfile: .*did you mean "managed"\?/],
    [{ env: { shellEnv: { enabled: true } } }, /^env\.shellEnv.*has no effect in this release/],
    [{ channels: { chatapp: { customCommands: [{ command: "a b", description: "x" }] } } }, /"a b" is left out/],
    [{ agents: { defaults: { model: "nowhere/x" } } }, /no provider named "nowhere"/],
  ]
  for (const [source, expected] of cases) {
    const found = find(source)
    assert.equal(found.length, 1, found.join("\n"))
    assert.match(found[0] ?? "", expected)
  }
})

test("each finding is logged once, and again when it comes back", () => {
  const lines: string[] = []
  const write = (line: string) => void lines.push((JSON.parse(line) as { key: string }).key)
  const tell = createConfigWarner(pino({ level: "warn" }, { write }))
  const told = (source: JsonObject) => {
    tell(snapshot(source))
    return lines.splice(0)
  }
  const bad = { browser: { defaultProfile: "gone" } }
  assert.deepEqual(told(bad), ["browser.defaultProfile"])
  assert.deepEqual(told(bad), [])
  assert.deepEqual(told({}), [])
  assert.deepEqual(told(bad), ["browser.defaultProfile"])
})
