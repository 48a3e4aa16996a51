// Groups, topics and channels through the channel's public faces: the emulator on one side, the store on the other.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import type { Chat, User } from "grammy/types"
import type { TurnInput } from "../../agent/turn-input.ts"
import { type Bench, type BenchOptions, startBench } from "./test-bench/bench.ts"

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkQPf+HwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

let bench: Bench
let ann: User
let bea: User
let group: Chat
let botName: string

afterEach(() => bench.end())

/** Ann is the owner; she and Bea are members of a supergroup with the bot. */
async function begin(
  chatapp: Record<string, unknown>,
  options: BenchOptions & { forum?: boolean } = {},
): Promise<void> {
  const { forum, ...rest } = options
  bench = await startBench({ ...rest, chatapp: { allowFrom: [4242], ...chatapp } })
  const { control, bot } = bench.emulator
  botName = bot.username
  ann = control.addUser({ id: 4242, firstName: "Ann", username: "ann_l" })
  bea = control.addUser({ id: 77, firstName: "Bea" })
  group = control.addChat({
    type: "supergroup",
    title: "Crew",
    members: [ann.id, bea.id],
    ...(forum === undefined ? {} : { forum }),
  })
}

function say(who: User, text: string, more: { threadId?: number; replyTo?: number; chatId?: number } = {}) {
  return bench.emulator.control.sendText({ userId: who.id, chatId: group.id, text, ...more })
}

async function heard(count = 1): Promise<TurnInput[]> {
  await bench.until(() => bench.jobs().length >= count, `${count} jobs`)
  return bench.jobs().map((job) => job.input)
}

interface Line {
  sender: string
  text: string
  trusted: number
  session_key: string
}

function history(): Line[] {
  return bench.store.handle.prepare("select * from group_history order by id").all() as unknown as Line[]
}

/** Resolves when the update after everything said so far has been dealt with. */
async function settled(): Promise<void> {
  const before = bench.jobs().length
  bench.emulator.control.sendText({ userId: ann.id, text: "are you there?" })
  await bench.until(() => bench.jobs().length > before, "the owner's private message")
}

async function counters(): Promise<Record<string, number>> {
  const [status] = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5000) })
  return status?.counters ?? {}
}

interface SkipLine {
  reason: string
  chat: string
  sender: string
  topic?: string
  alsoSkipped?: number
}

function skipLines(of: "group" | "direct" = "group"): SkipLine[] {
  return bench.logLines
    .filter((line) => line.includes(`skipping ${of} message`))
    .map((line) => JSON.parse(line) as SkipLine)
}

