import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, it } from "node:test"
import type { Json } from "../kernel/json.ts"
import { formatIssue, loadConfigFile, loadConfigOrThrow } from "./load.ts"
import type { ConfigIssue } from "./document.ts"
import type { ConfigSnapshot } from "./load.ts"

const folder = mkdtempSync(join(tmpdir(), "svc-config-"))
after(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, "svc.json")

function load(text: string, env: Record<string, string> = {}) {
  writeFileSync(path, text)
  return loadConfigFile({ path, env })
}

function good(text: string, env: Record<string, string> = {}): ConfigSnapshot {
  const result = load(text, env)
  assert.equal(result.kind, "ok", result.kind === "invalid" ? result.issues.map(formatIssue).join("\n") : "")
  return (result as { snapshot: ConfigSnapshot }).snapshot
}

function bad(text: string, env: Record<string, string> = {}): ConfigIssue[] {
  const result = load(text, env)
  assert.equal(result.kind, "invalid", "the file should be refused")
  return (result as { issues: ConfigIssue[] }).issues
}

/** `a.b.c` and a value as a nested object. */
function nest(key: string, value: Json): Json {
  return key.split(".").reduceRight<Json>((inner, name) => ({ [name.replaceAll("·", ".")]: inner }), value)
}

const specKeys: [string, Json][] = [
  ["browser.enabled", true],
  ["browser.defaultProfile", "managed"],
  ["browser.executablePath", "/usr/bin/chromium"],
  ["browser.cdpUrl", "https://u:p@host/x?token=t"],
  ["browser.profiles.work.cdpUrl", "wss://host/devtools"],
  ["browser.profiles.work.cdpPort", 18801],
  ["browser.profiles.work.color", "00aa00"],
  ["browser.color", "#FF4500"],
  ["browser.attachOnly", true],
  ["browser.headless", true],
  ["browser.noSandbox", true],
  ["browser.remoteCdpTimeoutMs", 100],
  ["browser.remoteCdpHandshakeTimeoutMs", 100],
  ["browser.evaluateEnabled", false],
  ["browser.snapshotDefaults.mode", "efficient"],
  ["browser.navigation.policy", "strict"],
  ["gateway.port", 1234],
  ["gateway.bind", "lan"],
  ["gateway.auth.token", "t"],
  ["gateway.allowedHosts", ["gateway.example"]],
  ["gateway.nodes.browser.mode", "off"],
  ["gateway.reload.mode", "hot"],
  ["gateway.reload.debounceMs", 1],
  ["nodeHost.browserProxy.enabled", false],
  ["agents.defaults.sandbox.browser.allowHostControl", true],
  ["agents.defaults.model", "openai/x"],
  ["agents.defaults.model", { primary: "openai/x", fallbacks: ["anthropic/y"] }],
  ["agents.defaults.models", { "openai/x": { alias: "x" }, "anthropic/y": {} }],
  ["agents.defaults.maxConcurrent", 2],
  ["agents.defaults.timeoutSeconds", 5],
  ["agents.defaults.thinkingDefault", "high"],
  ["agents.defaults.envelopeTimezone", "Europe/Berlin"],
  ["agents.defaults.heartbeat", { every: 15, target: "none", activeHours: { start: "08:00", end: "24:00" } }],
  [
    "agents.list",
    [{ id: "main", default: true, groupChat: { mentionPatterns: ["@?bot"] }, heartbeat: { every: "1h" } }],
  ],
  ["session.mainKey", "main"],
  ["session.scope", "global"],
  ["session.store", "~/x/{agentId}.json"],
  ["session.reset", { mode: "idle", idleMinutes: 5 }],
  ["session.resetByType.group", { mode: "daily", atHour: 3 }],
  ["session.resetByChannel.chatapp", { mode: "idle" }],
  ["session.resetTriggers", ["/new"]],
  ["session.dmScope", "per-peer"],
  ["messages.responsePrefix", "auto"],
  ["messages.ackReaction", ""],
  ["messages.ackReactionScope", "all"],
  ["messages.removeAckAfterReply", true],
  ["messages.groupChat.mentionPatterns", ["bot"]],
  ["messages.groupChat.historyLimit", 0],
  ["messages.inbound.debounceMs", 100],
  ["messages.inbound.byChannel.chatapp", 100],
  ["messages.queue", { mode: "steer", cap: 1, drop: "old", debounceMs: 1, byChannel: { chatapp: "queue" } }],
  ["commands.native", "auto"],
  ["commands.native", false],
  ["commands.text", true],
  ["commands.config", true],
  ["commands.useAccessGroups", false],
  ["hooks.enabled", false],
  ["hooks.token", "secret"],
  ["hooks.path", "in"],
  ["hooks.presets", ["gmail"]],
  ["hooks.transformsDir", "transforms"],
  ["hooks.gmail", { account: "a@b", label: "INBOX", pushToken: "x", serve: { port: 1 }, tailscale: { mode: "off" } }],
  ["hooks.keepDays", 3],
  ["hooks.maxBodyBytes", 10],
  [
    "hooks.mappings",
    [
      {
        id: "m",
        match: { path: "a/b", source: "s" },
        action: "wake",
        wakeMode: "now",
        textTemplate: "{{payload.x}}",
        deliver: false,
        channel: "chatapp",
        to: "1",
        model: "x",
        thinking: "low",
        timeoutSeconds: 1,
        allowUnsafeExternalContent: true,
        transform: { module: "x.js", export: "f" },
        verify: { scheme: "github", secret: "s" },
        forEach: "payload.items",
        callbackUrl: "https://host/x",
        callbackSecret: "s",
      },
    ],
  ],
  ["channels.defaults.heartbeat.showOk", true],
  ["channels.defaults.groupPolicy", "open"],
  ["logging.level", "debug"],
  ["logging.consoleLevel", "silent"],
  ["models.providers.local", { kind: "openai-compatible", baseUrl: "http://127.0.0.1:11434/v1", headers: { a: "b" } }],
  ["storage.url", "postgres://u:p@host/db"],
  ["env", { A: "1", vars: { B: "2" }, shellEnv: { enabled: true, timeoutMs: 1 } }],
]

