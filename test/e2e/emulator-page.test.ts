// The emulator's chat page, as a person uses it: groups, topics, a second bot, replies, edits, files, voice, menu, drafts.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import type { Browser, Page } from "playwright-core"
import { chromium } from "playwright-core"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Emulator, startEmulator } from "../../emulator/index.ts"
import { visitorArguments } from "../support/chromium.ts"
import { until } from "../support/world.ts"

let emulator: Emulator
let browser: Browser
let page: Page
const complaints: string[] = []

before(async () => {
  emulator = await startEmulator({ seed: 3 })
  const sound = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
  browser = await chromium.launch({
    executablePath: process.env["SVC_TEST_CHROMIUM"] ?? "/usr/bin/chromium",
    args: [...visitorArguments, ...sound],
  })
  page = await browser.newPage({ viewport: { width: 390, height: 700 } })
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(String(error)))
  await page.goto(emulator.pageUrl)
})

after(async () => {
  await browser.close()
  await emulator.stop()
})

async function asBot(method: string, parameters: object, token = emulator.token): Promise<{ message_id: number }> {
  const response = await fetch(`${emulator.url}/bot${token}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(parameters),
  })
  const { ok, result, description } = (await response.json()) as never as Record<string, never>
  assert.ok(ok, description)
  return result as never
}

const field = () => page.getByLabel("Message", { exact: true })
const box = (text: string) => page.getByRole("article").filter({ hasText: text })
const person = () => emulator.control.users()[0]?.id as number
const last = (chatId = person()) => emulator.control.messages({ chatId }).at(-1)

async function write(text: string): Promise<void> {
  await field().fill(text)
  await field().press("Enter")
  await box(text).waitFor()
}

test("a person writes, answers, corrects, deletes and reacts", async () => {
  await page.getByText("Nothing was said here yet").waitFor()
  await write("hello there")
  const { message_id: asked } = await asBot("sendMessage", {
    chat_id: person(),
    text: "what is <b>new</b>?",
    parse_mode: "HTML",
  })
  assert.equal(await box("what is new?").locator("b").textContent(), "new")
  await box("what is new?").getByRole("button", { name: "Reply" }).click()
  await write("nothing much")
  assert.equal(last()?.reply_to_message?.message_id, asked)
  await box("nothing much").locator(".quote", { hasText: "what is new?" }).waitFor()
  await box("nothing much").getByRole("button", { name: "Edit" }).click()
  assert.equal(await field().inputValue(), "nothing much")
  await write("nothing at all")
  await box("nothing at all")
    .getByText(/edited/)
    .waitFor()
  await box("nothing at all").getByRole("button", { name: "Delete" }).click()
  await box("nothing at all").waitFor({ state: "detached" })
  assert.equal(last()?.message_id, asked)
  await write("once more")
  await field().fill("half a thou")
  await box("once more").getByRole("button", { name: "Edit" }).click()
  assert.equal(await field().inputValue(), "once more")
  await field().press("Escape")
  assert.equal(await field().inputValue(), "half a thou", "what was begun before the edit is there again")
  await box("once more").getByRole("button", { name: "Delete" }).click()
  await box("once more").waitFor({ state: "detached" })
  await box("what is new?").getByRole("button", { name: "React" }).click()
  await box("what is new?").getByRole("button", { name: "🔥" }).click()
  await box("what is new?").locator(".emoji", { hasText: "🔥" }).waitFor()
  assert.deepEqual(emulator.control.reactions({ chatId: person(), messageId: asked }), { [person()]: ["🔥"] })
})

test("the menu of the bot is offered behind a slash", async () => {
  const commands = [
    { command: "status", description: "How things are" },
    { command: "stop", description: "Stop the answer" },
  ]
  await asBot("setMyCommands", { commands: [{ command: "help", description: "for everybody" }] })
  await asBot("setMyCommands", { commands, scope: { type: "all_private_chats" } })
  await field().fill("")
  await field().blur()
  await field().focus()
  await asBot("setMyCommands", {
    commands: [...commands, { command: "new", description: "Said while somebody writes" }],
    scope: { type: "all_private_chats" },
  })
  await field().fill("/")
  await page.getByRole("list", { name: "Commands" }).getByText("Said while somebody writes").waitFor()
  await field().fill("/st")
  const menu = page.getByRole("list", { name: "Commands" })
  await menu.getByText("Stop the answer").waitFor()
  assert.equal(await menu.getByRole("button").count(), 2)
  await menu.getByRole("button", { name: "/stop" }).click()
  assert.equal(await field().inputValue(), "/stop ")
  await field().press("Enter")
  await box("/stop").waitFor()
})

test("any file, several as one album, and a voice message from the microphone", async () => {
  await page.getByLabel("Attach files").setInputFiles([
    { name: "plan.pdf", mimeType: "application/pdf", buffer: Buffer.from("a plan") },
    { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a note") },
  ])
  await page.getByLabel("Send note.txt as").waitFor()
  await field().fill("both of them")
  await field().press("Enter")
  await box("note.txt").waitFor()
  const [plan, note] = emulator.control.messages({ chatId: person() }).slice(-2)
  assert.equal(plan?.document?.file_name, "plan.pdf")
  assert.equal(plan?.caption, "both of them")
  assert.equal(note?.media_group_id, plan?.media_group_id)
  assert.ok(note?.media_group_id)
  const isAtEnd = () =>
    page.evaluate<true | undefined>(`(() => { const log = document.getElementById("log")
      return log.scrollHeight - log.scrollTop - log.clientHeight < 2 || undefined })()`)
  const picture = readFileSync(join(import.meta.dirname, "../../docs/pictures/now.webp"))
  await page.getByLabel("Attach files").setInputFiles([{ name: "now.webp", mimeType: "image/webp", buffer: picture }])
  await page.getByLabel("Send now.webp as").waitFor()
  await until("the newest stays in view above what is attached", isAtEnd)
  await field().press("Enter")
  await until("the picture has come", () =>
    page.evaluate<true | undefined>(
      `[...document.querySelectorAll("#log img")].some((one) => one.naturalWidth > 0) || undefined`,
    ),
  )
  await until("the picture is in view, whole", isAtEnd)
  const download = page.waitForEvent("download")
  await box("plan.pdf").getByText("plan.pdf").click()
  assert.equal((await download).suggestedFilename(), "plan.pdf")
  await page.getByRole("button", { name: "Record a voice message" }).click()
  await page.getByRole("button", { name: "Send the voice message" }).click()
  await page.getByRole("article").locator("audio").waitFor()
  const { voice } = last() ?? {}
  assert.ok(voice && (voice.file_size ?? 0) > 0 && voice.duration > 0)
})

test("a draft stands below the newest message, formatted, and can be stopped", async () => {
  await asBot("sendMessageDraft", { chat_id: person(), draft_id: 7, text: "so *far*", parse_mode: "MarkdownV2" })
  const draft = page.getByRole("article", { name: "Draft" })
  assert.equal(await draft.locator("b").textContent(), "far")
  assert.equal(await page.locator("#log > :last-child").getAttribute("aria-busy"), "true")
  await asBot("sendMessage", { chat_id: person(), text: "so far, so good" })
  await draft.waitFor({ state: "detached" })
})

test("what could not be sent stays, also over a reload", async () => {
  emulator.control.block({ userId: person() })
  await field().fill("are you there?")
  await field().press("Enter")
  await page.getByRole("status").getByText("this user has blocked the bot").waitFor()
  assert.equal(await field().inputValue(), "are you there?")
  emulator.control.block({ userId: person(), blocked: false })
  await page.reload()
  await box("so far, so good").waitFor()
  assert.equal(await field().inputValue(), "are you there?")
  await field().press("Enter")
  await box("are you there?").waitFor()
  assert.equal(await field().inputValue(), "")
})

test("older messages come as they are scrolled to, under the day on which they were written", async () => {
  const userId = person()
  for (let number = 0; number < 120; number += 1) emulator.control.sendText({ userId, text: `line ${number}.` })
  emulator.control.advanceClock({ ms: 26 * 3_600_000 })
  emulator.control.sendText({ userId, text: "a day later" })
  await page.reload()
  await box("a day later").waitFor()
  assert.equal(await page.locator(".day").count(), 2)
  assert.equal(await box("line 60.").count(), 0)
  const log = page.locator("#log")
  await log.evaluate((element: { scrollTop: number }) => {
    element.scrollTop = 0
  })
  await box("line 60.").waitFor()
  const top = await log.evaluate((element: { scrollTop: number }) => element.scrollTop)
  assert.ok(top > 200, "what was looked at stays in view")
})

test("groups, topics and a second bot", async () => {
  const make = async (what: string, name: string) => {
    await page.getByLabel("New", { exact: true }).selectOption(what)
    await page.getByRole("dialog").getByRole("textbox").fill(name)
  }
  await make("person", "Bo")
  await page.getByRole("button", { name: "New person" }).click()
  await make("group", "Garden")
  await page.getByLabel("with topics").check()
  await page.getByRole("button", { name: "New group" }).click()
  await page.getByRole("heading", { name: "Garden" }).waitFor()
  await make("topic", "Roses")
  await page.getByRole("button", { name: "New topic" }).click()
  await page.getByText("Topic “Roses” was made").waitFor()
  await write("red or white?")
  const group = emulator.control.chats().find(({ type }) => type === "supergroup")?.id as number
  const asked = last(group)
  assert.equal(asked?.from?.first_name, "Bo")
  await asBot("sendMessage", { chat_id: group, text: "Both.", message_thread_id: asked?.message_thread_id })
  await box("Both.").locator(".author", { hasText: emulator.bot.first_name }).waitFor()
  await make("bot", "Gardener")
  await page.getByRole("button", { name: "New bot" }).click()
  const token = (await page.getByRole("dialog").locator("code").textContent()) ?? ""
  await page.getByRole("button", { name: "Close" }).click()
  await page.getByLabel("New", { exact: true }).selectOption("members")
  await page.getByLabel("Status of Gardener").selectOption("administrator")
  await page.getByRole("button", { name: "Close" }).click()
  await asBot("sendMessage", { chat_id: group, text: "White, I say." }, token)
  await page.getByLabel("Topic", { exact: true }).selectOption("All topics")
  await box("White, I say.").locator(".author", { hasText: "Gardener" }).waitFor()
  await page.getByLabel("Bot", { exact: true }).selectOption("Gardener")
  await page.getByLabel("Chat", { exact: true }).selectOption("Private chat")
  await page.getByRole("heading", { name: "Gardener" }).waitFor()
  await write("just the two of us")
  assert.equal(
    ((await asBot("getUpdates", {}, token)) as never as { message?: { text?: string } }[]).at(-1)?.message?.text,
    "just the two of us",
  )
})

test("fits a phone and complains of nothing", async () => {
  const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
  assert.ok(wider <= 0, `${wider} pixels too wide`)
  assert.deepEqual(
    complaints.filter((line) => !line.includes("status of 409")),
    [],
  )
})
