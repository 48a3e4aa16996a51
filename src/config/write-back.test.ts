import assert from "node:assert/strict"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, it } from "node:test"
import type { Json } from "../kernel/json.ts"
import { loadConfigFile } from "./load.ts"
import { renameConfigEntries, setConfigValue, unsetConfigValue } from "./write-back.ts"

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-write-"))
  path = join(folder, "svc.json")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const env = { HOOK_TOKEN: "the-hook-token-of-this-very-test", BOT: "123456:abc" }
const read = () => readFileSync(path, "utf8")
const set = (key: string, value: Json) => setConfigValue({ path, env, key, value })
const unset = (key: string) => unsetConfigValue({ path, env, key })

const written = `// My gateway
{
  gateway: {
    port: 18789, // the usual one
    bind: 'loopback',
  },

  /* webhooks */
  hooks: { enabled: true, token: '\${HOOK_TOKEN}' },
  channels: {
    chatapp: {
      botToken: '\${BOT}',
      // friends
      allowFrom: [1, 2], // two of them
      groups: {
        '-100.1': { requireMention: false },
        '*': {},
      }
    },
  },
}
`

describe("a change of one key", () => {
  const cases: [string, () => unknown, string, string][] = [
    ["replaces a value", () => set("gateway.port", 4000), "port: 18789,", "port: 4000,"],
    ["keeps the quotes of the file", () => set("gateway.bind", "it's"), "'loopback'", "'it\\'s'"],
    [
      "adds a key at the end of its section",
      () => set("gateway.allowedHosts", ["a"]),
      "'loopback',\n",
      "'loopback',\n    allowedHosts: ['a'],\n",
    ],
    ["adds a key to a section in one line", () => set("hooks.path", "/in"), "TOKEN}' }", "TOKEN}', path: '/in' }"],
    [
      "adds a section",
      () => set("logging.level", "debug"),
      "  },\n}\n",
      "  },\n  logging: {\n    level: 'debug'\n  },\n}\n",
    ],
    [
      "adds a key after a member without a comma",
      () => set("channels.chatapp.linkPreview", false),
      "      }\n    },",
      "      },\n      linkPreview: false\n    },",
    ],
    [
      "reaches keys with dots",
      () => set('channels.chatapp.groups["-100.1"].requireMention', true),
      "requireMention: false",
      "requireMention: true",
    ],
    ["reaches elements of lists", () => set("channels.chatapp.allowFrom[1]", "@x"), "[1, 2]", "[1, '@x']"],
    ["adds an element to a list", () => set("channels.chatapp.allowFrom[2]", 3), "[1, 2]", "[1, 2, 3]"],
    [
      "fills an empty section",
      () => set('channels.chatapp.groups["*"].enabled', false),
      "'*': {},",
      "'*': {\n          enabled: false\n        },",
    ],
    ["removes a key with its own comment", () => unset("gateway.port"), "    port: 18789, // the usual one\n", ""],
    [
      "removes the last key of a line",
      () => unset('channels.chatapp.groups["-100.1"].requireMention'),
      "{ requireMention: false }",
      "{ }",
    ],
    ["removes an element", () => unset("channels.chatapp.allowFrom[0]"), "[1, 2]", "[2]"],
    [
      "removes a key before a section without a comma",
      () => unset("channels.chatapp.groups"),
      "      allowFrom: [1, 2], // two of them\n      groups: {\n        '-100.1': { requireMention: false },\n        '*': {},\n      }\n",
      "      allowFrom: [1, 2] // two of them\n",
    ],
  ]
  for (const [name, change, before, after] of cases) {
    it(`${name}, and leaves every other character alone`, () => {
      writeFileSync(path, written)
      const result = change() as { kind: string }
      assert.equal(result.kind, "ok", JSON.stringify(result))
      assert.equal(written.split(before).length, 2, "the case itself must be unambiguous")
      assert.equal(
        read(),
        written.replace(before, () => after),
      )
      assert.equal(loadConfigFile({ path, env }).kind, "ok")
    })
  }

  const small: [string, string, () => unknown, string][] = [
    [
      "adds behind the comma that ends a list in one line",
      "{ channels: { chatapp: { allowFrom: [1, 2,] } } }",
      () => set("channels.chatapp.allowFrom[2]", 3),
      "{ channels: { chatapp: { allowFrom: [1, 2, 3,] } } }",
    ],
    [
      "adds behind the comma that ends a section in one line",
      "{ gateway: { port: 4000, /* usual */ }, }",
      () => set("gateway.bind", "lan"),
      '{ gateway: { port: 4000, bind: "lan", /* usual */ }, }',
    ],
    [
      "removes the last line of a section that ends in the same line",
      "{ gateway: { port: 4000,\n  bind: 'lan' /* two */ } }",
      () => unset("gateway.bind"),
      "{ gateway: { port: 4000\n } }",
    ],
    [
      "removes the first of several in a line with the space behind it",
      "{ gateway: { port: 4000, bind: 'lan' } }",
      () => unset("gateway.port"),
      "{ gateway: { bind: 'lan' } }",
    ],
    [
      "removes an element in the middle of a list over several lines",
      "{ channels: { chatapp: { allowFrom: [\n  1,\n  2, // two\n  3\n] } } }",
      () => unset("channels.chatapp.allowFrom[1]"),
      "{ channels: { chatapp: { allowFrom: [\n  1,\n  3\n] } } }",
    ],
  ]
  for (const [name, before, change, after] of small) {
    it(name, () => {
      writeFileSync(path, before)
      const result = change() as { kind: string }
      assert.equal(result.kind, "ok", JSON.stringify(result))
      assert.equal(read(), after)
      assert.equal(loadConfigFile({ path, env }).kind, "ok")
    })
  }

  it("never writes substituted values or defaults", () => {
    writeFileSync(path, written)
    set("messages.responsePrefix", "x")
    unset("channels.chatapp.groups")
    assert.doesNotMatch(read(), /the-hook-token|123456:abc|dmPolicy/)
    assert.match(read(), /\$\{HOOK_TOKEN\}[\s\S]*\$\{BOT\}/)
  })

  it("keeps the style of strict JSON, tabs and carriage returns", () => {
    writeFileSync(path, '{\r\n\t"gateway": {\r\n\t\t"port": 1\r\n\t}\r\n}\r\n')
    set("gateway.bind", "lan")
    set("hooks.path", "/in")
    unset("gateway.port")
    const expected =
      '{\r\n\t"gateway": {\r\n\t\t"bind": "lan"\r\n\t},\r\n\t"hooks": {\r\n\t\t"path": "/in"\r\n\t}\r\n}\r\n'
    assert.equal(read(), expected)
    assert.deepEqual(JSON.parse(read()), { gateway: { bind: "lan" }, hooks: { path: "/in" } })
  })

  it("creates the file and its folder when there is none", () => {
    path = join(folder, "new", "svc.json")
    assert.equal(set("hooks.mappings[0].action", "up").kind, "invalid")
    const command = { command: "up", description: "x" }
    assert.equal(set("channels.chatapp.customCommands[0]", command).kind, "ok")
    assert.deepEqual(JSON.parse(read()), { channels: { chatapp: { customCommands: [command] } } })
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(statSync(join(folder, "new")).mode & 0o777, 0o700)
  })

  it("removes sections that become empty, but not the last entry of a map, which has a meaning of its own", () => {
    writeFileSync(
      path,
      '{"gateway": {"auth": {"token": "x"}}, "channels": {"chatapp": {"groups": {"-1": {"enabled": true}}}}}',
    )
    unset("gateway.auth.token")
    unset('channels.chatapp.groups["-1"].enabled')
    assert.deepEqual(JSON.parse(read()), { channels: { chatapp: { groups: { "-1": {} } } } })
  })

  it("keeps an empty section that holds a comment", () => {
    writeFileSync(path, "{gateway: {\n  // remember\n  port: 1,\n}}")
    unset("gateway.port")
    assert.equal(read(), "{gateway: {\n  // remember\n}}")
  })

  it("writes nothing when nothing changes", () => {
    writeFileSync(path, written)
    const result = set("gateway.port", 18789)
    assert.ok(result.kind === "ok" && result.files.length === 0)
    assert.ok(unset("gateway.allowedHosts").kind === "ok")
    assert.deepEqual(readdirSync(folder), ["svc.json"])
  })

  it("takes one key out of many edits in a row and stays readable", () => {
    writeFileSync(path, written)
    for (let index = 0; index < 20; index += 1) {
      assert.equal(set(`channels.chatapp.groups["${-index - 1}"].enabled`, index % 2 === 0).kind, "ok")
    }
    for (let index = 0; index < 20; index += 1) unset(`channels.chatapp.groups["${-index - 1}"]`)
    assert.equal(read(), written.replace("'*': {},\n", "'*': {},\n"))
  })
})

