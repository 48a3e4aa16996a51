// Sends under faults: what cannot have arrived is sent again, what may have arrived never is.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { once } from "node:events"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import type { MessageChange, Reply } from "../../../delivery/contract.ts"
import type { Route } from "../../../sessions/route.ts"
import type { OutboxRow } from "../../../store/index.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"
import type { TextPayload } from "./payload.ts"

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
/** One for all tests; each has settings and a person of its own. */
let bench: Bench
let person = 4242
/** The first message of the person's chat. */
let started = 0
let since = { row: 0, call: 0 }

before(async () => {
  // What is asked about a message in doubt has tests of its own.
  bench = await startBench({ config: { delivery: { onUncertain: "leave" } } })
})
after(() => bench.end())

function begin(chatapp: Record<string, unknown> = {}): void {
  bench.setConfig({ dmPolicy: "disabled", ...chatapp })
  person += 1
  const { control } = bench.emulator
  control.addUser({ id: person })
  started = control.sendText({ userId: person, text: "/start" }).message_id
  since = { row: bench.outbox().at(-1)?.id ?? 0, call: control.calls({}).at(-1)?.id ?? 0 }
}

const route = (more: Partial<Route> = {}): Route => ({
  channel: "chatapp",
  account: "default",
  chatId: String(person),
  chatKind: "private",
  ...more,
})

async function send(reply: Partial<Reply>, to: Route = route()): Promise<void> {
  await bench.store.write(async (write) => {
    for (const row of bench.channel.sender.plan(to, { text: "", media: [], ...reply })) write.addOutbox(row)
  })
}

/** As the answer of a turn. */
async function answer(reply: Partial<Reply>, to: Route = route()): Promise<void> {
  await bench.store.write(async (write) => {
    const runId = `answer-${person}`
    write.addJob({ runId, kind: "turn", laneKey: runId, payload: {} })
    const jobId = Number(write.prepare("select id from job where run_id = ?").get(runId)?.["id"])
    for (const row of bench.channel.sender.plan(to, { text: "", media: [], ...reply }))
      write.addOutbox({ ...row, jobId })
  })
}

async function change(made: MessageChange): Promise<void> {
  const row = bench.channel.sender.planChange?.(route(), made)
  await bench.store.write(async (write) => void (row && write.addOutbox(row)))
}

const rows = () => bench.outbox().filter(({ id }) => id > since.row)
const states = () => rows().map((row) => row.state)
const settled = () =>
  bench.until(() => states().every((state) => !["new", "sending"].includes(state)), `the end of ${states().join()}`)
const received = () =>
  bench.emulator.control.messages({ chatId: person }).filter((message) => message.from?.is_bot === true)
const calls = (method = "sendMessage") => bench.emulator.control.calls({ method, after: since.call })

function mediaFile(name: string, bytes: Buffer = picture): string {
  mkdirSync(join(bench.folder, "media"), { recursive: true })
  const path = join(bench.folder, "media", name)
  writeFileSync(path, bytes)
  return path
}

