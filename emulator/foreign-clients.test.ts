// Bots written with other libraries work against the emulator as they are.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Bot as GramioBot, MediaUpload } from "gramio"
import { Bot as GrammyBot, InputFile } from "grammy"
import { Telegraf } from "telegraf"
import { onePixel, openBench, type Bench } from "./testing.ts"

/** Asks for a menu and clicks it, sends a photo, and checks what comes back. */
async function talk(bench: Bench): Promise<void> {
  const { control } = bench.emulator
  const from = { chatId: 1001, from: "bot" } as const
  // Until it polls, a starting client may still drop what was sent before.
  await control.waitForCall({ method: "getUpdates", phase: "started" })
  control.sendText({ userId: 1001, text: "/menu" })
  const menu = await control.waitForMessage({ ...from, match: "Pick one" })
  assert.deepEqual(menu.entities, [{ type: "bold", offset: 0, length: 4 }])
  const { queryId } = control.click({ userId: 1001, messageId: menu.message_id, data: "blue" })
  await control.waitForMessage({ ...from, match: "You picked blue" })
  const answered = await control.waitForCall({ method: "answerCallbackQuery" })
  assert.equal(answered.parameters["callback_query_id"], queryId)
  control.sendText({ userId: 1001, text: "/picture" })
  const picture = await control.waitForMessage({ ...from, match: "a dot" })
  assert.deepEqual(control.file(picture.photo?.at(-1)?.file_id ?? "").bytes, onePixel)
}

const html = "<b>Pick</b> one"
const keyboard = { inline_keyboard: [[{ text: "Blue", callback_data: "blue" }]] }

test("telegraf", async () => {
  await using bench = await openBench()
  const bot = new Telegraf(bench.emulator.token, { telegram: { apiRoot: bench.emulator.url } })
  bot.command("menu", (context) => context.reply(html, { parse_mode: "HTML", reply_markup: keyboard }))
  bot.action("blue", async (context) => {
    await context.answerCbQuery()
    await context.editMessageText("You picked blue")
  })
  bot.command("picture", (context) => context.replyWithPhoto({ source: onePixel }, { caption: "a dot" }))
  const running = bot.launch({ dropPendingUpdates: true })
  try {
    await talk(bench)
  } finally {
    bot.stop()
    await running
  }
})

test("gramio", async () => {
  await using bench = await openBench()
  const bot = new GramioBot(bench.emulator.token, { api: { baseURL: `${bench.emulator.url}/bot` } })
  bot.command("menu", (context) => context.send(html, { parse_mode: "HTML", reply_markup: keyboard }))
  bot.on("callback_query", async (context) => {
    await context.answer()
    await context.editText("You picked blue")
  })
  bot.command("picture", (context) => context.sendPhoto(MediaUpload.buffer(onePixel, "dot.png"), { caption: "a dot" }))
  await bot.start({ dropPendingUpdates: true })
  try {
    await talk(bench)
  } finally {
    const stopped = bot.stop(1000)
    // This client does not abort its poll; an update ends it.
    bench.emulator.control.sendText({ userId: 1001, text: "bye" })
    await stopped
  }
})

test("grammY", async () => {
  await using bench = await openBench()
  const bot = new GrammyBot(bench.emulator.token, { client: { apiRoot: bench.emulator.url } })
  bot.command("menu", (context) => context.reply(html, { parse_mode: "HTML", reply_markup: keyboard }))
  bot.callbackQuery("blue", async (context) => {
    await context.answerCallbackQuery()
    await context.editMessageText("You picked blue")
  })
  bot.command("picture", (context) => context.replyWithPhoto(new InputFile(onePixel, "dot.png"), { caption: "a dot" }))
  const running = bot.start({ drop_pending_updates: true })
  try {
    await talk(bench)
  } finally {
    await bot.stop()
    await running
  }
})
