// What the methods refuse, with the platform's words.
import assert from "node:assert/strict"
import { test } from "node:test"
import { onePixel, openBench } from "../testing.ts"

const here = { chat_id: 1001 }

test("refuses bad texts in the platform's words", async () => {
  await using bench = await openBench()
  const cases: [Record<string, unknown>, string][] = [
    [{}, "Bad Request: message text is empty"],
    [{ text: "" }, "Bad Request: message text is empty"],
    [{ text: "x", parse_mode: "HTML5" }, "Bad Request: unsupported parse_mode"],
    [
      { text: "<b>x", parse_mode: "HTML" },
      "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\"",
    ],
    [{ text: " \n " }, "Bad Request: text must be non-empty"],
    [{ text: "<b></b>", parse_mode: "html" }, "Bad Request: text must be non-empty"],
    [{ text: "x".repeat(4097) }, "Bad Request: message is too long"],
    [{ text: "🙂".repeat(4097) }, "Bad Request: message is too long"],
    [{ text: "é".repeat(16_385) }, "Bad Request: text is too long"],
  ]
  for (const [fields, description] of cases)
    assert.equal(await bench.refusal("sendMessage", { ...here, ...fields }), description)
  assert.equal((await bench.call("sendMessage", { ...here, text: "🙂".repeat(4096) })).body.ok, true)
})

test("refuses chats that the bot cannot write to", async () => {
  await using bench = await openBench()
  const { control, bot } = bench.emulator
  const stranger = control.addUser()
  const group = control.addChat({ type: "group" })
  const kicked = control.addChat({ type: "supergroup", botStatus: "kicked" })
  const left = control.addChat({ type: "channel", botStatus: "left" })
  const muted = control.addChat({ type: "supergroup" })
  control.setChat({ chatId: muted.id, canSend: false })
  const upgraded = control.migrate({ chatId: group.id })
  const send = (chatId: unknown) => bench.refusal("sendMessage", { chat_id: chatId, text: "x" })
  assert.equal(await send(""), "Bad Request: chat_id is empty")
  assert.equal(await send(4242), "Bad Request: chat not found")
  assert.equal(await send("@nobody_here"), "Bad Request: chat not found")
  assert.equal(await send(stranger.id), "Forbidden: bot can't initiate conversation with a user")
  assert.equal(await send(kicked.id), "Forbidden: bot was kicked from the supergroup chat")
  assert.equal(await send(left.id), "Forbidden: bot is not a member of the channel chat")
  assert.equal(await send(muted.id), "Bad Request: not enough rights to send text messages to the chat")
  const moved = await bench.call("sendMessage", { chat_id: group.id, text: "x" })
  assert.equal(moved.body.description, "Bad Request: group chat was upgraded to a supergroup chat")
  assert.equal(moved.body.parameters?.migrate_to_chat_id, upgraded.id)
  control.block({ userId: 1001 })
  assert.equal(await send(1001), "Forbidden: bot was blocked by the user")
  control.block({ userId: 1001, blocked: false })
  control.setDeactivated({ userId: 1001 })
  assert.equal(await send(1001), "Forbidden: user is deactivated")
  assert.equal(control.chats({ botId: bot.id }).length > 0, true)
})

test("keeps topics and replies apart", async () => {
  await using bench = await openBench()
  const { control, bot } = bench.emulator
  const forum = control.addChat({ type: "supergroup", forum: true, members: [1001] })
  const plain = control.addChat({ type: "supergroup" })
  const topic = control.addTopic({ userId: 1001, chatId: forum.id, name: "News" })
  const send = (fields: object) => bench.call("sendMessage", { chat_id: forum.id, text: "x", ...fields })
  assert.equal((await send({ message_thread_id: 1 })).body.description, "Bad Request: message thread not found")
  assert.equal((await send({ message_thread_id: 999 })).body.description, "Bad Request: message thread not found")
  const sent = (await send({ message_thread_id: topic.threadId })).body.result as Record<string, unknown>
  assert.equal(sent["message_thread_id"], topic.threadId)
  assert.equal((await bench.call("sendMessage", { chat_id: plain.id, text: "x", message_thread_id: 77 })).body.ok, true)
  assert.equal(
    (await bench.call("sendChatAction", { chat_id: forum.id, action: "typing", message_thread_id: 1 })).body.ok,
    true,
  )
  control.setTopic({ chatId: forum.id, threadId: topic.threadId, closed: true })
  assert.equal((await send({ message_thread_id: topic.threadId })).body.description, "Bad Request: TOPIC_CLOSED")
  const reply = { message_id: 999 }
  assert.equal(
    (await send({ reply_parameters: reply })).body.description,
    "Bad Request: message to be replied not found",
  )
  assert.equal((await send({ reply_parameters: { ...reply, allow_sending_without_reply: true } })).body.ok, true)
  assert.equal(
    await bench.refusal("createForumTopic", { chat_id: forum.id, name: "x" }),
    "Bad Request: not enough rights to create a topic",
  )
  control.setMember({ chatId: forum.id, userId: bot.id, status: "administrator" })
  assert.equal(
    await bench.refusal("createForumTopic", { chat_id: forum.id, name: " " }),
    "Bad Request: name must be non-empty",
  )
  assert.equal((await bench.call("createForumTopic", { chat_id: forum.id, name: "Made by the bot" })).body.ok, true)
})