describe("a refused change", () => {
  it("leaves the file untouched when the result would be invalid", () => {
    writeFileSync(path, written)
    const results = [set("gateway.port", "x"), set("nope", 1), set("hooks.token", "${GONE}"), unset("hooks.token")]
    for (const result of results) assert.equal(result.kind, "invalid")
    assert.equal(read(), written)
    assert.deepEqual(readdirSync(folder), ["svc.json"])
  })

  it("leaves a broken file untouched", () => {
    writeFileSync(path, "{gateway: {")
    assert.equal(set("gateway.port", 1).kind, "invalid")
    assert.equal(read(), "{gateway: {")
  })

  for (const key of ["__proto__.x", "gateway.constructor", 'hooks["prototype"].x', "$include", "channels.$include"]) {
    it(`refuses the key ${key}`, () => {
      assert.throws(() => set(key, 1), { code: "config-write-refused" })
    })
  }
  it("refuses prototype names inside the value", () => {
    assert.throws(() => set("hooks", JSON.parse('{"gmail": {"__proto__": {"x": 1}}}') as Json), {
      code: "config-write-refused",
    })
    assert.equal(({} as { x?: number }).x, undefined)
  })
  for (const key of ["", "a..b", "a[", "a.[0]", ".a", "a]b"]) {
    it(`refuses "${key}", which is no key`, () => {
      assert.throws(() => set(key, 1), { code: "bad-request" })
    })
  }
  it("refuses an index outside its list", () => {
    writeFileSync(path, written)
    assert.throws(() => set("channels.chatapp.allowFrom[7]", 1), { code: "bad-request" })
  })
})