describe("a text", () => {
  test("arrives in order as chunks, the first referring to the message that it answers", async () => {
    begin({ textChunkLimit: 40 })
    await send({
      text: Array.from({ length: 6 }, (_, index) => `part **${index}** ${"x".repeat(25)}`).join("\n\n"),
      replyTo: String(started),
    })
    await settled()
    assert.deepEqual(
      received().map((message) => message.text?.slice(0, 6)),
      [0, 1, 2, 3, 4, 5].map((n) => `part ${n}`),
    )
    assert.deepEqual(
      received().map((message) => message.reply_to_message?.message_id),
      [started, ...Array(5).fill(undefined)],
    )
    assert.deepEqual(
      rows().map((row) => row.remote_id),
      received().map((message) => String(message.message_id)),
    )
  })

  test("whose HTML is refused goes once more as plain text", async () => {
    begin()
    bench.emulator.control.fault({
      kind: "status",
      method: "sendMessage",
      status: 400,
      description: "Bad Request: can't parse entities: Unsupported start tag",
    })
    await send({ text: "**bold** <words>" })
    await settled()
    assert.equal(received()[0]?.text, "bold <words>")
    assert.equal(received()[0]?.entities, undefined)
    assert.equal(calls().length, 2)
  })

  test("is sent again after 429, when the time that was asked for has passed", async () => {
    begin()
    bench.emulator.control.fault({ kind: "429", method: "sendMessage", retryAfter: 1 })
    await send({ text: "hello" })
    await settled()
    const [first, second] = calls()
    assert.ok((second?.startedAt ?? 0) - (first?.startedAt ?? 0) >= 1000)
    assert.equal(received().length, 1)
  })

  for (const fault of [
    { kind: "status", status: 500 },
    { kind: "html", status: 502 },
    { kind: "html", status: 503 },
  ] as const) {
    test(`is sent again after ${fault.kind} ${fault.status}`, async () => {
      begin({ retry: { minDelayMs: 10 } })
      bench.emulator.control.fault({ ...fault, method: "sendMessage" })
      await send({ text: "hello" })
      await settled()
      assert.deepEqual(states(), ["sent"])
      assert.equal(received().length, 1)
    })
  }

  test("is tried as often as the configuration says, and its chat goes on", async () => {
    begin({ retry: { attempts: 2, minDelayMs: 10 } })
    bench.emulator.control.fault({ kind: "status", status: 500, method: "sendMessage", times: 2 })
    await send({ text: "hello" })
    await send({ text: "next" })
    await settled()
    assert.deepEqual(states(), ["dead", "sent"])
    assert.match(rows()[0]?.error ?? "", /^500 .*given up after 2 tries/)
  })

  test("is tried until it arrives where the configuration says nothing, as is what is done to it", async () => {
    begin({ retry: { minDelayMs: 1, maxDelayMs: 5 } })
    bench.emulator.control.fault({ kind: "status", status: 500, method: "sendMessage", times: 6 })
    await send({ text: "hello" })
    await settled()
    const [message] = received()
    for (const fault of [
      { kind: "status", status: 500, times: 6 },
      { kind: "429", retryAfter: 1 },
      { kind: "cut", times: 2 },
    ] as const) {
      bench.emulator.control.fault({ ...fault, method: "deleteMessage" })
    }
    await change({ action: "delete", messageId: String(message?.message_id) })
    await settled()
    assert.deepEqual(states(), ["sent", "sent"])
    assert.deepEqual(received(), [])
  })

  test("is given a reaction; is edited once more as plain text where its HTML is refused; where the edit is, it ends", async () => {
    begin()
    await send({ text: "hello" })
    await settled()
    const messageId = String(received()[0]?.message_id)
    await change({ action: "react", messageId, emoji: "👍" })
    for (const words of ["can't parse entities: Unsupported start tag", "message can't be edited"]) {
      const description = `Bad Request: ${words}`
      bench.emulator.control.fault({ kind: "status", method: "editMessageText", status: 400, description })
      await change({ action: "edit", messageId, text: `**${words.length}**` })
      await settled()
    }
    assert.deepEqual(states(), ["sent", "sent", "sent", "dead"])
    assert.equal(calls("setMessageReaction").length, 1)
    assert.deepEqual([received()[0]?.text, received()[0]?.entities], ["43", undefined])
    assert.equal(calls("editMessageText").length, 3)
  })

  for (const kind of ["cut-after-accept", "cut-body", "cut"] as const) {
    test(`is left in doubt and not repeated after ${kind}; the next one still goes`, async () => {
      begin()
      bench.emulator.control.fault({ kind, method: "sendMessage" })
      await send({ text: "one" })
      await send({ text: "two" })
      await settled()
      assert.deepEqual(states(), ["uncertain", "sent"])
      const expected = kind === "cut" ? ["two"] : ["one", "two"]
      assert.deepEqual(
        received().map((message) => message.text),
        expected,
      )
    })
  }

  test("is left in doubt when no answer comes within timeoutSeconds", async () => {
    begin({ timeoutSeconds: 1 })
    bench.emulator.control.fault({ kind: "hang", method: "sendMessage" })
    await send({ text: "one" })
    await settled()
    assert.deepEqual(states(), ["uncertain"])
  })

  test("waits while the platform refuses connections", async () => {
    begin()
    const free = createServer().listen(0, "127.0.0.1")
    await once(free, "listening")
    const address = free.address()
    const port = typeof address === "object" ? address?.port : 0
    await new Promise((resolve) => free.close(resolve))
    bench.setConfig({ apiRoot: `http://127.0.0.1:${port}`, dmPolicy: "disabled" })
    await bench.channel.stop()
    await bench.channel.start()
    await send({ text: "patience" })
    await bench.until(() => rows()[0]?.error?.includes("ECONNREFUSED") === true, "a refused try")
    bench.setConfig({ dmPolicy: "disabled" })
    await bench.channel.stop()
    await bench.channel.start()
    await settled()
    assert.deepEqual(
      received().map((message) => message.text),
      ["patience"],
    )
  })

  test("to somebody who blocked the bot is given up at once", async () => {
    begin()
    bench.emulator.control.block({ userId: person })
    await send({ text: "hello" })
    await settled()
    assert.deepEqual(states(), ["dead"])
    assert.match(rows()[0]?.error ?? "", /403 Forbidden: bot was blocked by the user/)
    assert.equal(calls().length, 1)
    bench.emulator.control.block({ userId: person, blocked: false })
    await send({ text: "welcome back" })
    await settled()
    assert.deepEqual(states(), ["dead", "sent"], "the refusal slows nothing down that comes after it")
  })

  test("to a chat that does not exist is given up at once", async () => {
    begin()
    await send({ text: "hello" }, route({ chatId: "-100999", chatKind: "supergroup" }))
    await settled()
    assert.match(rows()[0]?.error ?? "", /chat not found/)
  })

  test("to a group that has moved goes to where it is now", async () => {
    begin()
    const { emulator } = bench
    const group = emulator.control.addChat({ type: "group", title: "old", members: [person] })
    const moved = emulator.control.migrate({ chatId: group.id })
    await send({ text: "hello" }, route({ chatId: String(group.id), chatKind: "group" }))
    await settled()
    assert.deepEqual(states(), ["sent"])
    const there = emulator.control.messages({ chatId: moved.id })
    assert.equal(there.at(-1)?.text, "hello")
  })

  test("whose refusal repeats the token is kept without it", async () => {
    begin()
    const description = `Forbidden: ${bench.emulator.token} may not`
    bench.emulator.control.fault({ kind: "status", status: 403, description, method: "sendMessage" })
    await send({ text: "hello" })
    await settled()
    assert.match(rows()[0]?.error ?? "", /^403 Forbidden: \S+ may not$/)
    assert.ok(!JSON.stringify(rows()).includes(bench.emulator.token))
  })

  test("waits when the token is refused", async () => {
    begin()
    bench.emulator.control.fault({ kind: "status", status: 401, description: "Unauthorized", method: "sendMessage" })
    await send({ text: "hello" })
    await bench.until(() => rows()[0]?.error?.includes("401") === true, "the refusal")
    const [row] = rows()
    assert.equal(row?.state, "new")
    assert.ok((row?.run_at ?? 0) > Date.now() + 60_000)
  })

  test("keeps the thread of its message, and leaves out the general topic", async () => {
    begin()
    const { emulator } = bench
    const topic = emulator.control.addTopic({ userId: person, name: "side" })
    await send({ text: "in the topic" }, route({ threadId: String(topic.threadId) }))
    await settled()
    assert.equal(received()[0]?.message_thread_id, topic.threadId)
    const forum = emulator.control.addChat({ type: "supergroup", title: "f", forum: true, members: [person] })
    await send({ text: "general" }, route({ chatId: String(forum.id), chatKind: "supergroup", threadId: "1" }))
    await settled()
    assert.deepEqual(states(), ["sent", "sent"])
  })

  test("falls back to the private chat itself when its topic is gone", async () => {
    begin()
    await send({ text: "hello" }, route({ threadId: "987" }))
    await settled()
    assert.deepEqual(states(), ["sent"])
    assert.equal(received()[0]?.message_thread_id, undefined)
  })

  test("never says in a group's general topic what was meant for one that is gone", async () => {
    begin()
    const { control } = bench.emulator
    const forum = control.addChat({ type: "supergroup", title: "f", forum: true, members: [person] })
    await send({ text: "for few" }, route({ chatId: String(forum.id), chatKind: "supergroup", threadId: "987" }))
    await settled()
    assert.deepEqual(states(), ["dead"])
    assert.match(rows()[0]?.error ?? "", /thread not found/)
    assert.ok(control.messages({ chatId: forum.id }).every((message) => message.text !== "for few"))
  })

  for (const [mode, expected] of [
    ["off", [false, false, false]],
    ["first", [true, false, false]],
    ["all", [true, true, true]],
  ] as const) {
    test(`refers to the answered message as replyToMode ${mode} says`, async () => {
      begin({ replyToMode: mode, chunkMode: "newline", textChunkLimit: 8 })
      await send({ text: "one\n\ntwo two", replyTo: String(started) })
      await send({ text: "three", replyTo: String(started), isReferred: true })
      await settled()
      assert.deepEqual(
        received().map((message) => message.reply_to_message?.message_id),
        expected.map((refers) => (refers ? started : undefined)),
      )
    })
  }

  test("that refers to a message which this chat does not have arrives all the same", async () => {
    begin()
    await send({ text: "a", replyTo: "999" })
    await send({ text: "b", replyTo: "99999999999" })
    await settled()
    assert.deepEqual(
      received().map((message) => message.text),
      ["a", "b"],
    )
  })

  test("with a table shows it as the configuration says", async () => {
    begin({ markdown: { tables: "bullets" } })
    await send({ text: "|a|b|\n|-|-|\n|c|d|" })
    await settled()
    assert.equal(received()[0]?.text, "• c\n  • b: d")
  })

  test("hides previews of links when the configuration says so", async () => {
    begin({ linkPreview: false })
    await send({ text: "https://example.com" })
    await settled()
    assert.deepEqual(calls()[0]?.parameters["link_preview_options"], { is_disabled: true })
  })
})

