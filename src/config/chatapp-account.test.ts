// What holds for an account: its own settings over those of the channel, over those of the whole configuration.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { listChatappAccounts, resolveChatappAccount } from "./chatapp-account.ts"
import { configSchema } from "./schema.ts"

const tokens = { one: "111111:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", two: "222222:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw2" }
const configOf = (chatapp: object, more: object = {}) => configSchema.parse({ ...more, channels: { chatapp } })
const resolve = (chatapp: object, account = "default", more: object = {}) =>
  resolveChatappAccount(configOf(chatapp, more), account)

describe("the accounts", () => {
  test("are the default one alone, or those that are named, with the default where the channel has a token", () => {
    assert.deepEqual(listChatappAccounts(configOf({})), ["default"])
    const accounts = { work: { botToken: tokens.two }, home: {} }
    assert.deepEqual(listChatappAccounts(configOf({ accounts })), ["home", "work"])
    assert.deepEqual(listChatappAccounts(configOf({ accounts, botToken: tokens.one })), ["default", "home", "work"])
    assert.deepEqual(listChatappAccounts(configOf({ accounts, tokenFile: "bot.token" })), ["default", "home", "work"])
    const named = { default: {}, work: {} }
    assert.deepEqual(listChatappAccounts(configOf({ accounts: named, botToken: tokens.one })), ["default", "work"])
  })

  test("have a token of their own: that of the channel belongs to the default one", () => {
    const chatapp = {
      botToken: tokens.one,
      tokenFile: "bot.token",
      accounts: { work: {}, home: { botToken: tokens.two } },
    }
    const [base, work, home] = ["default", "work", "home"].map((id) => resolve(chatapp, id))
    assert.deepEqual([base?.botToken, base?.tokenFile], [tokens.one, "bot.token"])
    assert.deepEqual([work?.botToken, work?.tokenFile], [undefined, undefined])
    assert.deepEqual([home?.botToken, home?.tokenFile], [tokens.two, undefined])
    const { botToken, tokenFile } = resolve({ ...chatapp, accounts: { default: { botToken: tokens.two } } })
    assert.deepEqual([botToken, tokenFile], [tokens.two, undefined], "its own goes before the channel's, file or not")
  })

  test("are off with the channel, and by themselves", () => {
    const accounts = { work: { enabled: false }, home: { enabled: true } }
    assert.deepEqual(
      ["default", "work", "home"].map((id) => resolve({ accounts }, id).enabled),
      [true, false, true],
    )
    assert.equal(resolve({ accounts, enabled: false }, "home").enabled, false)
  })
})

describe("settings of an account", () => {
  test("are merged key by key in sections, and replaced where they are lists", () => {
    const chatapp = {
      allowFrom: [1],
      retry: { attempts: 3, jitter: 0.5 },
      actions: { sticker: true, reactions: false },
      accounts: { work: { allowFrom: [2], retry: { attempts: 5 }, actions: { reactions: true } } },
    }
    const { allowFrom, retry, actions } = resolve(chatapp, "work")
    assert.deepEqual(allowFrom.map(String), ["2"])
    assert.partialDeepStrictEqual(retry, { attempts: 5, jitter: 0.5, minDelayMs: 400 })
    assert.partialDeepStrictEqual(actions, { sticker: true, reactions: true, editMessage: true })
    assert.deepEqual(resolve(chatapp).allowFrom.map(String), ["1"])
  })

  test("leave the channel's word on buttons where they say nothing about them", () => {
    const chatapp = {
      capabilities: { inlineButtons: "off" },
      accounts: { work: { capabilities: {} }, home: { capabilities: ["inlineButtons"] } },
    }
    const buttons = (given: object, account: string) => resolve(given, account).capabilities.inlineButtons
    assert.deepEqual([buttons(chatapp, "work"), buttons(chatapp, "home")], ["off", "all"])
    assert.equal(buttons({ capabilities: {} }, "default"), "allowlist")
  })

  test("fall back on those of all channels, of messages and of commands", () => {
    const more = { messages: { groupChat: { historyLimit: 7 } }, commands: { native: false } }
    const chatapp = { accounts: { work: { historyLimit: 3, commands: { native: true } } } }
    assert.deepEqual(
      [resolve(chatapp, "default", more).historyLimit, resolve(chatapp, "work", more).historyLimit],
      [7, 3],
    )
    assert.equal(resolve({}).historyLimit, 50)
    assert.deepEqual(
      [resolve(chatapp, "default", more).commands.native, resolve(chatapp, "work", more).commands.native],
      ["off", "on"],
    )
    assert.equal(resolve({}).groupPolicy, "allowlist")
    const { actions, capabilities, markdown } = resolve({})
    const allowed = Object.entries(actions).filter(([, isOn]) => isOn)
    assert.deepEqual(Object.fromEntries(allowed), {
      reactions: true,
      sendMessage: true,
      deleteMessage: true,
      editMessage: true,
    })
    assert.deepEqual([capabilities.inlineButtons, markdown.tables], ["allowlist", "code"])
  })

  test("have paths of webhooks that tell the accounts apart", () => {
    const at = (webhookUrl: string, id: string, own: object = {}) => {
      const { webhookUrl: url, webhookPath } = resolve({ webhookUrl, accounts: { [id]: own } }, id)
      return [url, webhookPath]
    }
    assert.deepEqual(at("https://bot.example/", "work"), ["https://bot.example/", "/chatapp-webhook/work"])
    assert.deepEqual(at("https://bot.example/in/", "work")[0], "https://bot.example/in/work")
    assert.deepEqual(at("https://bot.example/in", "default")[0], "https://bot.example/in")
    const own = { webhookUrl: "https://other.example/x", webhookPath: "/mine" }
    assert.deepEqual(at("https://bot.example/in", "work", own), ["https://other.example/x", "/mine"])
  })

  test("have pieces of drafts no longer than a message", () => {
    const { draftChunk } = resolve({ textChunkLimit: 100, draftChunk: { minChars: 150, maxChars: 900 } })
    assert.partialDeepStrictEqual(draftChunk, { minChars: 100, maxChars: 100 })
  })
})