describe("the files", () => {
  it("are mode 600, with five rotating backups and nothing else", () => {
    writeFileSync(path, '{"gateway": {"port": 1}}')
    chmodSync(path, 0o644)
    for (let port = 2; port <= 9; port += 1) set("gateway.port", port)
    const names = readdirSync(folder).sort()
    assert.deepEqual(names, [
      "svc.json",
      "svc.json.bak",
      "svc.json.bak.1",
      "svc.json.bak.2",
      "svc.json.bak.3",
      "svc.json.bak.4",
    ])
    for (const name of names) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
    const ports = names.map(
      (name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as { gateway: { port: number } }).gateway.port,
    )
    assert.deepEqual(ports, [9, 8, 7, 6, 5, 4])
  })

  it("follow a link and replace its target, also one that does not exist yet", () => {
    mkdirSync(join(folder, "real"))
    const target = join(folder, "real", "my.json")
    symlinkSync(join("real", "my.json"), path)
    assert.equal(set("gateway.port", 5).kind, "ok")
    assert.equal(set("gateway.bind", "lan").kind, "ok")
    assert.ok(lstatSync(path).isSymbolicLink())
    assert.deepEqual(JSON.parse(readFileSync(target, "utf8")), { gateway: { port: 5, bind: "lan" } })
    assert.deepEqual(readdirSync(join(folder, "real")).sort(), ["my.json", "my.json.bak"])
  })

  it("refuses to set a section as a whole that stands in several files", () => {
    const text = "{\n  channels: {$include: 'chat.json', defaults: {groupPolicy: 'open'}},\n}\n"
    writeFileSync(path, text)
    writeFileSync(join(folder, "chat.json"), "{chatapp: {linkPreview: true}}\n")
    assert.throws(() => set("channels", { chatapp: { linkPreview: false } }), {
      code: "config-write-refused",
      message: "channels is put together from several files",
    })
    assert.equal(read(), text)
  })

  it("removes a key that stands at the very start of its line, and the line alone", () => {
    writeFileSync(path, "{\nmessages: {responsePrefix: 'a'},\ngateway: {port: 4000},\nhooks: {enabled: false},\n}\n")
    unset("gateway.port")
    assert.equal(read(), "{\nmessages: {responsePrefix: 'a'},\nhooks: {enabled: false},\n}\n")
  })

  it("that are included are changed where the key stands", () => {
    const included = join(folder, "chat.json")
    writeFileSync(path, "{\n  channels: {$include: 'chat.json'},\n}\n")
    writeFileSync(included, "{\n  // chat\n  chatapp: {linkPreview: true},\n}\n")
    set("channels.chatapp.linkPreview", false)
    set("channels.chatapp.replyToMode", "all")
    set("channels.defaults.groupPolicy", "open")
    assert.equal(
      readFileSync(included, "utf8"),
      '{\n  // chat\n  chatapp: {linkPreview: false, replyToMode: "all"},\n}\n',
    )
    assert.match(read(), /channels: \{\$include: 'chat\.json', defaults: \{/)
    unset("channels.chatapp.replyToMode")
    unset("channels.chatapp.linkPreview")
    assert.equal(readFileSync(included, "utf8"), "{\n  // chat\n}\n")
  })
})

describe("another name for entries", () => {
  const rename = (...pairs: [string, string][]) =>
    renameConfigEntries({
      path,
      env,
      entries: pairs.map(([from, to]) => ({ key: ["channels", "chatapp", "groups", from], to })),
    })

  it("keeps what they hold, their place, their comments and the quotes of the file", () => {
    const text = written.replace(
      "'-100.1': { requireMention: false },",
      "'-100.1': { // the crew\n requireMention: false },",
    )
    writeFileSync(path, text)
    const result = rename(["-100.1", "-1002"])
    assert.equal(result.kind, "ok")
    assert.equal(read(), text.replace("'-100.1'", "'-1002'"))
    assert.equal(readdirSync(folder).filter((name) => name.includes(".bak")).length, 1)
  })

  it("leaves an entry alone whose new name is taken, and one that is not there", () => {
    writeFileSync(path, written.replace("'*': {},", "'-1002': {},"))
    const before = read()
    const result = rename(["-100.1", "-1002"], ["-7", "-8"])
    assert.deepEqual(result.kind === "ok" && result.files, [])
    assert.equal(read(), before)
  })

  it("writes nothing where the result would not be valid", () => {
    writeFileSync(path, written)
    const result = renameConfigEntries({
      path,
      env,
      entries: [{ key: ["channels", "chatapp", "groups"], to: "crews" }],
    })
    assert.equal(result.kind, "invalid")
    assert.equal(read(), written)
  })

  it("changes the file that holds the entry", () => {
    writeFileSync(join(folder, "groups.json5"), "{ '-1': { enabled: true } } // kept\n")
    writeFileSync(path, "{ channels: { chatapp: { groups: { $include: './groups.json5' } } } }")
    const result = rename(["-1", "-2"])
    assert.equal(result.kind, "ok")
    assert.equal(readFileSync(join(folder, "groups.json5"), "utf8"), "{ '-2': { enabled: true } } // kept\n")
  })
})