const chatappKeys: Record<string, Json> = {
  enabled: false,
  name: "Bot",
  botToken: "123456:abc",
  tokenFile: "~/token",
  dmPolicy: "allowlist",
  allowFrom: [123, "@name"],
  groupPolicy: "open",
  groupAllowFrom: ["1"],
  groups: {
    "*": { requireMention: true },
    "-1001": {
      skills: [],
      allowFrom: [1],
      systemPrompt: "x",
      enabled: false,
      topics: { "7": { requireMention: false } },
    },
  },
  capabilities: { inlineButtons: "dm" },
  replyToMode: "all",
  textChunkLimit: 100,
  chunkMode: "newline",
  linkPreview: false,
  streamMode: "block",
  draftChunk: { minChars: 1, maxChars: 2, breakPreference: "newline" },
  draftIn: "private",
  blockStreaming: true,
  blockStreamingCoalesce: { idleMs: 1 },
  mediaMaxMb: 0.5,
  timeoutSeconds: 1,
  historyLimit: 0,
  dmHistoryLimit: 3,
  dms: { "1": { historyLimit: 2 } },
  retry: { attempts: 1, minDelayMs: 0, maxDelayMs: 1, jitter: 0 },
  network: { autoSelectFamily: true },
  proxy: "socks5://host:1",
  apiRoot: "http://127.0.0.1:8081",
  webhookUrl: "https://host/x",
  webhookSecret: "s",
  webhookPath: "/x",
  webhookBind: "127.0.0.1:1",
  customCommands: [{ command: "/Backup", description: "Make one" }],
  commands: { native: "off" },
  actions: { reactions: false, sendMessage: false, deleteMessage: false, sticker: true },
  reactionNotifications: "all",
  reactionLevel: "ack",
  configWrites: false,
  markdown: { tables: "bullets" },
  heartbeat: { showOk: true },
}