test("checks keyboards", async () => {
  await using bench = await openBench()
  const keyboard = (button: object) => ({ ...here, text: "x", reply_markup: { inline_keyboard: [[button]] } })
  const refusal = (button: object) => bench.refusal("sendMessage", keyboard(button))
  assert.equal(
    await bench.refusal("sendMessage", { ...here, text: "x", reply_markup: "{" }),
    "Bad Request: can't parse reply keyboard markup JSON object",
  )
  assert.match(await refusal({ text: "no type" }), /Text buttons are unallowed in the inline keyboard$/)
  assert.match(await refusal({ text: "x", callback_data: "x", style: "loud" }), /Invalid button style specified$/)
  assert.equal(await refusal({ text: "x", callback_data: "é".repeat(33) }), "Bad Request: BUTTON_DATA_INVALID")
  assert.equal(
    await refusal({ text: " ", callback_data: "x" }),
    "Bad Request: inline keyboard button text must be non-empty",
  )
  assert.equal((await bench.call("sendMessage", keyboard({ text: "x", callback_data: "é".repeat(32) }))).body.ok, true)
})

test("edits own messages only, and only when something changes", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const sent = (await bench.call("sendMessage", { ...here, text: "one" })).body.result as { message_id: number }
  const edit = { ...here, message_id: sent.message_id }
  assert.match(
    await bench.refusal("editMessageText", { ...edit, text: "one" }),
    /^Bad Request: message is not modified: specified new/,
  )
  assert.equal((await bench.call("editMessageText", { ...edit, text: "two" })).body.ok, true)
  assert.equal(
    await bench.refusal("editMessageText", { ...edit, message_id: 999, text: "x" }),
    "Bad Request: message to edit not found",
  )
  assert.equal(
    await bench.refusal("editMessageText", { ...edit, message_id: 1, text: "x" }),
    "Bad Request: message can't be edited",
  )
  assert.equal(control.messages({ chatId: 1001 }).at(-1)?.text, "two")
  assert.equal(await bench.refusal("deleteMessage", here), "Bad Request: message identifier is not specified")
  assert.equal(
    await bench.refusal("deleteMessage", { ...here, message_id: 999 }),
    "Bad Request: message to delete not found",
  )
  control.advanceClock({ ms: 49 * 3_600_000 })
  assert.equal(await bench.refusal("deleteMessage", edit), "Bad Request: message can't be deleted")
})

test("checks the command menu", async () => {
  await using bench = await openBench()
  const refusal = (command: string, description: string) =>
    bench.refusal("setMyCommands", { commands: [{ command, description }] })
  assert.equal(await refusal("", "x"), "Bad Request: command must be non-empty")
  assert.equal(await refusal("a".repeat(33), "x"), "Bad Request: command length must not exceed 32")
  assert.equal(await refusal("a", ""), "Bad Request: command description must be non-empty")
  assert.equal(await refusal("a", "d".repeat(257)), "Bad Request: command description length must not exceed 256")
  assert.equal(await refusal("Upper", "x"), "Bad Request: BOT_COMMAND_INVALID")
  const many = Array.from({ length: 101 }, (_, index) => ({ command: `c${index}`, description: "x" }))
  assert.equal(await bench.refusal("setMyCommands", { commands: many }), "Bad Request: BOT_COMMANDS_TOO_MUCH")
  assert.equal(
    (await bench.call("setMyCommands", { commands: [{ command: "/help", description: "x" }] })).body.ok,
    true,
  )
  assert.deepEqual(bench.emulator.control.commands(), [{ command: "help", description: "x" }])
  assert.equal((await bench.call("setMyCommands")).body.ok, true)
  assert.deepEqual(bench.emulator.control.commands(), [])
})

