// Answers that nobody foresaw, thousands of them: whatever a platform, or what answers in its place, says to any method,
// nothing stops, nothing throws, and nothing is taken for success that is none.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { type Client, createClient } from "./client.ts"
import type { Method } from "./method.ts"
import { isAnswerOf } from "./client-answers.ts"
import { type Bench, startBench } from "./test-bench/bench.ts"
import { mutate, randomOf } from "./test-bench/mutate.ts"
import { readBatch } from "./updates/batch.ts"

const owner = 4242
/** The long form: SVC_GARBAGE=100000. */
const rounds = Number(process.env["SVC_GARBAGE"] ?? (process.env["SVC_LONG_TESTS"] === undefined ? 3_000 : 10_000))
const fixtures = join(import.meta.dirname, "../../../test/fixtures/updates")

const chat = { id: owner, type: "private", first_name: "O" }
const message = { message_id: 9, date: 1_800_000_000, chat, text: "x" }
/** What the platform answers to each method when all is well. */
const honest: Record<Method, unknown> = {
  getMe: { id: 1, is_bot: true, first_name: "b", username: "b_bot", has_topics_enabled: false },
  getWebhookInfo: { url: "", has_custom_certificate: false, pending_update_count: 0 },
  getChat: { id: 1, type: "private", first_name: "b", username: "b_person" },
  getChatMember: { status: "member", user: { id: 1, is_bot: true, first_name: "b" } },
  getFile: { file_id: "f", file_unique_id: "u", file_size: 3, file_path: "photos/1.jpg" },
  getUpdates: [{ update_id: 5, message }],
  sendMessage: message,
  sendPhoto: message,
  sendDocument: message,
  sendVideo: message,
  sendAnimation: message,
  sendAudio: message,
  sendVoice: message,
  sendSticker: message,
  sendMediaGroup: [message],
  editMessageText: message,
  editMessageCaption: message,
  setWebhook: true,
  deleteWebhook: true,
  deleteMessage: true,
  setMessageReaction: true,
  sendMessageDraft: true,
  sendChatAction: true,
  answerCallbackQuery: true,
  setMyCommands: true,
  deleteMyCommands: true,
}
const methods = Object.keys(honest) as Method[]

test("a mutated answer to any method is a result of the right form or a failure, and never throws", async (context) => {
  const random = randomOf(7)
  let body = ""
  let status = 200
  const server = createServer((_request, response) => response.writeHead(status).end(body))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => (server.closeAllConnections(), server.close()))
  const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client: Client = await createClient({ token: "1:x", apiRoot })
  const seen = { ok: 0, refused: 0, page: 0, lost: 0, unsent: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const method = methods[round % methods.length] as Method
    const good = { ok: true, result: honest[method] }
    const bad = { ok: false, error_code: 429, description: "Too Many", parameters: { retry_after: 3 } }
    body = random() < 0.1 ? "<html>" : JSON.stringify(mutate(random() < 0.7 ? good : bad, random))
    status = random() < 0.8 ? 200 : 500
    const result = await client.call(method, {} as never, { timeoutMs: 5_000 })
    if (result.ok) {
      const said = (JSON.parse(body) as { ok: unknown }).ok
      assert.equal(said, true, `${method}: ${body}`)
      assert.ok(isAnswerOf(method, result.value), `${method}: ${body}`)
    } else if (result.failure.kind === "refused") {
      const { code, retryAfterSeconds: pause, migratedTo } = result.failure
      assert.ok(code >= 300 && code < 600 && (pause ?? 1) > 0 && /^-?\d+$/.test(migratedTo ?? "1"), body)
    }
    seen[result.ok ? "ok" : result.failure.kind] += 1
  }
  client.close()
  for (const kind of ["ok", "refused", "page", "lost"] as const) assert.ok(seen[kind] > 0, JSON.stringify(seen))
})

test("a result without the field that is read is no success", () => {
  const wrong: [Method, unknown][] = [
    ["sendMessage", true],
    ["sendMessage", { message_id: "9" }],
    ["sendMessage", { message_id: 0 }],
    ["sendMediaGroup", []],
    ["sendMediaGroup", [null]],
    ["getFile", { file_path: 7 }],
    ["getMe", { id: 1 }],
    ["getUpdates", { 0: {} }],
    ["deleteMessage", "true"],
  ]
  for (const [method, result] of wrong) assert.equal(isAnswerOf(method, result), false, method)
  for (const method of methods) assert.equal(isAnswerOf(method, honest[method]), true, method)
})

