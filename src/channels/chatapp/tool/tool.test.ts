// The tools, through the outbox and against the emulator.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { type Server, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, afterEach, before, beforeEach, describe, test } from "node:test"
import type { ToolContext, ToolResult } from "../../../agent/tool.ts"
import { createDelivery } from "../../../delivery/index.ts"
import { systemIds } from "../../../kernel/index.ts"
import { createSessions } from "../../../sessions/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { silentLog } from "../../../../test/support/store.ts"
import { toolContext } from "../../../../test/support/tool-context.ts"
import { type TurnInput, turnJob } from "../../../agent/turn-input.ts"
import { readButtonValue } from "../outbound/buttons.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"
import { createStickers } from "../stickers/index.ts"
import { isPublicAddress } from "../../shared/media/public-address.ts"

/** One for all tests; each has settings, a run and two people of its own. */
let bench: Bench
let me = 4242
let friend = 0
/** The first message of the first one's chat. */
let first = 0
let run = ""
let route: Route
let since = { row: 0, call: 0 }

/** `media.test` is on this machine, all other names are in a network that is not to be reached. */
const fetching = {
  resolve: async (host: string) => (host === "media.test" ? ["127.0.0.1"] : ["10.0.0.1"]),
  isAllowed: (address: string) => address === "127.0.0.1",
}

before(async () => {
  bench = await startBench({ fetching })
})
after(() => bench.end())

beforeEach(() => {
  me += 2
  friend = me + 1
  run = `run of ${me}`
  for (const id of [me, friend]) {
    bench.emulator.control.addUser({ id })
    const sent = bench.emulator.control.sendText({ userId: id, text: "/start" })
    if (id === me) first = sent.message_id
  }
  route = { channel: "chatapp", account: "default", chatId: `${me}`, chatKind: "private", messageId: `${first}` }
  since = { row: bench.outbox().at(-1)?.id ?? 0, call: bench.emulator.control.calls({}).at(-1)?.id ?? 0 }
  begin()
})

function begin(chatapp: Record<string, unknown> = {}): void {
  bench.setConfig({ dmPolicy: "allowlist", ...chatapp })
}

const context = (more: Partial<ToolContext> = {}): ToolContext =>
  toolContext({ runId: run, route, signal: AbortSignal.timeout(60_000), ...more })

async function use(name: string, given: Record<string, unknown>, more: Partial<ToolContext> = {}): Promise<ToolResult> {
  // As a turn of an owner has them: what others may do with them is the tools' own matter too.
  const tool = bench.channel.tools(context()).find((each) => each.name === name)
  assert.ok(tool)
  return await tool.run(tool.input.parse(given), context(more))
}
const message = (given: Record<string, unknown>, more: Partial<ToolContext> = {}) => use("message", given, more)

const answerOf = (result: ToolResult) =>
  JSON.parse(result.content[0]?.type === "text" ? result.content[0].text : "") as Record<string, string>
const said = (chatId = me) => bench.emulator.control.messages({ chatId }).filter((each) => each.from?.is_bot === true)
const written = () => bench.outbox().filter(({ id }) => id > since.row)
const calls = (method: string) => bench.emulator.control.calls({ method, after: since.call })