describe("the schema", () => {
  for (const [key, value] of specKeys) {
    it(`accepts ${key} = ${JSON.stringify(value).slice(0, 40)}`, () => {
      good(JSON.stringify(nest(key, value)))
    })
  }
  for (const [key, value] of Object.entries(chatappKeys)) {
    it(`accepts channels.chatapp.${key}, for the channel and for an account`, () => {
      good(JSON.stringify({ channels: { chatapp: { [key]: value, accounts: { second: { [key]: value } } } } }))
    })
  }

  it("refuses unknown keys in every section", () => {
    const config = good("{}").config as unknown as Record<string, unknown>
    for (const [name, section] of Object.entries(config)) {
      if (Array.isArray(section)) continue
      const [issue] = bad(JSON.stringify({ [name]: { zzzz: 1 } }))
      assert.equal(issue?.path, `${name}.zzzz`)
    }
    assert.equal(bad('{"zzzz": 1}')[0]?.path, "zzzz")
  })

  it("applies the documented defaults", () => {
    const { config } = good("{}")
    assert.equal(config.gateway.port, 18789)
    assert.equal(config.agents.defaults.maxConcurrent, 4)
    assert.equal(config.agents.defaults.timeoutSeconds, 600)
    assert.deepEqual(config.agents.defaults.model, { primary: "offline/commander", fallbacks: [] })
    assert.equal(config.agents.defaults.heartbeat.every, "30m")
    assert.equal(config.channels.chatapp.dmPolicy, "pairing")
    assert.equal(config.channels.chatapp.textChunkLimit, 4000)
    assert.equal(config.channels.chatapp.timeoutSeconds, 500)
    assert.equal(config.hooks.path, "/hooks")
    assert.equal(config.hooks.maxBodyBytes, 262_144)
    assert.equal(config.browser.defaultProfile, "relay")
    assert.equal(config.browser.remoteCdpHandshakeTimeoutMs, 3000)
    assert.deepEqual(config.session.reset, { mode: "daily", atHour: 4 })
  })

  it("normalises what people write in several ways", () => {
    const { config } = good(`{
      hooks: {path: "in/"}, browser: {color: "ff00aa"}, session: {idleMinutes: 9}, commands: {native: true},
      channels: {chatapp: {allowFrom: [5, "*"], capabilities: ["inlineButtons"], customCommands: [{command: "/Up", description: "x"}]}}
    }`)
    assert.equal(config.hooks.path, "/in")
    assert.equal(config.browser.color, "#FF00AA")
    assert.deepEqual(config.session.reset, { mode: "idle", atHour: 4, idleMinutes: 9 })
    assert.equal(config.commands.native, "on")
    assert.deepEqual(config.channels.chatapp.allowFrom, ["5", "*"])
    assert.deepEqual(config.channels.chatapp.capabilities, { inlineButtons: "all" })
    assert.equal(config.channels.chatapp.customCommands?.[0]?.command, "up")
  })
})

