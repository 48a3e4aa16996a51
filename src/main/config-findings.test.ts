import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { type ConfigSnapshot, configSchema, formatConfigPath, readEnvironment } from "../config/index.ts"
import type { JsonObject } from "../kernel/index.ts"
import { customEntries } from "../channels/chatapp/commands/menu.ts"
import { createConfigWarner, findConfigWarnings } from "./config-findings.ts"

const snapshot = (source: JsonObject): ConfigSnapshot => ({
  config: configSchema.parse(source),
  source,
  environment: readEnvironment({ SVC_STATE_DIR: "/nonexistent", BOT_TOKEN: "..." }),
  path: "/nonexistent/svc.json",
  files: [],
  secrets: [],
  shell: {},
  hash: "",
  missing: [],
})
const find = (source: JsonObject) =>
  findConfigWarnings(snapshot(source)).map(({ path, message }) => `${formatConfigPath(path)}: ${message}`)

const oidcMapping = {
  match: { path: "mail" },
  action: "agent",
  messageTemplate: "x",
  verify: { scheme: "google-oidc", audience: "a", email: "a@example.com", keySetFile: "keys.json" },
}

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
    [
      { hooks: { mappings: [{ match: { path: "shop/new-order.v2" } }, { match: { path: "my shop" } }] } },
      /^hooks\.mappings\[1\]\.match\.path: is never reached: a path has no spaces/,
    ],
    [
      { hooks: { mappings: [{ match: { path: "gr\u00f6\u00dfe" } }] } },
      /^hooks\.mappings\[0\]\.match\.path: is never reached/,
    ],
    [
      { hooks: { mappings: [{ match: { path: "/agent" } }] } },
      /^hooks\.mappings\[0\]\.match\.path: is never reached: that path is a built-in endpoint/,
    ],
    [
      {
        hooks: {
          mappings: [
            { thinking: "High", sessionKey: "hook:{{id}}" },
            { thinking: "{{level}}", sessionKey: "orders" },
            { thinking: "ultra" },
          ],
        },
      },
      /^hooks\.mappings\[2\]\.thinking: is no thinking level; there are: off, minimal, low, medium, high$/,
    ],
    [
      { hooks: { mappings: [{ sessionKey: "agent:main:main" }] } },
      /^hooks\.mappings\[0\]\.sessionKey: is no key of a webhook's session/,
    ],
    [{ hooks: { presets: ["github", "gmial"] } }, /^hooks\.presets\[1\]: .*did you mean "gmail"\?/],
    [
      { channels: { chatapp: { allowFrom: [12, "chatapp:34", "@ada_l", "*", "12x"] } } },
      /^channels\.chatapp\.allowFrom\[4\]: names nobody: "12x"/,
    ],
    [
      { channels: { chatapp: { accounts: { two: { groupAllowFrom: ["Ada Lovelace"] } } } } },
      /^channels\.chatapp\.accounts\.two\.groupAllowFrom\[0\]: names nobody/,
    ],
    [
      { agents: { defaults: { heartbeat: { target: "nobody" } } } },
      /^agents\.defaults\.heartbeat\.target: names a channel that does not exist; there are: chatapp, web, last, none/,
    ],
    [
      {
        agents: {
          defaults: { heartbeat: { activeHours: { start: "22:00", end: "06:00" } } },
          list: [
            { id: "main", heartbeat: { activeHours: { start: "00:00", end: "24:00" } } },
            { id: "other", heartbeat: { activeHours: { start: "08:00", end: "08:00" } } },
          ],
        },
      },
      /^agents\.list\[1\]\.heartbeat\.activeHours: has no minute between 08:00 and 08:00, so that no heartbeat ever runs/,
    ],
    [
      { agents: { defaults: { heartbeat: { activeHours: { start: "24:00", end: "00:00" } } } } },
      /^agents\.defaults\.heartbeat\.activeHours: has no minute/,
    ],
    [
      { agents: { list: [{ id: "main", heartbeat: { target: "chatap" } }] } },
      /^agents\.list\[0\]\.heartbeat\.target: .*did you mean "chatapp"\?/,
    ],
    [
      { cron: { jobs: [{ id: "a", every: "1h", text: "x", channel: "slack" }] } },
      /^cron\.jobs\[0\]\.channel: names a channel that does not exist/,
    ],
    [
      { hooks: { mappings: [{ match: { path: "a" }, action: "agent", messageTemplate: "x", channel: "lst" }] } },
      /^hooks\.mappings\[0\]\.channel: .*did you mean "last"\?/,
    ],
    [{ session: { store: "x.json" } }, /^session\.store: is accepted, but has no effect in this release/],
    [{ channels: { chatapp: { customCommands: [{ command: "a b", description: "x" }] } } }, /"a b" is left out/],
    [{ channels: { chatapp: { customCommands: [{ command: 7, description: "x" }] } } }, /its command must be a text/],
    [
      { channels: { chatapp: { customCommands: [{ command: "up", description: "x", scope: "all" }] } } },
      /"up" is left out: it has a key that there is not: scope/,
    ],
    [{ channels: { chatapp: { customCommands: ["up", { command: "ok", description: "x" }] } } }, /"up" is left out/],
    [{ channels: { chatapp: { customCommands: { up: "x" } } } }, /it must be a list of/],
    [
      { channels: { chatapp: { accounts: { two: { customCommands: [{ command: "help", description: "x" }] } } } } },
      /^channels\.chatapp\.accounts\.two\.customCommands: the entry "help" is left out/,
    ],
    [
      { channels: { chatapp: { botToken: "${BOT_TOKEN}" } } },
      /comes from the variable BOT_TOKEN, which is still the pl/,
    ],
    [
      { hooks: { enabled: true, token: "3f9c0d2b7a81e654c90f1b2d", mappings: [oidcMapping] } },
      /^hooks\.mappings\[0\]\.verify\.keySetFile: names a file that does not exist: \/nonexistent\/keys\.json/,
    ],
    [
      {
        hooks: {
          enabled: true,
          token: "3f9c0d2b7a81e654c90f1b2d",
          mappings: [{ ...oidcMapping, verify: { ...oidcMapping.verify, keySetFile: import.meta.filename } }],
        },
      },
      /^hooks\.mappings\[0\]\.verify\.keySetFile: names a file that is no key set/,
    ],
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

test("a bad entry of the menu refuses no file, and the others are used", () => {
  const good = { command: "/Up", description: "Brings it up" }
  const { channels } = configSchema.parse({ channels: { chatapp: { customCommands: [null, good, { command: "x" }] } } })
  assert.deepEqual(customEntries({ customCommands: channels.chatapp.customCommands ?? [] }).entries, [
    { command: "up", description: "Brings it up" },
  ])
})