describe("stickers", () => {
  const sticker = (action: string, more: object = {}) => message({ action, ...more })
  /** A sticker that somebody has sent, as intake keeps it. */
  async function seen(): Promise<string> {
    const sent = bench.emulator.control.sendMedia({
      userId: friend,
      kind: "sticker",
      data: new Uint8Array(9),
      emoji: "😂",
    })
    const { file_id: fileId, file_unique_id: fileUniqueId } = sent.sticker as {
      file_id: string
      file_unique_id: string
    }
    const stickers = createStickers({ store: bench.store })
    await stickers.put({
      fileId,
      fileUniqueId,
      account: "default",
      emoji: "😂",
      setName: "Cats",
      description: "A laughing cat",
    })
    return fileId
  }

  test("are refused until they are switched on", async () => {
    await assert.rejects(sticker("sticker", { fileId: "x" }), /actions\.sticker/)
    await assert.rejects(sticker("sticker-search", { query: "cat" }), /actions\.sticker/)
  })

  test("are found by words and sent where the turn may write", async () => {
    begin({ actions: { sticker: true } })
    const fileId = await seen()
    const found = await sticker("sticker-search", { query: "laughing cats", limit: 3 })
    const stickers = [{ fileId, emoji: "😂", description: "A laughing cat", setName: "Cats" }]
    // Whoever has drawn it may have written into it.
    assert.deepEqual([found.content, JSON.parse(found.foreign ?? "")], [[], { ok: true, count: 1, stickers }])
    const many = await sticker("sticker-search", { query: "laughing cats", limit: 1000 })
    assert.equal(many.foreign, found.foreign)
    const sent = answerOf(await sticker("sticker", { fileId, replyTo: first, to: me }))
    assert.deepEqual(Object.keys(sent).toSorted(), ["chatId", "messageId", "ok"])
    const [shown] = said()
    assert.equal(shown?.sticker?.file_id, fileId)
    assert.equal(shown?.reply_to_message?.message_id, first)
    const strangers = { route, origin: "approved-sender" as const, trusted: false }
    await assert.rejects(message({ action: "sticker", fileId, to: friend }, strangers), /only reach/)
  })

  test("sent twice by one run are sent once; a sticker is no answer", async () => {
    begin({ actions: { sticker: true } })
    const fileId = await seen()
    await sticker("sticker", { fileId })
    await sticker("sticker", { fileId })
    assert.equal(calls("sendSticker").length, 1)
    const row = written().at(-1)
    assert.ok(row)
    assert.equal(bench.channel.sender.isAnswer?.(row), false)
  })

  test("that the platform does not know, and searches without words, say what is wrong", async () => {
    begin({ actions: { sticker: true } })
    const refused = await sticker("sticker", { fileId: "nonsense" })
    assert.ok(refused.isError)
    assert.match(JSON.stringify(refused.content), /It was not done\. 400/)
    const none = await sticker("sticker-search", { query: "zebra" })
    assert.deepEqual([answerOf(none), none.foreign], [{ ok: true, count: 0, stickers: [] }, undefined])
  })

  test("are never an address, which the platform would fetch", async () => {
    begin({ actions: { sticker: true } })
    for (const fileId of ["https://evil.example/?d=secret", "attach://x", "file:///etc/passwd"]) {
      await assert.rejects(sticker("sticker", { fileId }), { code: "bad-request", message: /not the id of a sticker/ })
    }
    assert.equal(calls("sendSticker").length, 0)
  })
})

