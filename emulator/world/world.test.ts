// Chats as people and bots see them: entities fitted to the text, privacy mode, memberships, reactions, local files.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { test } from "node:test"
import type { Message, Update } from "grammy/types"
import { onePixel, openBench, type Bench } from "../testing.ts"

async function sent(bench: Bench, fields: object): Promise<Message> {
  const { body } = await bench.call("sendMessage", { chat_id: 1001, ...fields })
  assert.equal(body.ok, true, body.description)
  return body.result as Message
}

test("fits entities to the text: trimmed, clipped, merged, found", async () => {
  await using bench = await openBench()
  const html = { parse_mode: "HTML" }
  const trimmed = await sent(bench, { text: "  <b> bold </b>  ", ...html })
  assert.deepEqual([trimmed.text, trimmed.entities], ["bold", [{ type: "bold", offset: 0, length: 4 }]])
  const merged = await sent(bench, { text: "<b>a</b><b>b</b> <i>c</i>", ...html })
  assert.deepEqual(merged.entities, [
    { type: "bold", offset: 0, length: 2 },
    { type: "italic", offset: 3, length: 1 },
  ])
  const found = await sent(bench, {
    text: "see https://e.com/x?y=1. /help@my_bot @someone #tag <code>/no #no</code>",
    ...html,
  })
  assert.deepEqual(
    found.entities?.map(({ type, offset, length }) => [type, found.text?.slice(offset, offset + length)]),
    [
      ["url", "https://e.com/x?y=1"],
      ["bot_command", "/help@my_bot"],
      ["mention", "@someone"],
      ["hashtag", "#tag"],
      ["code", "/no #no"],
    ],
  )
  const mention = await sent(bench, {
    text: '<a href="tg://user?id=1001">you</a> <a href="tg://user?id=5">who</a>',
    ...html,
  })
  assert.deepEqual(
    mention.entities?.map((entity) => entity.type),
    ["text_mention"],
  )
  const given = await sent(bench, { text: "a\r\nbc", entities: [{ type: "bold", offset: 3, length: 2 }] })
  assert.deepEqual([given.text, given.entities], ["a\nbc", [{ type: "bold", offset: 2, length: 2 }]])
})

test("privacy mode hides what is not meant for the bot", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const shy = control.addBot({ username: "shy_bot", privacy: true })
  const botId = shy.user.id
  const group = control.addChat({ type: "group", members: [1001], botId })
  const place = { userId: 1001, chatId: group.id }
  const texts = () => (control.updates({ botId }) as Update[]).map((update) => update.message?.text)
  for (const text of ["just talk", "/command", "hey @Shy_Bot"]) control.sendText({ ...place, text })
  assert.deepEqual(texts(), ["/command", "hey @Shy_Bot"])
  control.setMember({ chatId: group.id, userId: botId, status: "administrator" })
  control.sendText({ ...place, text: "talk again" })
  assert.equal(texts().at(-1), "talk again")
})

test("tells bots about memberships, and administrators about reactions", async () => {
  await using bench = await openBench()
  const { control, bot } = bench.emulator
  await bench.call("getUpdates", { offset: -1, allowed_updates: ["my_chat_member", "message_reaction", "message"] })
  const group = control.addChat({ type: "supergroup", members: [1001] })
  const message = control.sendText({ userId: 1001, chatId: group.id, text: "hi" })
  const reaction = { userId: 1001, chatId: group.id, messageId: message.message_id }
  control.react({ ...reaction, emoji: ["👍"] })
  control.setMember({ chatId: group.id, userId: bot.id, status: "administrator", by: 1001 })
  control.react({ ...reaction, emoji: ["🔥"] })
  const updates = control.updates() as Update[]
  const changes = updates.flatMap((update) => update.my_chat_member?.new_chat_member.status ?? [])
  assert.deepEqual(changes, ["administrator"])
  const reactions = updates.flatMap((update) => update.message_reaction ?? [])
  assert.equal(reactions.length, 1)
  assert.deepEqual(reactions[0]?.old_reaction, [{ type: "emoji", emoji: "👍" }])
  assert.deepEqual(reactions[0]?.new_reaction, [{ type: "emoji", emoji: "🔥" }])
})

test("gives each bot its own private chat with a user", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const other = control.addBot()
  control.sendText({ userId: 1001, botId: other.user.id, text: "to the other" })
  assert.deepEqual(
    control.messages({ chatId: 1001, botId: other.user.id }).map((message) => message.text),
    ["to the other"],
  )
  assert.deepEqual(
    control.messages({ chatId: 1001 }).map((message) => message.text),
    ["/start"],
  )
})

test("a server in local mode hands out absolute paths, and removes the files at its end", async () => {
  const bench = await openBench({ localMode: true })
  const message = bench.emulator.control.sendMedia({ userId: 1001, kind: "photo", data: onePixel })
  const { body } = await bench.call("getFile", { file_id: message.photo?.at(-1)?.file_id })
  const { file_path: path } = body.result as { file_path: string }
  assert.deepEqual(readFileSync(path), onePixel)
  await bench.emulator.stop()
  assert.equal(existsSync(path), false)
})
