import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { toolSchemas } from "../../../agent/tool-runner.ts"
import type { ToolPlace } from "../../../agent/tool.ts"
import { configSchema } from "../../../config/index.ts"
import type { JsonObject } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { createSettings } from "../settings.ts"
import { offerTools } from "./offer.ts"
import type { Operations } from "./operations.ts"

const route: Route = { channel: "chatapp", account: "default", chatId: "5", chatKind: "private" }
const owner: ToolPlace = { agentId: "main", route, origin: "owner", trusted: true, recall: "owner" }
const botToken = "1234567:token-of-the-tests"

function offered(chatapp: JsonObject, place: Partial<ToolPlace> = {}, hasEnvironmentToken = false) {
  const config = configSchema.parse({ channels: { chatapp } })
  const settings = createSettings(() => config)
  const operations = {} as Operations
  return offerTools({ operations, settings, hasEnvironmentToken }, { ...owner, ...place })
}
const names = (...given: Parameters<typeof offered>) => offered(...given).map(({ name }) => name)

/** Fields of each tool that is offered, by its name. */
function shown(chatapp: JsonObject): Record<string, { actions: unknown; fields: string[] }> {
  const schemas = toolSchemas(offered({ botToken, ...chatapp }))
  return Object.fromEntries(
    schemas.map(({ name, inputSchema }) => {
      const { action, ...fields } = inputSchema["properties"] as Record<string, JsonObject>
      return [name, { actions: action?.["enum"], fields: Object.keys(fields) }]
    }),
  )
}

const both = ["message", "chatapp"]

describe("the chat tools are offered", () => {
  test("where an account of the channel is in use", () => {
    assert.deepEqual(names({ botToken }), both)
    assert.deepEqual(names({ tokenFile: "token" }), both)
    assert.deepEqual(names({}, {}, true), both)
    assert.deepEqual(names({}), [])
    assert.deepEqual(names({ botToken, enabled: false }), [])
  })

  test("by the turn's own account, where it has one", () => {
    const accounts = { on: { botToken }, off: { botToken, enabled: false }, bare: {} }
    const of = (account: string) => names({ accounts }, { route: { ...route, account } }, true)
    assert.deepEqual([of("on"), of("off"), of("bare")], [both, [], []])
    const silent = { on: { botToken, actions: { sendMessage: false } }, other: { botToken } }
    const [tool] = offered({ accounts: silent }, { route: { ...route, account: "on" } })
    assert.doesNotMatch(tool?.description ?? "", /send,/)
  })

  test("to whoever answers a chat", () => {
    for (const origin of ["owner", "approved-sender", "group-member", "webhook", "system"] as const) {
      assert.deepEqual(names({ botToken }, { origin, trusted: false }), both, origin)
    }
  })

  test("without a chat to answer to an owner's turn alone, which may name one", () => {
    const without = (more: Partial<ToolPlace>) => names({ botToken }, { route: null, ...more })
    assert.deepEqual(without({}), both)
    assert.deepEqual(without({ trusted: false }), [])
    assert.deepEqual(without({ origin: "webhook", trusted: false }), [])
    assert.deepEqual(without({ origin: "system" }), [])
    assert.deepEqual(names({ botToken }, { route: { ...route, channel: "callback" } }), [])
  })
})

describe("of the actions only those are shown that are switched on", () => {
  test("with the fields that they take", () => {
    const { message, chatapp } = shown({})
    assert.deepEqual(message?.actions, ["send", "edit", "delete", "react"])
    assert.deepEqual(chatapp?.actions, ["sendMessage", "react", "deleteMessage"])
    assert.equal(
      message?.fields.toSorted().join(" "),
      "asVoice buttons channel emoji media message messageId quoteText remove replyTo silent threadId to",
    )
    const stickers = shown({ actions: { sticker: true } })["message"]
    assert.deepEqual(stickers?.actions, ["send", "edit", "delete", "react", "sticker", "sticker-search"])
    assert.deepEqual(
      stickers?.fields.filter((name) => !message?.fields.includes(name)),
      ["fileId", "query", "limit"],
    )
  })

  test("and no tool at all when none is", () => {
    const off = { sendMessage: false, deleteMessage: false, reactions: false }
    assert.deepEqual(shown({ actions: off }), {
      message: { actions: ["edit"], fields: ["channel", "to", "message", "threadId", "buttons", "messageId"] },
    })
    assert.deepEqual(shown({ actions: { ...off, editMessage: false } }), {})
  })

  test("where reactions are also off by reactionLevel", () => {
    for (const reactionLevel of ["off", "ack"]) {
      const { message, chatapp } = shown({ reactionLevel })
      assert.deepEqual(message?.actions, ["send", "edit", "delete"])
      assert.deepEqual(chatapp, {
        actions: ["sendMessage", "deleteMessage"],
        fields: ["to", "content", "mediaUrl", "replyToMessageId", "messageThreadId", "chatId", "messageId"],
      })
      assert.doesNotMatch(offered({ botToken, reactionLevel })[0]?.description ?? "", /[Rr]eact (rarely|freely)/)
    }
    assert.match(offered({ botToken, reactionLevel: "extensive" })[0]?.description ?? "", /React freely/)
  })

  test("the same for the whole of a turn and for each turn of the same place", () => {
    assert.deepEqual(toolSchemas(offered({ botToken })), toolSchemas(offered({ botToken })))
  })
})