describe("a group", () => {
  test("is answered in its own session when it calls the bot, and its answer goes back there", async () => {
    await begin({ groupPolicy: "open" })
    const asked = say(bea, `@${botName} what time is it?`)
    const [input] = await heard()
    assert.equal(input?.sessionKey, `agent:main:chatapp:group:${group.id}`)
    assert.equal(input?.origin, "group-member")
    assert.equal(input?.trusted, false, "a member let in with everybody has no authority")
    assert.equal(input?.about?.["sender"], "Bea")
    assert.equal(input?.mentioned, true)
    assert.equal(input?.route?.chatId, String(group.id))
    assert.equal(input?.route?.messageId, String(asked.message_id))
    assert.match(input?.header ?? "", new RegExp(`supergroup ${group.id}`))
    await bench.store.write(async (write) => {
      const route = input?.route ?? assert.fail()
      for (const row of bench.channel.sender.plan(route, { text: "noon", media: [] })) write.addOutbox(row)
    })
    const answer = await bench.emulator.control.waitForMessage({ chatId: group.id, from: "bot" })
    assert.equal(answer.text, "noon")
  })

  test("knows its owner by the id", async () => {
    await begin({ groupPolicy: "open" })
    say(ann, `@${botName} hello`)
    const [input] = await heard()
    assert.equal(input?.origin, "owner")
    assert.equal(input?.trusted, true)
  })

  test("never moves the main session's last route", async () => {
    await begin({ groupPolicy: "open" })
    say(ann, `@${botName} hello`)
    await heard()
    const rows = bench.store.handle.prepare("select key from session where last_route is not null").all()
    assert.deepEqual(
      rows.map((row) => row["key"]),
      [`agent:main:chatapp:group:${group.id}`],
    )
  })

  test("of policy allowlist hears only those of groupAllowFrom; pairing and allowFrom let nobody in", async () => {
    await begin({ groupAllowFrom: [77] })
    bench.pairing.book("chatapp", "default")
    say(ann, `@${botName} from the owner`)
    say(bea, `@${botName} from a listed member`)
    const inputs = await heard()
    assert.deepEqual(
      inputs.map(({ text, origin, trusted }) => [text, origin, trusted]),
      [[`@${botName} from a listed member`, "approved-sender", true]],
    )
    assert.equal((await counters())["skipped-sender-not-listed"], 1)
  })

  test("hears nobody who was only paired in a private chat", async () => {
    await begin({ allowFrom: [1] })
    bench.emulator.control.sendText({ userId: bea.id, text: "let me in" })
    const told = await bench.emulator.control.waitForMessage({ chatId: bea.id, from: "bot" })
    const code = /approve chatapp ([A-Z0-9]+)/.exec(told.text ?? "")?.[1] ?? ""
    await bench.pairing.approve("chatapp", code, undefined)
    say(bea, `@${botName} hello`)
    bench.emulator.control.sendText({ userId: bea.id, text: "in private" })
    assert.deepEqual(
      (await heard(2)).map(({ text }) => text),
      ["let me in", "in private"],
    )
    assert.equal(skipLines().at(-1)?.reason, "sender-not-listed")
  })

  test("that is not listed is dropped without anything fetched or kept, told of each, and counted", async () => {
    await begin({ groupPolicy: "open", groups: { "-1": {} } })
    for (let count = 0; count < 5; count += 1) say(bea, `@${botName} secret ${count}`)
    bench.emulator.control.sendMedia({ userId: bea.id, chatId: group.id, kind: "photo", data: picture })
    await settled()
    assert.equal((await counters())["skipped-group-not-listed"], 6)
    assert.deepEqual(
      skipLines().map(({ reason, chat, sender }) => [reason, chat, sender]),
      Array.from({ length: 6 }, () => ["group-not-listed", String(group.id), String(bea.id)]),
    )
    assert.deepEqual(bench.emulator.control.calls({ method: "getFile" }), [])
    const inbox = bench.store.handle.prepare("select payload from inbox").all()
    assert.ok(!JSON.stringify(inbox).includes("secret"))
    assert.deepEqual(history(), [])
  })

  test("takes its operator's instructions along, the group's and the topic's, and the tools of its sender", async () => {
    const toolsBySender = { [`tg:${bea.id}`]: { deny: ["browser"] } }
    const groups = {
      "*": {
        toolsBySender,
        systemPrompt: "Be brief.",
        topics: { "1": { systemPrompt: "Only ships.", skills: ["ships"] } },
      },
    }
    await begin({ groupPolicy: "open", groups }, { forum: true })
    say(bea, `@${botName} hello`)
    const [input] = await heard()
    assert.equal(input?.instructions, "Be brief.\n\nOnly ships.")
    assert.deepEqual(input.skills, ["ships"])
    assert.deepEqual(input.tools, { deny: ["browser"] })
  })

  test("does not answer other bots, nor accounts of the platform, even when they are listed", async () => {
    await begin({ groupPolicy: "open", groupAllowFrom: [777000, 1087968824, 5] })
    const message = (from: object) => ({
      message: { message_id: 900, date: 1, chat: group, text: `@${botName} hello`, from },
    })
    const { control } = bench.emulator
    control.injectUpdate({ update: message({ id: 5, is_bot: true, first_name: "Robot", username: "other_bot" }) })
    control.injectUpdate({ update: message({ id: 777000, is_bot: false, first_name: "Telegram" }) })
    control.injectUpdate({ update: message({ id: 1087968824, is_bot: true, first_name: "Group" }) })
    await settled()
    assert.equal((await counters())["skipped-bot"], 1)
    assert.equal((await counters())["skipped-service-account"], 2)
    assert.equal(bench.jobs().length, 1)
  })

  test("hears an anonymous administrator as the group, and a linked channel as the channel", async () => {
    await begin({})
    bench.setConfig({ allowFrom: [4242], groupAllowFrom: [String(group.id)] })
    const anonymous = { id: 1087968824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" }
    const channel = { id: -1009, type: "channel", title: "News" }
    const fields = { message_id: 900, date: 1, chat: group, text: `@${botName} hello` }
    const { control } = bench.emulator
    control.injectUpdate({ update: { message: { ...fields, from: anonymous, sender_chat: group } } })
    const linked = { ...fields, from: { ...anonymous, id: 777000 }, sender_chat: channel, is_automatic_forward: true }
    control.injectUpdate({ update: { message: linked } })
    const [input] = await heard()
    await settled()
    assert.equal(input?.origin, "approved-sender")
    assert.equal(input?.about?.["sender"], "Crew")
    assert.equal(bench.jobs().length, 2)
    assert.equal((await counters())["skipped-sender-not-listed"], 1)
  })
})

describe("a comment below a post of the linked channel", () => {
  const sentTo = () =>
    bench.emulator.control
      .messages({ chatId: group.id })
      .flatMap(({ from, reply_to_message: replied }) => (from?.is_bot ? [replied?.message_id] : []))

  async function reply(input: TurnInput | undefined, text: string): Promise<void> {
    const route = input?.route ?? assert.fail()
    await bench.store.write(async (write) => {
      for (const row of bench.channel.sender.plan(route, { text, media: [] })) write.addOutbox(row)
    })
    await bench.until(() => bench.outbox().every(({ state }) => state === "sent"), "the answer")
  }

  test("is answered among the comments, every part of it, and so is who answers that", async () => {
    await begin({ groupPolicy: "open", textChunkLimit: 20 })
    const sender_chat = { id: -1009, type: "channel", title: "News" }
    const { control } = bench.emulator
    const fields = { text: "a post", sender_chat, is_automatic_forward: true }
    const post = control.sendRaw({ userId: ann.id, chatId: group.id, message: fields })
    say(ann, `@${botName} what is it?`, { replyTo: post.message_id })
    const [input] = await heard()
    await reply(input, "one two three four\n\nfive six seven eight")
    assert.deepEqual(sentTo(), [post.message_id, post.message_id])
    const ours = Number(bench.outbox().at(-1)?.remote_id)
    say(bea, "and then?", { replyTo: ours })
    const [, next] = await heard(2)
    await reply(next, "nine")
    assert.deepEqual(sentTo(), Array(3).fill(post.message_id))
    assert.notEqual(bench.jobs()[0]?.sender, bench.jobs()[1]?.sender)
  })

  test("is told from other answers of the group, which refer to nothing", async () => {
    await begin({ groupPolicy: "open" })
    const { message_id: replyTo } = say(bea, "who knows?")
    say(ann, `@${botName} do you?`, { replyTo })
    const [input] = await heard()
    await reply(input, "I do")
    assert.deepEqual(sentTo(), [undefined])
  })
})

describe("a channel", () => {
  test("is answered only when its id is listed", async () => {
    await begin({ groupPolicy: "open", groups: { "*": { requireMention: false } } })
    const channel = bench.emulator.control.addChat({ type: "channel", title: "News", members: [ann.id] })
    say(ann, "first post", { chatId: channel.id })
    await bench.until(() => skipLines().length === 1, "the drop")
    assert.equal(skipLines()[0]?.reason, "channel-not-listed")
    bench.setConfig({ allowFrom: [4242], groupPolicy: "open", groups: { [channel.id]: { requireMention: false } } })
    const post = say(ann, "second post", { chatId: channel.id })
    const [input] = await heard()
    assert.equal(input?.text, "second post")
    assert.equal(input?.sessionKey, `agent:main:chatapp:group:${channel.id}`)
    assert.equal(input?.trusted, false)
    const edit = { userId: ann.id, chatId: channel.id, messageId: post.message_id, text: "second post, corrected" }
    bench.emulator.control.editText(edit)
    await bench.until(() => bench.jobs()[0]?.input.text === edit.text, "the corrected words")
    assert.equal(bench.jobs().length, 1)
  })
})

describe("topics", () => {
  test("have sessions of their own, and replies go into them; the general one is 1", async () => {
    await begin({ groupPolicy: "open" }, { forum: true })
    const topic = bench.emulator.control.addTopic({ userId: ann.id, chatId: group.id, name: "Ships" })
    say(ann, `@${botName} in the topic`, { threadId: topic.threadId })
    say(ann, `@${botName} in general`)
    const inputs = await heard(2)
    const key = `agent:main:chatapp:group:${group.id}:topic`
    assert.deepEqual(
      inputs.map(({ sessionKey, route }) => [sessionKey, route?.threadId]),
      [
        [`${key}:${topic.threadId}`, String(topic.threadId)],
        [`${key}:1`, "1"],
      ],
    )
    await bench.store.write(async (write) => {
      for (const { route, text } of inputs) {
        if (!route) continue
        for (const row of bench.channel.sender.plan(route, { text: `re: ${text}`, media: [] })) write.addOutbox(row)
      }
    })
    const { control } = bench.emulator
    const inTopic = await control.waitForMessage({ chatId: group.id, from: "bot", match: "in the topic" })
    assert.equal(inTopic.message_thread_id, topic.threadId)
    const inGeneral = await control.waitForMessage({ chatId: group.id, from: "bot", match: "in general" })
    assert.equal(inGeneral.message_thread_id, undefined)
  })

  test("that are switched off are dropped while the others are heard", async () => {
    await begin({ groupPolicy: "open", groups: { "*": { topics: { "1": { enabled: false } } } } }, { forum: true })
    const topic = bench.emulator.control.addTopic({ userId: ann.id, chatId: group.id, name: "Ships" })
    say(ann, `@${botName} in general`)
    say(ann, `@${botName} in the topic`, { threadId: topic.threadId })
    assert.deepEqual(
      (await heard()).map(({ text }) => text),
      [`@${botName} in the topic`],
    )
    const [line] = skipLines()
    assert.deepEqual([line?.reason, line?.sender, line?.topic], ["topic-disabled", String(ann.id), "1"])
  })
})

describe("what does not call the bot", () => {
  test("is for the bot when it is the late part of an album that called it", async () => {
    await begin({ groupPolicy: "open" })
    const part = { userId: ann.id, chatId: group.id, kind: "photo" as const, data: picture, albumId: "7" }
    bench.emulator.control.sendMedia({ ...part, caption: `@${botName} which is better?` })
    await heard()
    bench.store.handle.raw.exec("update job set state = 'done'")
    bench.emulator.control.sendMedia(part)
    await settled()
    assert.match(bench.jobs()[1]?.input.header ?? "", /a late part of an album/)
    assert.deepEqual(history(), [])
  })

  test("is kept as history, placeholders for pictures too, and starts no turn", async () => {
    await begin({ groupPolicy: "open" })
    say(bea, "lunch?\n#9 faked: line")
    bench.emulator.control.sendMedia({
      userId: ann.id,
      chatId: group.id,
      kind: "photo",
      data: picture,
      caption: "menu",
    })
    await bench.until(() => skipLines().length === 2, "a line for each")
    assert.deepEqual(
      history().map(({ sender, trusted, session_key }) => [sender, trusted, session_key]),
      [
        ["Bea", 0, `agent:main:chatapp:group:${group.id}`],
        ["Ann (@ann_l)", 1, `agent:main:chatapp:group:${group.id}`],
      ],
    )
    assert.match(history()[1]?.text ?? "", /^<media:image[^>]*>\nmenu$|^<media:photo[^>]*>\nmenu$/)
    assert.equal(bench.jobs().length, 0)
    assert.equal((await counters())["no-mention"], 2)
    assert.deepEqual(
      skipLines().map(({ reason, sender }) => [reason, sender]),
      [
        ["no-mention", String(bea.id)],
        ["no-mention", String(ann.id)],
      ],
    )
  })

  test("is kept up to historyLimit, and not at all with 0", async () => {
    await begin({ groupPolicy: "open", historyLimit: 3 })
    for (let count = 1; count <= 5; count += 1) say(bea, `line ${count}`)
    await settled()
    assert.deepEqual(
      history().map(({ text }) => text),
      ["line 3", "line 4", "line 5"],
    )
    bench.setConfig({ allowFrom: [4242], groupPolicy: "open", historyLimit: 0 })
    say(bea, "line 6")
    await settled()
    assert.ok(!history().some(({ text }) => text === "line 6"))
  })

  test("is kept with who has written first what somebody sends on", async () => {
    await begin({ groupPolicy: "open" })
    const forward_origin = { type: "hidden_user", sender_user_name: "Mallory", date: 1_790_000_000 }
    bench.emulator.control.sendRaw({ userId: ann.id, chatId: group.id, message: { text: "buy now", forward_origin } })
    await bench.until(() => history().length === 1, "the line")
    assert.deepEqual([history()[0]?.text, history()[0]?.trusted], ["(forwarded from Mallory) buy now", 0])
  })

  test("is kept for the group alone also where its people of standing share the main session", async () => {
    await begin({ groupPolicy: "open" }, { config: { session: { scope: "global" } } })
    say(ann, "not for the bot")
    await bench.until(() => history().length === 1, "the line")
    assert.equal(history()[0]?.session_key, `agent:main:chatapp:group:${group.id}`)
  })

  test("is answered where requireMention is off, and where the session says always", async () => {
    await begin({ groupPolicy: "open", groups: { "*": { requireMention: false } } })
    say(bea, "anybody here?")
    const [input] = await heard()
    assert.equal(input?.text, "anybody here?")
    assert.equal(input?.mentioned, undefined)
    await bench.store.write(async (write) => {
      const key = `agent:main:chatapp:group:${group.id}`
      write.prepare("update session set settings = ? where key = ?").run(JSON.stringify({ activation: "mention" }), key)
    })
    bench.channel.commands.sessionChanged()
    say(bea, "still there?")
    await bench.until(() => history().length === 1, "the session wants to be called")
  })

  test("is answered where the group says always, though its people of standing share the main session", async () => {
    await begin({ groupPolicy: "open" }, { config: { session: { scope: "global" } } })
    const { control } = bench.emulator
    const other = control.addChat({ type: "supergroup", title: "Others", members: [ann.id, bea.id] })
    say(ann, "/activation always")
    await bench.until(() => bench.jobs().length === 1, "the command")
    const { sessionKey: key } = JSON.parse(bench.jobs()[0]?.payload ?? "") as { sessionKey: string }
    await bench.store.write(async (write) => {
      const settings = JSON.stringify({ activation: "always" })
      write
        .prepare(
          `insert into session (key, agent_id, session_id, settings, created_at, updated_at) values (?, 'main', 's', ?, 1, 1)
           on conflict (key) do update set settings = excluded.settings`,
        )
        .run(key, settings)
    })
    bench.channel.commands.sessionChanged()
    for (const who of [ann, bea]) {
      say(who, "not for the bot", { chatId: other.id })
      say(who, `anybody here? ${who.first_name}`)
    }
    assert.deepEqual(
      (await heard(3)).slice(1).map(({ text, sessionKey }) => [text, sessionKey]),
      [
        ["anybody here? Ann", "agent:main:main"],
        ["anybody here? Bea", `agent:main:chatapp:group:${group.id}`],
      ],
    )
  })

  test("names other bots, or a longer name, or refers to the start of its topic", async () => {
    await begin({ groupPolicy: "open" }, { forum: true })
    const topic = bench.emulator.control.addTopic({ userId: ann.id, chatId: group.id, name: "Ships" })
    say(bea, `@${botName}x hello`, { threadId: topic.threadId })
    await bench.until(() => history().length === 1, "the line")
    assert.equal(bench.jobs().length, 0)
  })
})

test("a message without a time, or with one that is none, is set aside, and holds up nothing", async () => {
  await begin({ groupPolicy: "open" })
  const times = [{}, { date: 9e12 }]
  for (const [index, time] of times.entries()) {
    const message = { message_id: 900 + index, ...time, chat: group, from: bea, text: "when?" }
    bench.emulator.control.injectUpdate({ update: { message } } as never)
  }
  bench.emulator.control.sendText({ userId: ann.id, text: "after it" })
  await heard()
  const aside = bench.store.handle.prepare("select reason from unreadable_update").all()
  assert.deepEqual([aside.map(({ reason }) => reason), history()], [times.map(() => "message is of a wrong type"), []])
})

test("a reply to the bot calls it", async () => {
  await begin({ groupPolicy: "open" })
  await bench.store.write(async (write) => {
    const route = { channel: "chatapp", account: "default", chatId: String(group.id), chatKind: "supergroup" as const }
    for (const row of bench.channel.sender.plan(route, { text: "good morning", media: [] })) write.addOutbox(row)
  })
  const said = await bench.emulator.control.waitForMessage({ chatId: group.id, from: "bot" })
  say(bea, "and to you", { replyTo: said.message_id })
  const [input] = await heard()
  assert.equal(input?.text, "and to you")
  assert.equal(input?.mentioned, true)
})

test("direct chats show as much of the past as the configuration says, for some people more", async () => {
  await begin({ dmHistoryLimit: 5, dms: { "77": { historyLimit: 9 } }, allowFrom: [4242, 77] })
  bench.emulator.control.sendText({ userId: ann.id, text: "one" })
  bench.emulator.control.sendText({ userId: bea.id, text: "two" })
  assert.deepEqual(
    (await heard(2)).map(({ text, historyTurns }) => [text, historyTurns]),
    [
      ["one", 5],
      ["two", 9],
    ],
  )
})