test("checks reactions, actions and drafts", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const react = (emoji: string, messageId = 1) => ({
    ...here,
    message_id: messageId,
    reaction: [{ type: "emoji", emoji }],
  })
  assert.equal(await bench.refusal("setMessageReaction", react("✅")), "Bad Request: REACTION_INVALID")
  assert.equal(await bench.refusal("setMessageReaction", react("👍", 99)), "Bad Request: message to react not found")
  assert.equal((await bench.call("setMessageReaction", react("⚡️"))).body.ok, true)
  assert.deepEqual(Object.values(control.reactions({ chatId: 1001, messageId: 1 })), [["⚡️"]])
  assert.equal(
    await bench.refusal("sendChatAction", { ...here, action: "dance" }),
    "Bad Request: wrong parameter action in request",
  )
  await bench.call("sendChatAction", { ...here, action: "typing" })
  assert.equal(control.actions({ chatId: 1001 }).length, 1)
  control.advanceClock({ ms: 5001 })
  assert.equal(control.actions({ chatId: 1001 }).length, 0)
  const group = control.addChat({ type: "group" })
  const draft = { draft_id: 3, text: "thinking" }
  assert.equal(
    await bench.refusal("sendMessageDraft", { chat_id: group.id, ...draft }),
    "Bad Request: TEXTDRAFT_PEER_INVALID",
  )
  await bench.call("sendMessageDraft", { ...here, ...draft, can_stop: true })
  control.stopDraft({ userId: 1001, draftId: 3 })
  assert.equal(control.drafts({ chatId: 1001 }).length, 0)
  await bench.call("sendMessageDraft", { ...here, ...draft })
  control.advanceClock({ ms: 30_001 })
  assert.equal(control.drafts({ chatId: 1001 }).length, 0)
  const stopped = control.updates().at(-1) as Record<string, unknown>
  assert.deepEqual(Object.keys(stopped), ["update_id", "stopped_message_generation"])
})

test("checks files, and expires their links", async () => {
  await using bench = await openBench()
  const { control, url, token } = bench.emulator
  assert.equal(await bench.refusal("sendPhoto", here), "Bad Request: there is no photo in the request")
  assert.equal(
    await bench.refusal("sendPhoto", { ...here, photo: "http://127.0.0.1/x.png" }),
    "Bad Request: failed to get HTTP URL content",
  )
  assert.equal(await bench.refusal("getFile"), "Bad Request: file_id not specified")
  const message = control.sendMedia({ userId: 1001, kind: "photo", data: onePixel, caption: "look" })
  const fileId = message.photo?.at(-1)?.file_id ?? ""
  const again = await bench.call("sendPhoto", { ...here, photo: fileId, caption: "c".repeat(1025) })
  assert.equal(again.body.description, "Bad Request: message caption is too long")
  const { body } = await bench.call("getFile", { file_id: fileId })
  const link = `${url}/file/bot${token}/${(body.result as { file_path: string }).file_path}`
  assert.deepEqual(Buffer.from(await (await fetch(link)).arrayBuffer()), onePixel)
  control.advanceClock({ ms: 3_600_001 })
  assert.equal((await fetch(link)).status, 404)
  const big = control.sendMedia({ userId: 1001, kind: "document", data: Buffer.alloc(20 * 1024 * 1024 + 1) })
  assert.equal(await bench.refusal("getFile", { file_id: big.document?.file_id }), "Bad Request: file is too big")
})

test("sends albums as messages of one group", async () => {
  await using bench = await openBench()
  const form = new FormData()
  form.set("chat_id", "1001")
  form.set(
    "media",
    JSON.stringify([
      { type: "photo", media: "attach://a", caption: "first" },
      { type: "photo", media: "attach://b" },
    ]),
  )
  form.set("a", new Blob([onePixel]), "a.png")
  form.set("b", new Blob([onePixel]), "b.png")
  const response = await fetch(`${bench.emulator.url}/bot${bench.emulator.token}/sendMediaGroup`, {
    method: "POST",
    body: form,
  })
  const { result } = (await response.json()) as { result: { media_group_id: string; caption?: string }[] }
  assert.equal(new Set(result.map((message) => message.media_group_id)).size, 1)
  assert.deepEqual(
    result.map((message) => message.caption),
    ["first", undefined],
  )
  const many = Array.from({ length: 11 }, () => ({ type: "photo", media: "x" }))
  assert.equal(
    await bench.refusal("sendMediaGroup", { ...here, media: many }),
    "Bad Request: too many messages to send as an album",
  )
})