describe("message", () => {
  test("sends, edits, reacts and deletes in the chat of its turn", async () => {
    const sent = answerOf(await message({ action: "send", message: "**one**", replyTo: first, silent: true }))
    assert.deepEqual(sent, { ok: true, chatId: `${me}`, messageId: String(said()[0]?.message_id) })
    assert.deepEqual([said()[0]?.text, said()[0]?.reply_to_message?.message_id], ["one", first])
    assert.equal(String(calls("sendMessage")[0]?.parameters["disable_notification"]), "true")
    const { messageId } = sent
    await message({ action: "edit", messageId, message: "two" })
    assert.equal(said()[0]?.text, "two")
    assert.equal((await message({ action: "edit", messageId, message: "two" })).isError, undefined)
    const added = await message({ action: "react", messageId: first, emoji: "❤️" })
    assert.deepEqual(answerOf(added), { ok: true, chatId: `${me}`, added: "❤" })
    const reactions = () => JSON.stringify(bench.emulator.control.reactions({ chatId: me, messageId: first }))
    assert.match(reactions(), /❤/)
    const removed = await message({ action: "react", messageId: first, emoji: "" })
    assert.deepEqual(answerOf(removed), { ok: true, chatId: `${me}`, removed: true })
    assert.doesNotMatch(reactions(), /❤/)
    const deleted = await message({ action: "delete", messageId })
    assert.deepEqual(answerOf(deleted), { ok: true, chatId: `${me}`, deleted: true })
    assert.deepEqual(said(), [])
    assert.equal((await message({ action: "delete", messageId })).isError, undefined)
  })

  test("reads reply and voice tags in its text, and leaves those inside code", async () => {
    await message({ action: "send", message: "[[reply_to_current]] see `[[audio_as_voice]]`" })
    const last = said().at(-1)
    assert.equal(last?.text, "see [[audio_as_voice]]")
    assert.equal(String(last?.reply_to_message?.message_id), route.messageId)
  })

  test("refuses a reaction that the platform does not know, and one where reactions are off", async () => {
    await assert.rejects(message({ action: "react", messageId: first, emoji: "✅" }), { code: "bad-request" })
    bench.setConfig({ reactionLevel: "ack" })
    await assert.rejects(message({ action: "react", messageId: first, emoji: "👍" }), { code: "forbidden" })
  })

  for (const [action, key] of [
    ["send", "sendMessage"],
    ["edit", "editMessage"],
    ["delete", "deleteMessage"],
    ["react", "reactions"],
  ]) {
    test(`does not ${action} where actions.${key} is false`, async () => {
      begin({ actions: { [key as string]: false } })
      const given = { action, message: "x", messageId: first, emoji: "👍" }
      await assert.rejects(message(given), { code: "forbidden", message: new RegExp(`actions.${key}`) })
    })
  }

  test("tells the model what the platform refused", async () => {
    const description = "Forbidden: bot was blocked by the user"
    bench.emulator.control.fault({ kind: "status", method: "sendMessage", status: 403, description })
    const result = await message({ action: "send", message: "x" })
    assert.equal(result.isError, true)
    assert.match(JSON.stringify(result.content), /blocked/)
    const again = await message({ action: "send", message: "x" })
    assert.equal(answerOf(again)["messageId"], String(said()[0]?.message_id), "what came to nothing may be tried again")
  })

  test("says the same thing once in a run, however often it is told to", async () => {
    const first = await message({ action: "send", message: "once" })
    assert.deepEqual(await message({ action: "send", message: "once" }), first)
    await message({ action: "send", message: "once" }, { runId: "another" })
    assert.deepEqual(
      said().map((each) => each.text),
      ["once", "once"],
    )
  })
})