describe("issues", () => {
  const cases: [string, string, string][] = [
    [
      "names the nearest known key",
      "{gateway: {prot: 1}}",
      '1:18 gateway.prot: this key is not known; did you mean "port"?',
    ],
    [
      "gives line and column",
      '{\n  // note\n  gateway: {\n    port: "x",\n  },\n}',
      '4:11 gateway.port: must be a number, not text (found "x")',
    ],
    [
      "reads unions for a person",
      "{agents: {defaults: {model: {primry: 'x'}}}}",
      "1:29 agents.defaults.model.primary: is required",
    ],
    [
      "names what a union allows",
      "{browser: {headless: 3}}",
      '1:22 browser.headless: must be true or false, or "auto" (found 3)',
    ],
    [
      "wants a token for webhooks",
      "{hooks: {enabled: true}}",
      "1:9 hooks.token: is required when hooks.enabled is true",
    ],
    [
      "refuses a bare base path",
      "{hooks: {path: '/'}}",
      '1:16 hooks.path: must not be "/": give the endpoints a path of their own (found "/")',
    ],
    [
      "wants * for open chats",
      "{channels: {chatapp: {dmPolicy: 'open'}}}",
      '1:33 channels.chatapp.dmPolicy: "open" needs allowFrom to contain "*" (found "open")',
    ],
    [
      "wants * for an open account",
      "{channels: {chatapp: {accounts: {b: {dmPolicy: 'open'}}}}}",
      '1:48 channels.chatapp.accounts.b.dmPolicy: "open" needs allowFrom to contain "*" (found "open")',
    ],
    [
      "names the one key that is known there",
      "{gateway: {auth: {zzzzzz: 1}}}",
      "1:27 gateway.auth.zzzzzz: this key is not known; known here: token",
    ],
    [
      "says what an address must look like",
      "{hooks: {mappings: [{action: 'wake', textTemplate: 'x', verify: {scheme: 'google-oidc', keySetUrl: 'nowhere'}}]}}",
      '1:100 hooks.mappings[0].verify.keySetUrl: must be a URL (found "nowhere")',
    ],
    [
      "finds the word that was meant",
      "{channels: {chatapp: {dmPolicy: 'opne'}}}",
      '1:33 channels.chatapp.dmPolicy: must be one of "pairing", "allowlist", "open", "disabled"; did you mean "open"? (found "opne")',
    ],
    [
      "shows the beginning of what is long",
      `{agents: {list: [{id: "${"x".repeat(100)}"}]}}`,
      `1:23 agents.list[0].id: must be 1 to 64 lower-case letters, digits, dashes and underscores (found "${"x".repeat(59)}…)`,
    ],
    [
      "says how much is too much",
      "{browser: {takeoverMinutes: 1441}}",
      "1:29 browser.takeoverMinutes: must be at most 1440 (found 1441)",
    ],
    [
      "says what is too little",
      "{channels: {chatapp: {mediaMaxMb: 0}}}",
      "1:35 channels.chatapp.mediaMaxMb: must be more than 0 (found 0)",
    ],
    [
      "says how long is too long",
      `{gateway: {nodes: {browser: {node: "${"n".repeat(65)}"}}}}`,
      `1:36 gateway.nodes.browser.node: must have at most 64 characters (found "${"n".repeat(59)}…)`,
    ],
    [
      "says what may not be empty",
      "{gateway: {nodes: {browser: {node: ' '}}}}",
      '1:36 gateway.nodes.browser.node: must not be empty (found " ")',
    ],
    [
      "tells a whole number from a fraction",
      "{gateway: {port: 1.5}}",
      "1:18 gateway.port: must be a whole number, not a fraction (found 1.5)",
    ],
    [
      "counts the entries of a list",
      `{hooks: {mappings: [{action: 'wake', textTemplate: 'x', hide: [${"'a',".repeat(51)}]}]}}`,
      "1:63 hooks.mappings[0].hide: must have at most 50 entries",
    ],
    ["tells a list from an object", "{hooks: []}", "1:9 hooks: must be an object, not a list"],
    ["points at broken syntax", "{\n  a: 1\n  b: 2\n}", "3:3 not valid JSON5: unexpected identifier"],
    [
      "points at a file that ends early",
      '{"gateway": {',
      "1:13 the file ends too early; a bracket or quote is not closed",
    ],
    ["refuses an empty file", "", "1:1 the file is empty; an empty configuration is written {}"],
    ["refuses a repeated key", '{"gateway": {}, "gateway": {}}', "1:17 gateway: this key is written twice"],
    ["refuses __proto__", '{"__proto__": {"port": 1}}', "1:2 __proto__: this key is not allowed"],
    ["refuses a file that is no object", "[1]", "1:1 the file must contain one object: { ... }"],
  ]
  for (const [name, text, expected] of cases) {
    it(name, () => assert.equal(formatIssue(bad(text)[0] as ConfigIssue), `${path}:${expected.replace(" ", ": ")}`))
  }

  it("refuses deep nesting without overflowing", () => {
    assert.match(bad(`{a: ${"[".repeat(50_000)}`)[0]?.message ?? "", /nested too deeply/)
  })

  it("names both keys and no value when the two tokens are equal", () => {
    const [issue] = bad("{hooks: {token: 'SHARED-1'}, gateway: {auth: {token: 'SHARED-1'}}}")
    assert.match(issue?.message ?? "", /hooks\.token and gateway\.auth\.token/)
    assert.doesNotMatch(JSON.stringify(issue), /SHARED/)
  })

  it("shows no secret, whatever is wrong with it", () => {
    const texts = [
      "{hooks: {token: {x: 'SECRET-1'}}}",
      "{hooks: {token: ['SECRET-1']}}",
      "{gateway: {auth: 'SECRET-1'}}",
      "{channels: {chatapp: 'SECRET-1'}}",
      "{channels: {chatapp: {webhookSecret: 'SECRET 1 ä'}}}",
      "{browser: {cdpUrl: 'SECRET-1'}}",
      "{storage: {url: 'mysql://SECRET-1@host'}}",
      "{hooks: {tokn: 'SECRET-1'}}",
      "{models: {providers: {x: {kind: 'SECRETLY', apiKey: 5, headers: {a: {b: 'SECRET-1'}}}}}}",
      "{env: {A: {b: 'SECRET-1'}}}",
    ]
    for (const text of texts) assert.doesNotMatch(JSON.stringify(bad(text)), /SECRET[ -]1/, text)
  })

  it("are told in the order of their places", () => {
    const found = bad("{hooks: {enabled: 1},\n gateway: {port: 0, bind: 5},\n  browser: {enabled: 1}}")
    assert.deepEqual(
      found.map(({ line, path: key }) => `${line} ${key}`),
      ["1 hooks.enabled", "2 gateway.port", "2 gateway.bind", "3 browser.enabled"],
    )
  })

  it("throws all issues at once for a start", () => {
    writeFileSync(path, "{gateway: {port: 0}, hooks: {enabled: 1}}")
    assert.throws(() => loadConfigOrThrow({ path, env: {} }), /gateway\.port[\s\S]*hooks\.enabled/)
  })
})

