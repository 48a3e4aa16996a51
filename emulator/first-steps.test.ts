// The emulator through its own front door: grammY as the bot, the control object as the people.
import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import { Api, InputFile, type GrammyError } from "grammy"
import { startEmulator, type Emulator } from "./index.ts"

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

describe("emulator", () => {
  let emulator: Emulator
  let api: Api

  beforeEach(async () => {
    emulator = await startEmulator({ seed: 7 })
    api = new Api(emulator.token, { apiRoot: emulator.url })
  })

  afterEach(() => emulator.stop())

  test("carries a message from a user to the bot and an answer back", async () => {
    const user = emulator.control.addUser({ firstName: "Ada" })
    emulator.control.sendText({ userId: user.id, text: "/start hello" })
    const [update] = await api.getUpdates()
    assert.equal(update?.message?.text, "/start hello")
    assert.deepEqual(update.message.entities, [{ type: "bot_command", offset: 0, length: 6 }])
    const sent = await api.sendMessage(user.id, "<b>Hi</b> &amp; welcome", { parse_mode: "HTML" })
    assert.equal(sent.text, "Hi & welcome")
    const seen = await emulator.control.waitForMessage({ chatId: user.id, from: "bot", match: "welcome" })
    assert.deepEqual(seen.entities, [{ type: "bold", offset: 0, length: 2 }])
  })

  test("refuses to write to a user who never wrote", async () => {
    const user = emulator.control.addUser()
    await assert.rejects(api.sendMessage(user.id, "hello"), (error: GrammyError) => {
      assert.equal(error.error_code, 403)
      assert.equal(error.description, "Forbidden: bot can't initiate conversation with a user")
      return true
    })
  })

  test("takes an uploaded photo and gives its bytes back to the people and through getFile", async () => {
    const user = emulator.control.addUser()
    emulator.control.sendText({ userId: user.id, text: "picture please" })
    const sent = await api.sendPhoto(user.id, new InputFile(picture, "dot.png"), { caption: "a dot" })
    const fileId = sent.photo.at(-1)?.file_id ?? ""
    assert.deepEqual(emulator.control.file(fileId).bytes, picture)
    const file = await api.getFile(fileId)
    const response = await fetch(`${emulator.url}/file/bot${emulator.token}/${file.file_path}`)
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), picture)
  })

  test("brings a button click to the bot and its answer to the feed", async () => {
    const user = emulator.control.addUser()
    emulator.control.sendText({ userId: user.id, text: "menu" })
    const sent = await api.sendMessage(user.id, "Choose", {
      reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "yes" }]] },
    })
    const { queryId } = emulator.control.click({ userId: user.id, messageId: sent.message_id, text: "Yes" })
    const updates = await api.getUpdates()
    assert.equal(updates.at(-1)?.callback_query?.data, "yes")
    await api.answerCallbackQuery(queryId)
    await assert.rejects(api.answerCallbackQuery(queryId), /query is too old/)
  })
})