describe("a target", () => {
  test("is reached by an owner once the bot knows it", async () => {
    begin({ allowFrom: [friend] })
    await message({ action: "send", to: friend, message: "hello" })
    assert.equal(said(friend)[0]?.text, "hello")
    await assert.rejects(message({ action: "send", to: 999, message: "x" }), { code: "forbidden" })
    await assert.rejects(message({ action: "send", to: "@some_channel", message: "x" }), { code: "target-invalid" })
  })

  test("is found by its @name as by its id", async () => {
    const { control } = bench.emulator
    const fay = control.addUser({ id: 90_001, firstName: "Fay", username: "fay_of_the_sea" })
    control.sendText({ userId: fay.id, text: "/start" })
    const crew = control.addChat({ type: "supergroup", title: "Crew", username: "crew_of_the_sea", members: [fay.id] })
    begin({ allowFrom: [fay.id, me], groups: { [crew.id]: {} } })
    const sent = answerOf(await message({ action: "send", to: "@Fay_of_the_sea", message: "hello" }))
    assert.deepEqual([sent["chatId"], said(fay.id)[0]?.text], [String(fay.id), "hello"])
    await use("chatapp", { action: "sendMessage", to: "@crew_of_the_sea", content: "hello all" })
    assert.equal(said(crew.id)[0]?.text, "hello all")
    begin({ allowFrom: [me], groups: { "-1001": {} } })
    for (const to of ["@fay_of_the_sea", "@crew_of_the_sea"]) {
      await assert.rejects(message({ action: "send", to, message: "x" }), "the bot does not know them any more")
    }
    const tainted = { tainted: true }
    const own = { ...route, chatId: String(fay.id) }
    begin({ allowFrom: [fay.id] })
    await message({ action: "send", to: "@fay_of_the_sea", message: "here" }, { ...tainted, route: own })
    const others = { origin: "approved-sender" as const, trusted: true }
    const asked = calls("getChat").length
    await assert.rejects(message({ action: "send", to: "@fay_of_the_sea", message: "x" }, others), {
      code: "forbidden",
    })
    assert.equal(calls("getChat").length, asked, "for others nobody is looked for")
  })

  test("by an @name stays that name where the platform does not say whose it is, and is refused where it does", async () => {
    const named = { channel: "chatapp", account: "default", chatId: "@crew_of_the_sky", chatKind: "channel" } as const
    const found = () => bench.channel.findTarget(named, AbortSignal.timeout(60_000))
    for (const fault of [
      { kind: "status", status: 500 },
      { kind: "429", retryAfter: 1 },
      { kind: "html", status: 502 },
      { kind: "cut" },
    ] as const) {
      bench.emulator.control.fault({ ...fault, method: "getChat" })
      assert.deepEqual(await found(), named, fault.kind)
    }
    await assert.rejects(found(), { code: "target-invalid", message: /^@crew_of_the_sky is nobody .* chat not found$/ })
  })

  test("other than the turn's own chat is refused to everybody else, whatever they touch", async () => {
    begin({ allowFrom: [friend] })
    const others: Partial<ToolContext>[] = [
      { origin: "owner", trusted: false },
      { origin: "approved-sender", trusted: true },
      { origin: "webhook", trusted: false, route: null },
    ]
    for (const other of others) {
      for (const action of ["send", "edit", "delete", "react"]) {
        const given = { action, to: friend, message: "x", messageId: first, emoji: "👍" }
        await assert.rejects(message(given, other), { code: "forbidden" }, action)
      }
    }
    const byName = { action: "deleteMessage", chatId: friend, messageId: first }
    await assert.rejects(use("chatapp", byName, { origin: "webhook", trusted: false }), { code: "forbidden" })
    assert.deepEqual(said(friend), [])
  })

  test("may be the turn's own chat for anybody, but not other people's messages in it", async () => {
    const foreign = { origin: "webhook", trusted: false, tainted: true } as const
    const job = { runId: run, kind: "turn", laneKey: run, payload: {}, runAt: 4e12 }
    await bench.store.write(async (write) => write.addJob(job))
    const { messageId } = answerOf(await message({ action: "send", to: me, message: "x" }, foreign))
    await assert.rejects(message({ action: "delete", messageId: first }, foreign), { code: "forbidden" })
    await message({ action: "delete", messageId }, foreign)
    assert.deepEqual(said(), [])
    for (const [tool, given] of [
      ["message", { action: "send", threadId: 5, message: "x" }],
      ["message", { action: "send", to: `${me}:topic:5`, message: "x" }],
      ["chatapp", { action: "sendMessage", to: me, messageThreadId: 5, content: "x" }],
    ] as const) {
      await assert.rejects(use(tool, given, foreign), { code: "forbidden", message: /topic/ })
    }
    const file = { action: "send", media: "/etc/passwd" }
    await assert.rejects(message(file, foreign), { code: "media-refused" })
  })
})