test("buttons have the colour that they were given, and the platform's own where they were given none", async () => {
  begin()
  const one = { text: "Delete", data: "delete" }
  await send({ text: "choose", buttons: [[{ ...one, style: "danger" }, one]] })
  await settled()
  const shown = { text: "Delete", callback_data: "delete" }
  assert.deepEqual(calls()[0]?.parameters["reply_markup"], {
    inline_keyboard: [[{ ...shown, style: "danger" }, shown]],
  })
})

test("what fails before its request is no doubt: a button's value that could not be kept", async () => {
  begin()
  const { raw } = bench.store.handle
  raw.exec("create trigger refuse before insert on chat_button begin select raise(abort, 'refused'); end")
  await send({ text: "choose", buttons: [[{ text: "a", data: "x".repeat(100) }]] })
  await bench.until(() => rows().some((row) => row.error !== null), "the end of the first try")
  assert.deepEqual([states(), calls().length], [["new"], 0])
  raw.exec("drop trigger refuse; update outbox set run_at = 0 where state = 'new'")
  await send({ text: "more" })
  await settled()
  assert.deepEqual(states(), ["sent", "sent"])
})

describe("a picture", () => {
  test("arrives with the text as its caption", async () => {
    begin()
    await send({ text: "the **page**", media: [{ path: mediaFile("a.png"), mediaType: "image/png" }] })
    await settled()
    const [message] = received()
    assert.equal(message?.caption, "the page")
    const fileId = message?.photo?.at(-1)?.file_id ?? ""
    assert.deepEqual(bench.emulator.control.file(fileId).bytes, picture)
  })

  test("carries the beginning of a long text as its caption; the rest follows", async () => {
    begin()
    const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ")
    await send({ text, media: [{ path: mediaFile("a.png"), mediaType: "image/png" }] })
    await settled()
    const [first, second] = received()
    assert.ok((first?.caption?.length ?? 0) > 900 && (first?.caption?.length ?? 0) <= 1024)
    assert.equal(`${first?.caption} ${second?.text}`, text)
  })

  test("has its caption edited, and keeps its buttons", async () => {
    begin()
    const buttons = [[{ text: "more", data: "more" }]]
    await send({ text: "before", buttons, media: [{ path: mediaFile("a.png"), mediaType: "image/png" }] })
    await settled()
    const messageId = rows()[0]?.remote_id ?? ""
    await change({ action: "edit", messageId, text: "**after**" })
    await settled()
    assert.deepEqual(states(), ["sent", "sent"])
    const [message] = received()
    assert.deepEqual([message?.caption, message?.caption_entities?.[0]?.type], ["after", "bold"])
    assert.equal(message?.reply_markup?.inline_keyboard.length, 1)
  })

  test("that the platform does not take as one arrives as a file", async () => {
    begin()
    bench.emulator.control.fault({
      kind: "status",
      method: "sendPhoto",
      status: 400,
      description: "Bad Request: PHOTO_INVALID_DIMENSIONS",
    })
    await send({ media: [{ path: mediaFile("wide.png"), mediaType: "image/png" }] })
    await settled()
    assert.equal(received()[0]?.document?.file_name, "wide.png")
  })

  test("that is no picture goes as a file", async () => {
    begin()
    await send({ media: [{ path: mediaFile("a b.pdf", Buffer.from("%PDF-1.4")), mediaType: "application/pdf" }] })
    await settled()
    assert.equal(received()[0]?.document?.file_name, "a_b.pdf")
  })

  test("keeps its name in any script", async () => {
    begin()
    const path = mediaFile("Отчёт за 11月.pdf", Buffer.from("%PDF-1.4"))
    await send({ media: [{ path, mediaType: "application/pdf" }] })
    await settled()
    assert.equal(received()[0]?.document?.file_name, "Отчёт_за_11月.pdf")
  })

  test("with a name that goes on and on keeps its beginning and its ending", async () => {
    begin()
    for (const name of [`${"n".repeat(60)}.pdf`, `${"n".repeat(61)}.pdf`]) {
      const path = mediaFile(name, Buffer.from("%PDF-1.4"))
      await send({ media: [{ path, mediaType: "application/pdf" }] })
    }
    await settled()
    assert.deepEqual(
      received().map((message) => message.document?.file_name),
      [60, 50].map((count) => `${"n".repeat(count)}.pdf`),
    )
  })

  test("whose size nobody can tell is tried as one; wide or narrow up to the platform's limit it is one", async () => {
    begin()
    for (const [name, bytes] of [
      ["odd.png", Buffer.from("no header")],
      ["wide.png", pngOf(4000, 200)],
      ["large.png", pngOf(5000, 5000)],
    ] as const)
      await send({ media: [{ path: mediaFile(name, bytes), mediaType: "image/png" }] })
    await settled()
    assert.equal(calls("sendPhoto").length, 3)
  })

  test("outside the media folder, by link, missing, empty or too large is refused without a call", async () => {
    begin({ mediaMaxMb: 0.001 })
    mediaFile("large.png", Buffer.alloc(2000))
    mediaFile("empty.png", Buffer.alloc(0))
    writeFileSync(join(bench.folder, "outside.png"), picture)
    const link = join(bench.folder, "media", "link.png")
    symlinkSync(join(bench.folder, "outside.png"), link)
    const folder = join(bench.folder, "media")
    const paths = ["large.png", "empty.png", "link.png", "missing.png", "../outside.png"].map((name) =>
      join(folder, name),
    )
    for (const path of paths) await send({ media: [{ path, mediaType: "image/png" }] })
    await settled()
    assert.deepEqual(states(), Array(5).fill("dead"))
    assert.equal(calls("sendPhoto").length, 0)
  })
})

