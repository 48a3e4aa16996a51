import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, it, test } from "node:test"
import { safeParse } from "zod/v4/core"
import { resolveChatappAccount } from "./chatapp-account.ts"
import { parseConfigPath } from "./path.ts"
import { isProtectedPath } from "./protected-paths.ts"
import { collectSecrets, redactConfig } from "./redact.ts"
import { renderConfigReference } from "./reference.ts"
import { configSchema } from "./schema.ts"
import { isMapEntry, isSecret, isShowable, knownKeys, schemasAt } from "./schema-walk.ts"

describe("the reference page", () => {
  it("is the one that the schema gives (node scripts/generate-config-docs.ts)", () => {
    const page = readFileSync(new URL("../../docs/reference/config.md", import.meta.url), "utf8")
    assert.equal(page, renderConfigReference())
  })
  it("says something about every key", () => {
    const empty = renderConfigReference()
      .split("\n")
      .filter((line) => /^\| `.*\| *\|$/.test(line))
    assert.deepEqual(empty, [])
  })
})

test("every time that something is waited for fits into a timer", () => {
  // Compared with the times of what others have signed.
  const notWaitedFor = new Set(["hooks.mappings[].verify.toleranceSeconds"])
  const longestMs = 2 ** 31 - 1
  const times = renderConfigReference().matchAll(/^\| `([^`]+(Ms|Seconds))`/gm)
  let looked = 0
  for (const [, key = "", unit] of times) {
    if (notWaitedFor.has(key)) continue
    const path = parseConfigPath(key.replaceAll("[]", "[0]").replaceAll("<name>", "x").replaceAll("<id>", "x"))
    const tooLong = longestMs / (unit === "Seconds" ? 1000 : 1) + 1
    const schemas = schemasAt(configSchema, path)
    assert.ok(schemas.length > 0, key)
    for (const schema of schemas) assert.ok(!safeParse(schema, Math.ceil(tooLong)).success, key)
    looked += 1
  }
  assert.ok(looked > 15)
})

describe("redaction", () => {
  const config = {
    env: { MY_API_KEY: "SECRET-0", LANG: "plain-language" },
    gateway: { auth: { token: "SECRET-1" } },
    browser: {
      cdpUrl: "https://user:SECRET%2D2@host/?token=SECRET-3",
      profiles: { x: { cdpUrl: "ws://SECRET-4@host" } },
    },
    hooks: { token: "SECRET-5", mappings: [{ verify: { scheme: "github", secret: "SECRET-6" } }] },
    channels: { chatapp: { proxy: "http://u:SECRET-7@h", accounts: { b: { botToken: "SECRET-8" } } } },
    storage: { url: "postgres://u:SECRET-9@host/db" },
  }
  it("masks every secret of a validated configuration, and lists it for the log", () => {
    const parsed = configSchema.parse(config)
    assert.doesNotMatch(JSON.stringify(redactConfig(parsed)), /SECRET/)
    const secrets = collectSecrets(parsed)
    for (let index = 0; index <= 9; index += 1) {
      assert.ok(
        secrets.some((text) => text.includes(`SECRET-${index}`)),
        `SECRET-${index}`,
      )
    }
    assert.ok(!secrets.includes("plain-language"))
    assert.deepEqual(collectSecrets(configSchema.parse({ browser: { cdpUrl: "http://10.0.0.7:9222" } })), [])
  })
  it("masks unknown keys with telling names, shows placeholders, and changes nothing else", () => {
    const value = { hooks: { token: "${HOOK}", path: "/in" }, other: { apiKey: "SECRET", deep: [{ password: 5 }] } }
    assert.deepEqual(redactConfig(value), {
      hooks: { token: "${HOOK}", path: "/in" },
      other: { apiKey: "***", deep: [{ password: "***" }] },
    })
  })
})

describe("protected keys", () => {
  const closed = [
    "hooks.token",
    "hooks",
    "gateway.auth.token",
    "gateway",
    "env.X",
    "channels",
    "channels.chatapp.allowFrom[0]",
    'channels.chatapp.groups["-1"].allowFrom',
    "channels.chatapp.accounts.b.dmPolicy",
    "agents.defaults.sandbox",
    "agents.list[0]",
    "agents.defaults.tools.deny",
    "agents.list[0].tools",
    "browser.executablePath",
    "browser.profiles.x",
    "models.providers.x.baseUrl",
    "$include",
    "channels.$include",
    "storage.url",
    "commands.useAccessGroups",
    "messages.$include",
  ]
  for (const key of closed) it(`guards ${key}`, () => assert.ok(isProtectedPath(parseConfigPath(key))))
  const open = [
    "messages.responsePrefix",
    "agents.defaults.heartbeat.every",
    "channels.chatapp.linkPreview",
    'channels.chatapp.groups["-1"].requireMention',
    "logging.level",
  ]
  for (const key of open) it(`leaves ${key} open`, () => assert.ok(!isProtectedPath(parseConfigPath(key))))
})

describe("a key", () => {
  it("is secret by what the schema says of it, in maps and accounts too", () => {
    const secret = ["hooks.token", "channels.chatapp.accounts.b.botToken", "storage.url", "models.providers.x.apiKey"]
    for (const key of secret) assert.ok(isSecret(configSchema, parseConfigPath(key)), key)
    for (const key of ["hooks.path", "hooks", "gateway.port", "nothing"])
      assert.ok(!isSecret(configSchema, parseConfigPath(key)), key)
    assert.ok(isShowable(configSchema, ["gateway", "port"]) && isShowable(configSchema, ["gateway", "reload"]))
    for (const key of ["hooks.token", "hooks", "models.providers", "hooks.mappings", "nothing"])
      assert.ok(!isShowable(configSchema, parseConfigPath(key)), key)
  })
  it("has a name of one's choice where the schema has a map", () => {
    const isEntry = (key: string) => isMapEntry(configSchema, parseConfigPath(key))
    assert.deepEqual(["models.providers.x", 'channels.chatapp.groups["-1"]', "browser.profiles.work"].map(isEntry), [
      true,
      true,
      true,
    ])
    assert.deepEqual(["models.providers", "gateway.port", "hooks.mappings[0]", "nothing.x"].map(isEntry), [
      false,
      false,
      false,
      false,
    ])
    assert.ok(knownKeys(configSchema, ["gateway"]).includes("port"))
    assert.deepEqual(knownKeys(configSchema, ["nothing"]), [])
  })
})

describe("the settings of a chat account", () => {
  it("are the account's over the channel's over the defaults, sections key by key", () => {
    const config = configSchema.parse({
      messages: { groupChat: { historyLimit: 7 } },
      channels: {
        defaults: { groupPolicy: "open" },
        chatapp: {
          botToken: "1:a",
          textChunkLimit: 300,
          actions: { sticker: true },
          accounts: { b: { botToken: "2:b", dmPolicy: "disabled", actions: { reactions: false } } },
        },
      },
    })
    const second = resolveChatappAccount(config, "b")
    assert.equal(second.botToken, "2:b")
    assert.equal(second.dmPolicy, "disabled")
    assert.equal(second.groupPolicy, "open")
    assert.equal(second.historyLimit, 7)
    assert.deepEqual(second.draftChunk, { minChars: 200, maxChars: 300, breakPreference: "paragraph" })
    assert.deepEqual(second.actions, {
      reactions: false,
      sendMessage: true,
      deleteMessage: true,
      editMessage: true,
      sticker: true,
    })
    assert.equal(resolveChatappAccount(config, "c").botToken, undefined)
    assert.equal(resolveChatappAccount(config, "default").botToken, "1:a")
  })

  it("gives each account a webhook of its own", () => {
    const addressOf = (chatapp: Record<string, unknown>, id: string) => {
      const { webhookUrl, webhookPath } = resolveChatappAccount(configSchema.parse({ channels: { chatapp } }), id)
      return [webhookUrl, webhookPath]
    }
    const webhookUrl = "https://bots.example.org/in"
    const own = { webhookUrl: "https://own.example.org/x", webhookPath: "/own" }
    const chatapp = { webhookUrl, accounts: { b: {}, c: own } }
    assert.deepEqual(addressOf(chatapp, "default"), [webhookUrl, "/chatapp-webhook"])
    assert.deepEqual(addressOf(chatapp, "b"), [`${webhookUrl}/b`, "/chatapp-webhook/b"])
    assert.deepEqual(addressOf(chatapp, "c"), [own.webhookUrl, "/own"])
    assert.deepEqual(addressOf({ accounts: { b: {} } }, "b"), [undefined, "/chatapp-webhook/b"])
  })

  it("refuses a webhook listener without a host or with a port that does not exist", () => {
    const isTaken = (webhookBind: string) => configSchema.safeParse({ channels: { chatapp: { webhookBind } } }).success
    assert.deepEqual(["127.0.0.1:8787", "[::1]:443", "8787", "127.0.0.1", "0.0.0.0:65536"].map(isTaken), [
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it("refuses a proxy whose user name or password is not percent-encoded, or of an unknown kind", () => {
    const proxyIssue = (proxy: string) => configSchema.safeParse({ channels: { chatapp: { proxy } } }).success
    assert.equal(proxyIssue("socks5h://user:p%40ss@127.0.0.1:1080"), true)
    assert.equal(proxyIssue("http://user:100%@127.0.0.1:3128"), false)
    assert.equal(proxyIssue("ftp://127.0.0.1:21"), false)
    const { error } = configSchema.safeParse({ channels: { chatapp: { proxy: "ftp://h", apiRoot: "h" } } })
    assert.deepEqual(
      error?.issues.map(({ message }) => message),
      [
        "must be a URL that begins with http, https, socks4, socks4a, socks5 or socks5h",
        "must be a URL that begins with http or https",
      ],
    )
  })
})

describe("the token of webhooks", () => {
  const token = "a-secret-of-the-hooks-0123456789"
  const issues = (config: object) =>
    configSchema.safeParse(config).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? []

  it("is not the gateway's own one, with or without spaces at its ends, and not while webhooks are off either", () => {
    const both = (gateway: string, hooks: object) => issues({ gateway: { auth: { token: gateway } }, hooks })
    const expected = ["hooks.token: hooks.token and gateway.auth.token must be two different secrets"]
    assert.deepEqual(both(token, { enabled: true, token }), expected)
    assert.deepEqual(both(token, { enabled: true, token: ` ${token}\n` }), expected)
    assert.deepEqual(both(token, { token }), expected)
    assert.deepEqual(both(token, { enabled: true, token: `${token}0` }), [])
  })

  it("does not sign results: who gets them would learn it", () => {
    const signedWith = (callbackSecret: string) =>
      issues({ hooks: { enabled: true, token, mappings: [{ callbackUrl: "https://x.example/", callbackSecret }] } })
    assert.match(signedWith(token).join(), /^hooks\.mappings\.0\.callbackSecret: must not be hooks\.token/)
    assert.deepEqual(signedWith(`${token}0`), [])
  })
})