describe("a turn that has read words of others", () => {
  const tainted = { tainted: true } as const

  const toolOf = (name: string) =>
    bench.channel.tools(context()).find((each) => each.name === name) ?? assert.fail(name)
  const gateOf = (name: string, given: Record<string, unknown>, more: Partial<ToolContext> = {}) => {
    const tool = toolOf(name)
    return tool.gate?.(tool.input.parse(given), context({ ...tainted, ...more }))
  }
  const describedOf = (name: string, given: Record<string, unknown>) => {
    const tool = toolOf(name)
    return tool.describe?.(tool.input.parse(given), context(tainted))
  }

  test("does in its own chat, to its own messages, what it likes, and makes no previews", async () => {
    const job = { runId: run, kind: "turn", laneKey: run, payload: {}, runAt: 4e12 }
    await bench.store.write(async (write) => write.addJob(job))
    const { messageId } = answerOf(await message({ action: "send", message: "see https://a.example/?x" }, tainted))
    const previews = (method: string) => calls(method).at(-1)?.parameters["link_preview_options"]
    assert.deepEqual(previews("sendMessage"), { is_disabled: true })
    await message({ action: "edit", messageId, message: "see https://b.example" }, tainted)
    assert.deepEqual(previews("editMessageText"), { is_disabled: true })
    begin({ reactionLevel: "minimal" })
    await message({ action: "react", messageId: first, emoji: "👍" }, tainted)
    await message({ action: "delete", messageId }, tainted)
    assert.equal(await gateOf("message", { action: "send", message: "x" }), undefined)
    assert.equal(await gateOf("message", { action: "send", message: "x" }, { tainted: false }), undefined)
  })

  test("asks for every other chat and topic, for messages of others and of earlier runs, and for files of the web", async () => {
    const { messageId: earlier } = answerOf(await message({ action: "send", message: "before" }, { runId: "earlier" }))
    begin({ reactionLevel: "minimal", allowFrom: [me, friend] })
    const calls: [string, Record<string, unknown>, RegExp][] = [
      ["message", { action: "send", to: friend, message: "x" }, /only reach the chat/],
      ["message", { action: "send", threadId: 5, message: "x" }, /topic/],
      ["message", { action: "send", message: "x", media: "https://evil.example/a.png?d=1" }, /files from the web/],
      ["message", { action: "edit", messageId: earlier, message: "x" }, /only edit messages/],
      ["message", { action: "delete", messageId: earlier }, /only delete messages/],
      ["message", { action: "delete", messageId: first }, /only delete messages/],
      ["message", { action: "react", messageId: earlier, emoji: "👍" }, /only react to messages/],
      ["chatapp", { action: "sendMessage", to: friend, content: "x" }, /only reach the chat/],
      [
        "chatapp",
        { action: "sendMessage", to: me, content: "x", mediaUrl: "http://evil.example/x" },
        /files from the web/,
      ],
      ["chatapp", { action: "react", chatId: friend, messageId: 1, emoji: "👍" }, /only reach the chat/],
      ["chatapp", { action: "deleteMessage", chatId: me, messageId: earlier }, /only delete messages/],
    ]
    const actions = new Set<string>()
    for (const [name, given, reason] of calls) {
      const gated = await gateOf(name, given)
      assert.match(gated?.reason ?? "", reason, JSON.stringify(given))
      actions.add(`${name} ${JSON.stringify(gated?.action)}`)
      // What an owner's rule looks at is what the question shows.
      const { summary, action } = { ...(await describedOf(name, given)) }
      assert.deepEqual([summary, action], [gated?.summary, gated?.action])
      await assert.rejects(use(name, given, tainted), { code: "forbidden", message: reason })
    }
    assert.equal(actions.size, calls.length)
    const sent = await message({ action: "send", to: friend, message: "allowed" }, { ...tainted, approved: true })
    assert.equal(answerOf(sent).chatId, `${friend}`)
  })

  test("is not told which chats the bot knows when it acts for others", async () => {
    const foreign = { origin: "webhook", trusted: false } as const
    const gated = await gateOf("message", { action: "send", to: 999_999, message: "x" }, foreign)
    assert.match(gated?.reason ?? "", /only reach/)
    const known = async () => await gateOf("message", { action: "send", to: 999_999, message: "x" })
    await assert.rejects(known, /does not know/)
  })
})