describe("the words below a file", () => {
  test("go alone where the file cannot be sent, and say why", async () => {
    begin({ mediaMaxMb: 0.001 })
    const media = ["a.png", "b.png"].map((name) => ({
      path: mediaFile(name, Buffer.alloc(2000)),
      mediaType: "image/png",
    }))
    await send({ text: "the **report** & more", media: media.slice(0, 1), replyTo: String(started) })
    await send({ text: "both", media })
    await settled()
    assert.deepEqual(
      received().map(({ text }) => text),
      ["the report & more", "both"].map(
        (words) => `${words}\n\n(The file a.png cannot be sent: it is larger than 0.001 MB (mediaMaxMb))`,
      ),
    )
    assert.equal(received()[0]?.entities?.[0]?.type, "bold")
    assert.equal(received()[0]?.reply_to_message?.message_id, started)
    assert.deepEqual(states(), ["sent", "sent"])
  })

  test("go alone where the chat takes no such files", async () => {
    begin()
    const description = "Bad Request: not enough rights to send photos to the chat"
    bench.emulator.control.fault({ kind: "status", method: "sendPhoto", status: 400, description })
    await send({ text: "the page https://example.com", media: [{ path: mediaFile("a.png"), mediaType: "image/png" }] })
    await settled()
    const why = "The file cannot be sent: not enough rights to send photos to the chat"
    assert.equal(received()[0]?.text, `the page https://example.com\n\n(${why})`)
    assert.deepEqual(calls()[0]?.parameters["link_preview_options"], { is_disabled: true })
  })
})