describe("an answer of getUpdates", () => {
  const ids = (...list: unknown[]) => list.map((id) => (id === null ? null : { update_id: id }))

  test("moves the offset behind ids that count up", () => {
    assert.equal(readBatch(ids(5, 6, 9), undefined, undefined).next, 10)
    assert.equal(readBatch(ids(5, 6, 9), 5, undefined).next, 10)
    assert.equal(readBatch(ids(5, 5), 5, undefined).next, 6)
  })

  test("never moves it for entries without an id, and sets those aside", () => {
    const batch = readBatch(ids(null, "7", 1.5, -1, 2 ** 31, 2 ** 60), 5, undefined)
    assert.deepEqual([batch.updates.length, batch.nameless.length, batch.next], [0, 6, undefined])
    assert.equal(readBatch(ids(5, null, 6), 5, undefined).next, 7)
  })

  test("that leaps or goes backwards is believed when it is said twice", () => {
    for (const leap of [ids(5, 2_000_000_000), ids(2_000_000_000), ids(9, 3), ids(2)]) {
      const first = readBatch(leap, 5, undefined)
      assert.equal(first.next, undefined)
      assert.notEqual(readBatch(leap, 5, first.doubted).next, undefined)
      assert.equal(readBatch(ids(5, 6), 5, first.doubted).next, 7)
    }
  })
})

describe("an account", () => {
  let bench: Bench
  const random = randomOf(11)
  const chatOf = (id: number) => ({ id, type: "private", first_name: "O" })
  const said = (text: string) => ({
    message_id: 1,
    date: 1_800_000_000,
    chat: chatOf(owner),
    from: { id: owner, is_bot: false, first_name: "O" },
    text,
  })
  const recorded = recordedUpdates()
  after(() => bench.end())

  test("goes on polling whatever it is answered, takes in what can be read, and keeps the rest for people", async () => {
    let polls = 0
    let lastId = 100
    const answer = (): unknown => {
      polls += 1
      if (polls > rounds / 50)
        return { ok: true, result: [{ update_id: (lastId += 1), message: said("the last word") }] }
      const entries = Array.from({ length: 5 }, () => {
        const base = recorded[Math.floor(random() * recorded.length)] as object
        const mutated = mutate(random() < 0.1 ? { message: said("hello") } : base, random)
        const id = { update_id: (lastId += 1) }
        return typeof mutated === "object" && mutated !== null && random() < 0.9 ? { ...mutated, ...id } : mutated
      })
      const whole = { ok: true, result: entries }
      return random() < 0.8 ? whole : mutate(whole, random)
    }
    const server = createServer((request, response) => {
      const isPoll = request.url?.endsWith("/getUpdates")
      response.end(JSON.stringify(isPoll ? answer() : mutate({ ok: true, result: { url: "", username: "b" } }, random)))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    bench = await startBench({
      chatapp: { apiRoot, allowFrom: [owner], groups: { "*": { requireMention: false } }, groupPolicy: "open" },
      pollTiming: { holdSeconds: 0, minBackoffMs: 1, maxBackoffMs: 1 },
    })
    await bench.until(
      () => bench.jobs().some(({ input }) => input.text === "the last word"),
      "the message after it all",
    )
    await bench.channel.stop()
    server.closeAllConnections()
    server.close()
    assert.equal(bench.logLines.filter((line) => line.includes("failed unexpectedly")).length, 0)
    for (const { input } of bench.jobs()) {
      if ("text" in input) assert.equal(typeof input.text, "string")
      assert.match(input.route?.chatId ?? "1", /^-?\d+$/)
    }
    const aside = bench.store.handle.prepare("select reason, body from unreadable_update").all()
    assert.ok(aside.length > 10, `${aside.length} set aside`)
  })
})

/** Recorded messages, and of the other kinds that are read one each. */
function recordedUpdates(): object[] {
  const messages = JSON.parse(readFileSync(join(fixtures, "messages.json"), "utf8")) as { message: object }[]
  const user = { id: owner, is_bot: false, first_name: "O", username: "o" }
  const reaction = { type: "emoji", emoji: "🔥" }
  return [
    ...messages.map((each) => ({ message: each.message })),
    { edited_message: { ...message, from: user, edit_date: 1_800_000_001 } },
    { callback_query: { id: "77", from: user, message: { ...message, from: user }, data: "yes", chat_instance: "1" } },
    {
      message_reaction: { chat, message_id: 9, user, date: 1_800_000_000, old_reaction: [], new_reaction: [reaction] },
    },
    {
      my_chat_member: {
        chat,
        from: user,
        date: 1,
        old_chat_member: { status: "left", user },
        new_chat_member: { status: "member", user },
      },
    },
    { stopped_message_generation: { chat, draft_id: 9 } },
    {
      message: {
        ...message,
        chat: { id: -100123, type: "supergroup", title: "g" },
        from: user,
        migrate_to_chat_id: -100124,
      },
    },
  ]
}