describe("buttons", () => {
  // Sixty-four characters and more bytes: it is those that count.
  const long = "x".repeat(54) + "ü".repeat(10)
  const rows = [[{ text: "Yes", callback_data: "yes", style: "success" }], [{ text: "Long", callback_data: long }]]
  const keyboard = () => said()[0]?.reply_markup?.inline_keyboard.flat() as { text: string; callback_data: string }[]

  test("come with their values, the long ones kept here under a key", async () => {
    await message({ action: "send", message: "?", buttons: rows })
    assert.deepEqual(
      keyboard().map(({ text }) => text),
      ["Yes", "Long"],
    )
    const values = keyboard().map((each) => readButtonValue(bench.store, each.callback_data)?.value)
    assert.deepEqual(values, ["yes", long])
    assert.ok(Buffer.byteLength(keyboard()[1]?.callback_data ?? "") <= 64)
    assert.equal(readButtonValue(bench.store, "kept:unknown"), undefined)
  })

  test("stay through an edit that does not speak of them, and go with one that does", async () => {
    const { messageId } = answerOf(await message({ action: "send", message: "?", buttons: rows }))
    await message({ action: "edit", messageId, message: "!" })
    assert.deepEqual([said()[0]?.text, keyboard().length], ["!", 2])
    await message({ action: "edit", messageId, message: "!!", buttons: [] })
    assert.equal(said()[0]?.reply_markup, undefined)
  })

  test("that come with an edit have their values too, and the message is the same for what is said of it", async () => {
    const { messageId } = answerOf(await message({ action: "send", message: "?" }))
    const other = [[{ text: "Other", callback_data: `other ${long}` }]]
    const edited = await message({ action: "edit", messageId, message: "!", buttons: other })
    assert.equal(answerOf(edited)["messageId"], messageId)
    assert.equal(readButtonValue(bench.store, keyboard()[0]?.callback_data ?? "")?.value, `other ${long}`)
  })

  for (const capabilities of [{ inlineButtons: "off" }, { inlineButtons: "group" }, []]) {
    test(`are refused in a direct chat when capabilities are ${JSON.stringify(capabilities)}`, async () => {
      begin({ capabilities })
      await assert.rejects(message({ action: "send", message: "?", buttons: rows }), { code: "forbidden" })
      const { messageId } = answerOf(await message({ action: "send", message: "?", buttons: [[]] }))
      await assert.rejects(message({ action: "edit", messageId, message: "!", buttons: rows }), { code: "forbidden" })
      await message({ action: "edit", messageId, message: "!", buttons: [] })
      assert.equal(said()[0]?.text, "!")
    })
  }
})

describe("a turn", () => {
  const reply = async (text: string, input: Partial<TurnInput> = {}) => {
    const { store } = bench
    const turn: TurnInput = {
      agentId: "main",
      sessionKey: "agent:main:main",
      purpose: "chat",
      origin: "owner",
      trusted: true,
      text: "x",
      route,
      ...input,
    }
    const delivery = createDelivery({
      sessions: createSessions({ store, ids: systemIds, config: () => ({}) as never }),
      senders: () => new Map([["chatapp", bench.channel.sender]]),
      ackMaxChars: () => 300,
      log: silentLog,
    })
    const job = store.handle.prepare("select id from job where run_id = ?").get(run) as { id: number }
    return await store.write(async (write) =>
      delivery.deliverTurn(write, { input: turn, jobId: job.id, text, media: new Set(), isError: false }),
    )
  }
  const startRun = () =>
    bench.store.write(async (write) => void write.addJob(turnJob(run, { route, sessionKey: "x" } as TurnInput)))

  test("that has answered its chat with the tool does not answer twice", async () => {
    begin({ allowFrom: [friend] })
    await startRun()
    await message({ action: "send", message: "by tool" })
    assert.match(await reply("Sent."), /by tool/)
    assert.deepEqual(
      said().map((each) => each.text),
      ["by tool"],
    )
  })

  test("that has only reacted, or written elsewhere, still answers", async () => {
    begin({ allowFrom: [friend] })
    await startRun()
    await message({ action: "react", messageId: first, emoji: "👍" })
    await message({ action: "send", to: friend, message: "elsewhere" })
    assert.match(await reply("Done."), /^queued for/)
    await bench.until(() => written().every((row) => row.state === "sent"), "the answer")
    assert.equal(said()[0]?.text, "Done.")
  })
})