describe("an answer that is a file alone", () => {
  test("leaves why it is missing in its place, where the file or the chat does not let it go", async () => {
    begin({ mediaMaxMb: 0.001 })
    const media = (path: string) => [{ path, mediaType: "image/png" }]
    await answer({ media: media(mediaFile("a.png", Buffer.alloc(2000))), replyTo: String(started) })
    await settled()
    assert.equal(received()[0]?.text, "(The file a.png cannot be sent: it is larger than 0.001 MB (mediaMaxMb))")
    assert.equal(received()[0]?.reply_to_message?.message_id, started)
    begin()
    const description = "Bad Request: not enough rights to send photos to the chat"
    bench.emulator.control.fault({ kind: "status", method: "sendPhoto", status: 400, description })
    await answer({ media: media(mediaFile("b.png")) })
    await settled()
    assert.equal(received()[0]?.text, "(The file cannot be sent: not enough rights to send photos to the chat)")
    assert.deepEqual(states(), ["sent"])
  })
})

/** The header of a picture of that size, as far as anybody looks. */
function pngOf(width: number, height: number): Buffer {
  const bytes = Buffer.from(picture)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

describe("a file", () => {
  const kinds: [string, string, boolean, string][] = [
    ["a.png", "image/png", false, "sendPhoto"],
    ["a.gif", "image/gif", false, "sendAnimation"],
    ["a.mp4", "video/mp4", false, "sendVideo"],
    ["a.mp3", "audio/mpeg", false, "sendAudio"],
    ["a.ogg", "audio/ogg", true, "sendVoice"],
    ["a.wav", "audio/wav", true, "sendAudio"],
    ["a.ogg", "audio/ogg", false, "sendAudio"],
    ["a.m4a", "Audio/X-M4A; codecs=aac", true, "sendVoice"],
    ["a.mov", "video/quicktime", false, "sendVideo"],
    ["a.jpg", "image/JPEG; q=1", false, "sendPhoto"],
    ["a.svg", "image/svg+xml", false, "sendDocument"],
    ["a.bin", "application/octet-stream", false, "sendDocument"],
  ]
  for (const [name, mediaType, asVoice, method] of kinds) {
    test(`of type ${mediaType}${asVoice ? " as voice" : ""} goes with ${method}`, async () => {
      begin()
      await send({ text: "x", asVoice, media: [{ path: mediaFile(name), mediaType }] })
      await settled()
      assert.deepEqual([states(), calls(method).length], [["sent"], 1])
      assert.equal(received()[0]?.caption, "x")
    })
  }

  test("that is a voice message goes as audio to somebody who takes none", async () => {
    begin()
    const description = "Bad Request: VOICE_MESSAGES_FORBIDDEN"
    bench.emulator.control.fault({ kind: "status", method: "sendVoice", status: 400, description })
    await send({ asVoice: true, media: [{ path: mediaFile("a.ogg"), mediaType: "audio/ogg" }] })
    await settled()
    assert.deepEqual([states(), calls("sendAudio").length], [["sent"], 1])
  })

  for (const [width, height] of [
    [6000, 5000],
    [4200, 200],
  ] as const) {
    test(`that is a picture of ${width} by ${height} goes as a file`, async () => {
      begin()
      await send({ media: [{ path: mediaFile("a.png", pngOf(width, height)), mediaType: "image/png" }] })
      await settled()
      assert.deepEqual([calls("sendPhoto").length, calls("sendDocument").length], [0, 1])
    })
  }
})

describe("several pictures", () => {
  const pictures = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ path: mediaFile(`p${n}.png`), mediaType: "image/png" }))

  test("go as albums of at most ten, the first with the caption", async () => {
    begin()
    await send({ text: "all **of** them", media: pictures(12) })
    await settled()
    assert.deepEqual(states(), ["sent", "sent"])
    const albums = calls("sendMediaGroup")
    assert.equal(albums.length, 2)
    assert.equal(received().length, 12)
    assert.deepEqual(
      received().map((message) => message.caption),
      ["all of them", ...Array(11).fill(undefined)],
    )
    assert.equal(rows()[0]?.remote_id, String(received()[0]?.message_id))
  })

  test("go in one album with films, each as what it is", async () => {
    begin()
    const film = { path: mediaFile("film.mp4"), mediaType: "video/mp4" }
    await send({ media: [...pictures(1), film] })
    await settled()
    assert.deepEqual(
      received().map((message) => [message.photo !== undefined, message.video !== undefined]),
      [
        [true, false],
        [false, true],
      ],
    )
  })

  test("go as files when one of them is no photo for the platform, and a refused album too", async () => {
    begin()
    const odd = { path: mediaFile("odd.png", pngOf(9000, 9000)), mediaType: "image/png" }
    await send({ media: [...pictures(1), odd] })
    await settled()
    assert.deepEqual(
      received().map((message) => message.document?.file_name),
      ["p0.png", "odd.png"],
    )
    assert.equal(calls("sendMediaGroup").length, 1, "it is known before the platform refuses it")
    const description = "Bad Request: PHOTO_INVALID_DIMENSIONS"
    bench.emulator.control.fault({ kind: "status", method: "sendMediaGroup", status: 400, description })
    await send({ media: pictures(2) })
    await settled()
    assert.equal(received().filter((message) => message.document).length, 4)
  })
})