describe("variables", () => {
  it("replaces ${NAME}, keeps $${NAME} and other dollars", () => {
    const { config } = good("{messages: {responsePrefix: '${A_1}/$${A_1}/$A/${a}/${}'}}", { A_1: "x" })
    assert.equal(config.messages.responsePrefix, "x/${A_1}/$A/${a}/${}")
  })

  for (const [name, env] of [
    ["unset", {}],
    ["empty", { GONE: "" }],
  ] as const) {
    it(`refuses an ${name} variable, naming it, its key and its line`, () => {
      const [issue] = bad("{\n hooks: {token: '${GONE}'}}", env)
      assert.equal(issue?.path, "hooks.token")
      assert.equal(issue?.line, 2)
      assert.match(issue?.message ?? "", /GONE, which hooks\.token refers to, is not set or empty/)
    })
  }

  it("keeps placeholders in the source and takes values into the configuration", () => {
    const snapshot = good("{hooks: {token: '${HOOK}'}}", { HOOK: "value-1" })
    assert.equal(snapshot.config.hooks.token, "value-1")
    assert.deepEqual(snapshot.source, { hooks: { token: "${HOOK}" } })
    assert.ok(snapshot.secrets.includes("value-1"))
  })

  it("lets the env section help out, below the real environment, without changing the process", () => {
    const text =
      "{env: {SVC_T_ONE: 'file', vars: {SVC_T_TWO: 'file'}}, messages: {responsePrefix: '${SVC_T_ONE} ${SVC_T_TWO}'}}"
    const snapshot = good(text, { SVC_T_ONE: "real" })
    assert.equal(snapshot.config.messages.responsePrefix, "real file")
    assert.equal(snapshot.environment.variables["SVC_T_TWO"], "file")
    assert.equal(process.env["SVC_T_TWO"], undefined)
  })

  it("hides keys and tokens that come from the environment alone, as far as names say what they are", () => {
    const { secrets } = good("{}", {
      OPENAI_API_KEY: "sk-of-openai",
      X_API_KEY: "",
      CHATAPP_BOT_TOKEN: "1:a",
      LANG: "C",
    })
    assert.deepEqual(new Set(secrets), new Set(["sk-of-openai", "1:a"]))
  })

  it("finds model keys and the bot token in the env section", () => {
    const { environment } = good("{env: {OPENAI_API_KEY: 'sk-1', MY_LLM_API_KEY: 'k', CHATAPP_BOT_TOKEN: '1:a'}}")
    assert.equal(environment.modelKey("openai"), "sk-1")
    assert.equal(environment.modelKey("my-llm"), "k")
    assert.equal(environment.chatappBotToken, "1:a")
  })

  it("lets SVC_GATEWAY_PORT win over gateway.port, and refuses a wrong one", () => {
    assert.equal(good("{gateway: {port: 5}}", { SVC_GATEWAY_PORT: "4321" }).config.gateway.port, 4321)
    assert.throws(() => load("{}", { SVC_GATEWAY_PORT: "70000" }), { code: "config-invalid" })
  })

  it("takes no port of the gateway behind which there is none for browser control and the relay", () => {
    assert.equal(good("{gateway: {port: 65532}}").config.gateway.port, 65_532)
    assert.match(bad("{gateway: {port: 65533}}")[0]?.message ?? "", /at most 65532: browser control/)
    assert.equal(good("{}", { SVC_GATEWAY_PORT: "65532" }).config.gateway.port, 65_532)
    assert.throws(() => load("{}", { SVC_GATEWAY_PORT: "65533" }), /from 1 to 65532/)
  })
})