describe("media from the web", () => {
  let server: Server
  let base: string
  beforeEach(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? ""
      if (path.startsWith("/minutes")) response.setHeader("content-type", "application/pdf").end("%PDF")
      else if (path === "/a.png") response.setHeader("content-type", "image/png").end("picture")
      else if (path === "/large") response.end(Buffer.alloc(3 * 1024 * 1024))
      else if (path === "/away") response.writeHead(302, { location: "http://169.254.169.254/latest" }).end()
      else if (path === "/file") response.writeHead(302, { location: "file:///etc/passwd" }).end()
      else if (path === "/loop") response.writeHead(302, { location: "/loop" }).end()
      else response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    base = `http://media.test:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => new Promise((resolve) => server.close(resolve)))

  test("is fetched and sent as what it is", async () => {
    await message({ action: "send", media: `${base}/a.png`, message: "look" })
    assert.deepEqual([said()[0]?.caption, calls("sendPhoto").length], ["look", 1])
    await message({ action: "send", media: `${base}/minutes%20of%20may.pdf?x=1` })
    assert.equal(said()[1]?.document?.file_name, "minutes_of_may.pdf")
    const byOtherName = { action: "sendMessage", to: me, content: "", mediaUrl: `${base}/a.png` }
    await use("chatapp", byOtherName)
    assert.equal(calls("sendPhoto").length, 2)
  })

  test("that the chat does not take is told of, though its words have gone", async () => {
    begin()
    const description = "Bad Request: not enough rights to send photos to the chat"
    bench.emulator.control.fault({ kind: "status", method: "sendPhoto", status: 400, description })
    const result = await message({ action: "send", media: `${base}/a.png`, message: "look" })
    assert.equal(result.isError, true)
    assert.match(JSON.stringify(result.content), /the file was not/)
    assert.match(said()[0]?.text ?? "", /^look\n\n\(The file cannot be sent/)
  })

  test("that the chat does not take is told the model alone where it has no words", async () => {
    begin()
    const job = { runId: run, kind: "turn", laneKey: run, payload: {}, runAt: 4e12 }
    await bench.store.write(async (write) => void write.addJob(job))
    const description = "Bad Request: not enough rights to send photos to the chat"
    bench.emulator.control.fault({ kind: "status", method: "sendPhoto", status: 400, description })
    const result = await message({ action: "send", media: `${base}/a.png` })
    assert.match(JSON.stringify([result.isError, result.content]), /^\[true,.*It was not done.*not enough rights/)
    assert.deepEqual([said(), written().map(({ state }) => state)], [[], ["dead"]])
  })

  test("is refused when it is too large, gone, not on the web, or leads to an inner address", async () => {
    begin({ mediaMaxMb: 1 })
    const bad = [`${base}/large`, `${base}/none`, `${base}/away`, `${base}/file`, `${base}/loop`, "http://other.test/a"]
    bad.push("file:///etc/passwd", "ftp://media.test/a", `${base.replace("//", "//user:secret@")}/a.png`)
    for (const media of bad) await assert.rejects(message({ action: "send", media }), { code: "media-refused" }, media)
    assert.deepEqual(written(), [])
  })

  test("is never asked for at an inner address", async () => {
    const shared = bench
    bench = await startBench()
    try {
      for (const host of [
        "127.0.0.1",
        "[::1]",
        "169.254.169.254",
        "[::ffff:127.0.0.1]",
        "0x7f.1",
        "localhost",
        "2130706433",
      ]) {
        const media = `http://${host}/a.png`
        const refusal = { code: "media-refused", message: /not on the public internet/ }
        await assert.rejects(message({ action: "send", media }), refusal, host)
      }
    } finally {
      await bench.end()
      bench = shared
    }
  })

  test("may come from the public internet only", () => {
    const open = ["8.8.8.8", "1.1.1.1", "2606:4700::1111"]
    const shut = ["10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::", "fe80::1"]
    shut.push("fc00::1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::", "not an address", "")
    assert.deepEqual(open.filter(isPublicAddress), open)
    assert.deepEqual(shut.filter(isPublicAddress), [])
  })
})

describe("a file of this machine", () => {
  test("is sent from the media folder and from nowhere else", async () => {
    const folder = join(bench.folder, "media")
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "a.pdf"), "%PDF")
    await message({ action: "send", media: join(folder, "a.pdf") })
    assert.equal(said()[0]?.document?.file_name, "a.pdf")
    await assert.rejects(message({ action: "send", media: "/etc/hostname" }), { code: "media-refused" })
    assert.equal(written().length, 1)
  })
})
