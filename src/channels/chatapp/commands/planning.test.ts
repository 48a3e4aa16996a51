// Which messages are commands, and for whom: the emulator on one side, the jobs in the store on the other.
import assert from "node:assert/strict"
import { afterEach, test } from "node:test"
import type { Chat, User } from "grammy/types"
import { turnJob } from "../../../agent/turn-input.ts"
import type { CommandCall } from "../../commands/index.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"

let bench: Bench
let ann: User
let eve: User
let group: Chat

afterEach(() => bench.end())

async function begin(chatapp: Record<string, unknown> = {}, config: Record<string, unknown> = {}): Promise<void> {
  bench = await startBench({
    chatapp: { allowFrom: [4242, "*"], dmPolicy: "open", groupPolicy: "open", ...chatapp },
    config,
  })
  const { control } = bench.emulator
  ann = control.addUser({ id: 4242, firstName: "Ann" })
  eve = control.addUser({ id: 77, firstName: "Eve" })
  group = control.addChat({ type: "supergroup", title: "Crew", members: [ann.id, eve.id] })
}

type Wish = { who?: User; chatId?: number; replyTo?: number; raw?: Record<string, unknown> }

function say(text: string, { who = ann, chatId, replyTo, raw }: Wish = {}): number {
  const place = {
    userId: who.id,
    ...(chatId === undefined ? {} : { chatId }),
    ...(replyTo === undefined ? {} : { replyTo }),
  }
  const { control } = bench.emulator
  return (raw ? control.sendRaw({ ...place, message: { text, ...raw } }) : control.sendText({ ...place, text }))
    .message_id
}

/** What has become of everything said so far: `kind lane: words` of each job. */
async function outcome(): Promise<string[]> {
  const end = "that is all"
  say(end)
  const describe = () =>
    bench.jobs().map((job) => {
      const { command, args } = JSON.parse(job.payload) as CommandCall
      const lane = job.lane_key.startsWith("control:") ? "now" : "in turn"
      return job.kind === "command" ? `/${command} ${args}`.trim() + ` (${lane})` : job.input.text
    })
  await bench.until(() => describe().includes(end), "the last message")
  return describe().filter((words) => words !== end)
}

test("commands of the owner become jobs, in a lane of their own where they only show or stop something", async () => {
  await begin()
  for (const text of ["/status", "/think high", "/new", "/stop", "/unknown words", "/status\nand more"]) say(text)
  assert.deepEqual(await outcome(), [
    "/status (now)",
    "/think high (in turn)",
    "/new (in turn)",
    "/stop (now)",
    "/unknown words",
    "/status (now)",
  ])
  const urgent = bench.jobs().filter((job) => job.urgent === 1)
  assert.equal(urgent.length, 3)
})

test("only typed words are commands", async () => {
  await begin()
  const date = 1_700_000_000
  say("/reset", { raw: { forward_origin: { type: "hidden_user", sender_user_name: "Max", date } } })
  say("/reset", { raw: { via_bot: { id: 9, is_bot: true, first_name: "Inline" } } })
  bench.emulator.control.sendMedia({ userId: ann.id, kind: "document", data: Buffer.from("x"), caption: "/reset" })
  const said = await outcome()
  assert.equal(said.length, 3)
  for (const words of said) assert.match(words, /\/reset/)
  assert.ok(bench.jobs().every((job) => job.kind === "turn"))
})

test("whoever is heard with everybody may use no command, or the harmless ones where that is allowed", async () => {
  await begin()
  const all = ["/status", "/whoami", "/reset", "/model x", "/approve allow x", "/stop"]
  for (const text of all) say(text, { who: eve })
  for (const text of all) say(text, { who: eve, chatId: group.id })
  assert.deepEqual(await outcome(), [])
  await bench.end()
  await begin({}, { commands: { useAccessGroups: false } })
  for (const text of all) say(text, { who: eve })
  assert.deepEqual(await outcome(), ["/status (now)", "/whoami (now)"])
})

test("with text off only the platform's own marks make a command, with native off too none does", async () => {
  await begin({}, { commands: { text: false } })
  say("/status")
  say("@" + bench.emulator.bot.username + " /status")
  assert.deepEqual(await outcome(), ["/status (now)", `@${bench.emulator.bot.username} /status`])
  await bench.end()
  await begin({}, { commands: { native: "off" } })
  say("/status")
  assert.deepEqual(await outcome(), ["/status (now)"])
  await bench.end()
  await begin({ commands: { native: false } }, { commands: { text: false } })
  say("/status")
  assert.deepEqual(await outcome(), ["/status"])
})

test("words of the operator begin a new session for people of standing; the rest is its first message", async () => {
  await begin({}, { session: { resetTriggers: ["fresh start"] } })
  say("Fresh start")
  say("fresh start what is new?")
  say("/reset tell me more")
  say("fresh start", { who: eve })
  assert.deepEqual(await outcome(), [
    "/new (in turn)",
    "/new (in turn)",
    "what is new?",
    "/reset (in turn)",
    "tell me more",
    "fresh start",
  ])
})

test("the first message of a new session is edited without its command", async () => {
  await begin()
  const messageId = say("/new buy bread")
  bench.emulator.control.editText({ userId: ann.id, messageId, text: "/new buy cake" })
  assert.deepEqual(await outcome(), ["/new (in turn)", "buy cake"])
  bench.store.handle.raw.exec("update job set state = 'done'")
  // As the platform tells of a preview: nothing that the message says has changed.
  bench.emulator.control.editText({ userId: ann.id, messageId, text: "/new  buy cake" })
  const before = bench.jobs().length
  say("and now?")
  await bench.until(() => bench.jobs().length > before, "what was said after the edit")
  assert.deepEqual(bench.store.handle.prepare("select text from event").all(), [])
})

test("in a group a command needs no mention, other bots' are left alone, and a stop word has to answer the bot", async () => {
  await begin({ groups: { "*": { requireMention: true } } })
  const { username } = bench.emulator.bot
  await bench.store.write(async (write) => {
    const route = { channel: "chatapp", account: "default", chatId: String(group.id), chatKind: "supergroup" } as const
    for (const row of bench.channel.sender.plan(route, { text: "thinking aloud", media: [] })) write.addOutbox(row)
    const sessionKey = `agent:main:chatapp:group:${group.id}`
    const input = {
      agentId: "main",
      sessionKey,
      purpose: "chat",
      origin: "owner",
      trusted: true,
      text: "long",
    } as const
    write.addJob(turnJob("long", { ...input, route }))
  })
  bench.store.handle.prepare("update job set state = 'running'").run()
  const sent = await bench.emulator.control.waitForMessage({ chatId: group.id, from: "bot" })
  for (const text of [`/status@${username}`, "/status", "/status@another_bot", "/nothing@another_bot", "stop"]) {
    say(text, { chatId: group.id })
  }
  say("stop", { chatId: group.id, replyTo: sent.message_id })
  assert.deepEqual(await outcome(), ["long", "/status (now)", "/status (now)", "/stop (now)"])
})