describe("a row's fallback", () => {
  test("needs nothing but the row itself", async () => {
    begin()
    const [row] = bench.channel.sender.plan(route(), { text: "a **b** & c", media: [] })
    const payload = row?.payload as unknown as TextPayload
    assert.deepEqual(payload, { text: "a <b>b</b> &amp; c", plain: "a b & c", parseMode: "HTML", linkPreview: true })
    assert.equal(row?.laneKey, `chatapp:default:${person}`)
  })
})

describe("the channel's sender", () => {
  test("tells the size of early parts, within that of a message, only where such parts are wanted", () => {
    const early = (chatapp: object) => (begin({ ...chatapp }), bench.channel.sender.earlyReplies?.(route()))
    assert.equal(early({}), undefined)
    const blockStreamingCoalesce = { minChars: 300, maxChars: 900, idleMs: 70 }
    assert.deepEqual(early({ blockStreaming: true, blockStreamingCoalesce }), blockStreamingCoalesce)
    const small = { blockStreaming: true, blockStreamingCoalesce, textChunkLimit: 200 }
    assert.deepEqual(early(small), { minChars: 200, maxChars: 200, idleMs: 70 })
  })

  test("tells which rows are answers, and their words as they are read", () => {
    begin()
    const { sender } = bench.channel
    const media = [{ path: "/a.png", mediaType: "image/png" }]
    const row = (kind: string, payload: object) => ({ kind, payload: JSON.stringify(payload) }) as OutboxRow
    const planned = [
      ...sender.plan(route(), { text: "**a**", media: [] }),
      ...sender.plan(route(), { text: "**b**", media }),
      ...sender.plan(route(), { text: "", media }),
    ].map(({ kind, payload }) => row(kind, payload as object))
    const edit = row("edit", { messageId: "1", text: "c", plain: "c" })
    assert.deepEqual(
      [...planned, edit].map((each) => [sender.isAnswer?.(each), sender.wordsOf?.(each), sender.isRepeatable?.(each)]),
      [
        [true, "a", false],
        [true, "b", false],
        [false, "", false],
        [false, undefined, true],
      ],
    )
  })

  test("knows its accounts, and nobody sends from another", () => {
    begin()
    const { sender } = bench.channel
    assert.deepEqual([sender.hasAccount?.("default"), sender.hasAccount?.("other")], [true, false])
    assert.throws(() => sender.resolveTarget("123", "other"), { code: "target-invalid", message: /no account "other"/ })
  })
})