describe("a file", () => {
  it("that is missing is an empty configuration", () => {
    const result = loadConfigFile({ path: join(folder, "none.json"), env: {} })
    assert.ok(result.kind === "ok" && result.snapshot.files.length === 0)
  })

  it("that cannot be read or is not UTF-8 is an issue, not a default", () => {
    assert.equal(loadConfigFile({ path: folder, env: {} }).kind, "invalid")
    writeFileSync(path, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))
    const result = loadConfigFile({ path, env: {} })
    assert.ok(result.kind === "invalid" && /not UTF-8/.test(result.issues[0]?.message ?? ""))
  })

  it("may begin with a byte order mark and have any line ends", () => {
    assert.equal(good("\ufeff{\r\n  gateway: {port: 7},\r\n}\r\n").config.gateway.port, 7)
    assert.equal(bad("\ufeff{\r\n  gateway: {port: 0},\r\n}\r\n")[0]?.line, 2)
  })
})

describe("hooks.transformsDir", () => {
  const dir = (name: string) => JSON.stringify({ hooks: { transformsDir: name } })

  it("may be any folder in that of the file, also one that is not there yet", () => {
    mkdirSync(join(folder, "code"), { recursive: true })
    for (const name of ["code", "./code/deeper", "later", ".", join(folder, "code"), "..dots"]) good(dir(name))
  })

  it("is refused elsewhere, and where a link leads elsewhere, with its line", () => {
    symlinkSync(tmpdir(), join(folder, "away"))
    for (const name of ["..", "../other", tmpdir(), "/", "~", "away", "away/below"]) {
      const [issue] = bad(dir(name), { HOME: tmpdir() })
      assert.equal(issue?.path, "hooks.transformsDir", name)
      assert.match(issue?.message ?? "", /must be a folder in that of the configuration/)
      assert.equal(issue?.line, 1)
    }
  })
})

describe("variables of the login shell", () => {
  const asks = join(folder, "asked")
  /** A shell whose profile prints noise, and that notes each time it is asked. */
  const shell = join(folder, "shell.sh")
  const write = (body: string) => writeFileSync(shell, `#!/bin/sh\necho asked >> ${asks}\n${body}\n`, { mode: 0o755 })
  const text = '{env: {shellEnv: {enabled: true, timeoutMs: 5000}, B: "section"}, hooks: {path: "/${A}/${B}/${C}"}}'
  const env = { SHELL: shell, PATH: "/usr/bin:/bin", C: "real" }

  it("fill what neither the environment nor the section says, and move no gateway", () => {
    write('echo "motd A=noise"\nexport A=shell B=shell C=shell SVC_STATE_DIR=/elsewhere\nshift; exec /bin/sh "$@"')
    const snapshot = good(text, env)
    assert.equal(snapshot.config.hooks.path, "/shell/section/real")
    const names = Object.keys(snapshot.shell)
    assert.ok(names.includes("A") && !names.includes("") && !names.includes("SVC_STATE_DIR"), names.join())
    assert.equal(snapshot.environment.variables["SVC_STATE_DIR"], undefined)
    const again = loadConfigFile({ path, env, shell: snapshot.shell })
    assert.equal(again.kind, "ok")
    assert.equal(readFileSync(asks, "utf8"), "asked\n", "asked once")
    good('{env: {B: "x"}}', env)
    assert.equal(readFileSync(asks, "utf8"), "asked\n", "not asked where nobody wants it")
  })

  it("tell why they are missing when the shell says nothing or takes too long", () => {
    write("exit 3")
    assert.match(bad(text, env)[0]?.message ?? "", /variable A,.*login shell could not be asked: .*ended with 3/)
    write("exec sleep 30")
    const late = bad(text.replace("5000", "50"), env)[0]?.message ?? ""
    assert.match(late, /took longer than env\.shellEnv\.timeoutMs/)
    assert.match(bad(text, { ...env, SHELL: "sh" })[0]?.message ?? "", /SHELL is no absolute path/)
  })
})