describe("a target", () => {
  test("is understood as people write it, and nothing else is", async () => {
    begin()
    const resolve = (target: string) => {
      const { chatId, chatKind, threadId } = bench.channel.sender.resolveTarget(target, undefined)
      return [chatId, chatKind, threadId].filter((part) => part !== undefined).join(" ")
    }
    assert.equal(resolve("123"), "123 private")
    assert.equal(resolve(" chatapp:-1001234567890 "), "-1001234567890 supergroup")
    assert.equal(resolve("-123"), "-123 group")
    // Numbers of basic groups may begin so too; those of supergroups are longer.
    for (const group of ["-1001", "-123456789012"]) assert.equal(resolve(group), `${group} group`)
    assert.equal(resolve("123:topic:4"), "123 private 4")
    assert.equal(resolve("-1001234567890:7"), "-1001234567890 supergroup 7")
    assert.equal(resolve("@some_channel"), "@some_channel channel")
    assert.equal(resolve("some_channel"), "@some_channel channel")
    assert.equal(resolve("https://t.me/some_channel"), "@some_channel channel")
    for (const bad of ["", "0", "12 3", "@x", "abc", "123:topic:", "--1", "1e5", "../x"]) {
      assert.throws(() => resolve(bad), { code: "target-invalid" }, bad)
    }
  })
})
