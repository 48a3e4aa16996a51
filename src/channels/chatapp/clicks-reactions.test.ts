// Touched buttons and reactions through the channel's public faces: the emulator on one side, the store on the other.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import type { Chat, Message, User } from "grammy/types"
import type { ReplyButton } from "../../delivery/contract.ts"
import type { Route } from "../../sessions/route.ts"
import { until } from "../../../test/support/world.ts"
import { type Bench, type BenchOptions, startBench } from "./test-bench/bench.ts"

let bench: Bench
let ann: User
let eve: User
let group: Chat
let forum: Chat

afterEach(() => bench.end())

/** Ann is the owner, Eve nobody in particular; both are in a group and a forum that the bot administers. */
async function begin(chatapp: Record<string, unknown> = {}, options: BenchOptions = {}): Promise<void> {
  bench = await startBench({ ...options, chatapp: settings(chatapp) })
  const { control } = bench.emulator
  ann = control.addUser({ id: 4242, firstName: "Ann", lastName: "Lee", username: "ann_l" })
  eve = control.addUser({ id: 77, firstName: "Eve" })
  const members = [ann.id, eve.id]
  group = control.addChat({ type: "supergroup", title: "Crew", members, botStatus: "administrator" })
  forum = control.addChat({ type: "supergroup", title: "Forum", members, forum: true, botStatus: "administrator" })
  control.sendText({ userId: ann.id, text: "/start" })
  control.sendText({ userId: eve.id, text: "/start" })
  await bench.until(() => bench.jobs().length === 1, "Ann's chat with the bot is open")
  bench.store.handle.prepare("delete from job").run()
}

const settings = (chatapp: Record<string, unknown>) => ({
  allowFrom: [4242],
  groupAllowFrom: [4242],
  dmPolicy: "allowlist",
  ...chatapp,
})

const routeTo = (chat: { id: number }, chatKind: Route["chatKind"], threadId?: number): Route => ({
  channel: "chatapp",
  account: "default",
  chatId: String(chat.id),
  chatKind,
  ...(threadId === undefined ? {} : { threadId: String(threadId) }),
})

/** Sends through the outbox, as replies and tools do; resolves with what the platform has made of it. */
async function send(route: Route, text: string, buttons?: ReplyButton[][]): Promise<Message> {
  await bench.store.write(async (write) => {
    const reply = { text, media: [], ...(buttons ? { buttons } : {}) }
    for (const row of bench.channel.sender.plan(route, reply)) write.addOutbox(row)
  })
  const message = await bench.emulator.control.waitForMessage({
    chatId: Number(route.chatId),
    from: "bot",
    match: text,
  })
  const sent = "select 1 from outbox where remote_id = ?"
  await bench.until(() => bench.store.handle.prepare(sent).get(String(message.message_id)) !== undefined, "it is noted")
  return message
}

/** As if a turn with words of these people had sent it. */
function writtenBy(message: Message, origin: string | null, trusted: number | null): void {
  bench.store.handle
    .prepare("update outbox set origin = ?, trusted = ? where remote_id = ?")
    .run(origin, trusted, String(message.message_id))
}

const events = () =>
  bench.store.handle.prepare("select session_key, text, trusted, origin from event order by id").all() as {
    session_key: string
    text: string
    trusted: number
    origin: string
  }[]

async function counted(name: string, count: number): Promise<void> {
  await until(`${name} is ${count}`, async () => {
    const [status] = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5000) })
    return status?.counters[name] === count ? true : undefined
  })
}

/** Resolves when everything that people did so far has been dealt with. */
async function settled(): Promise<void> {
  const before = bench.jobs().length
  bench.emulator.control.sendText({ userId: ann.id, text: "are you there?" })
  await bench.until(() => bench.jobs().length > before, "Ann's private message")
}

const answers = () => bench.emulator.control.calls().filter((call) => call.method === "answerCallbackQuery").length

/** What people were shown for a moment. */
const shown = () =>
  bench.emulator.control
    .calls()
    .filter((call) => call.method === "answerCallbackQuery")
    .map((call) => call.parameters["text"])

const answered = (count: number) => until(`${count} clicks are answered`, () => (answers() >= count ? true : undefined))

const click = (who: User, message: Message, data?: string) =>
  bench.emulator.control.click({
    userId: who.id,
    chatId: message.chat.id,
    messageId: message.message_id,
    ...(data === undefined ? {} : { data }),
  })

describe("a touched button", () => {
  const yes = [[{ text: "Yes", data: "yes" }]]

  test("is answered at once and becomes a message about the message it stands below", async () => {
    await begin()
    const message = await send(routeTo(ann, "private"), "Really?", yes)
    writtenBy(message, "owner", 1)
    click(ann, message)
    await bench.until(() => bench.jobs().length === 1, "a turn")
    const job = bench.jobs()[0] ?? assert.fail()
    assert.equal(job.kind, "turn")
    assert.equal(job.input.text, "callback_data: yes")
    assert.equal(job.input.mentioned, true)
    assert.equal(job.input.trusted, true)
    assert.equal(job.input.sessionKey, "agent:main:main")
    assert.equal(job.input.route?.messageId, String(message.message_id))
    assert.match(job.input.header ?? "", new RegExp(`button of message ${message.message_id}`))
    assert.deepEqual(job.input.about, { sender: "Ann Lee (@ann_l)" })
    // Asked again before the turn runs: whoever was shut out meanwhile is not heard.
    assert.deepEqual(job.input.askedBy, { id: "4242", username: "ann_l", origin: "owner", isAuthorised: true })
    await bench.emulator.control.waitForCall({ method: "answerCallbackQuery" })
  })

  test("counts for no more than the turn that wrote it, whoever touches it", async () => {
    await begin()
    const makers: [origin: string | null, trusted: number | null, counts: [string, boolean]][] = [
      ["owner", 1, ["owner", true]],
      ["system", 1, ["owner", true]],
      ["approved-sender", 1, ["approved-sender", true]],
      ["owner", 0, ["owner", false]],
      ["webhook", 0, ["webhook", false]],
      [null, null, ["model", false]],
    ]
    for (const [index, [origin, trusted, counts]] of makers.entries()) {
      const message = await send(routeTo(ann, "private"), `Question ${index}`, yes)
      writtenBy(message, origin, trusted)
      click(ann, message)
      await bench.until(() => bench.jobs().length === index + 1, "a turn")
      const { input } = bench.jobs()[index] ?? assert.fail()
      assert.deepEqual([input.origin, input.trusted], counts, `made by ${origin}, ${trusted}`)
      const told = /what it says comes from a turn with words of others \((.+)\),/.exec(input.header ?? "")?.[1]
      const maker = counts[1] ? undefined : counts[0]
      assert.deepEqual([told, input.about?.["buttonBy"]], [maker, maker])
    }
  })

  test("that a turn with words of others has put below an owner's message is theirs", async () => {
    await begin()
    const route = routeTo(ann, "private")
    const message = await send(route, "Really?")
    writtenBy(message, "owner", 1)
    const before = bench.outbox().length
    await bench.store.write(async (write) => {
      const payload = { messageId: String(message.message_id), text: "Really!", plain: "Really!", linkPreview: false }
      const [row] = bench.channel.sender.plan(route, { text: "x", media: [] })
      assert.ok(row)
      write.addOutbox({ ...row, kind: "edit", payload: { ...payload, buttons: yes as never } })
    })
    await bench.until(() => bench.outbox()[before]?.state === "sent", "it is edited")
    bench.store.handle.prepare("update outbox set origin = 'webhook', trusted = 0 where kind = 'edit'").run()
    click(ann, message)
    await bench.until(() => bench.jobs().length === 1, "a turn")
    const { input } = bench.jobs()[0] ?? assert.fail()
    assert.deepEqual([input.origin, input.trusted], ["webhook", false])
  })

  test("answers in the topic of its message, also when the platform has forgotten the message", async () => {
    await begin()
    const { threadId } = bench.emulator.control.addTopic({ userId: ann.id, chatId: forum.id, name: "Plans" })
    const message = await send(routeTo(forum, "supergroup", threadId), "Which plan?", yes)
    click(ann, message)
    await bench.until(() => bench.jobs().length === 1, "a turn")
    const inaccessible = { chat: message.chat, message_id: message.message_id, date: 0 }
    const query = { id: "990", from: ann, chat_instance: "1", data: "no" }
    bench.emulator.control.injectUpdate({ update: { callback_query: { ...query, message: inaccessible } } })
    const unknown = { ...inaccessible, message_id: 99_999 }
    bench.emulator.control.injectUpdate({ update: { callback_query: { ...query, id: "991", message: unknown } } })
    await settled()
    const clicks = bench.jobs().filter((job) => job.input.text.startsWith("callback_data"))
    assert.deepEqual(
      clicks.map(({ input }) => [input.text, input.sessionKey, input.route?.threadId]),
      ["callback_data: yes", "callback_data: no"].map((text) => [
        text,
        `agent:main:chatapp:group:${forum.id}:topic:${threadId}`,
        String(threadId),
      ]),
    )
    await counted("skipped-topic-unknown", 1)
  })

  test("counts once by its own id, whatever updates tell of it, in one answer of the platform or after a restart", async () => {
    await begin()
    const message = await send(routeTo(ann, "private"), "Really?", yes)
    const { control } = bench.emulator
    const query = { id: "4711", from: ann, chat_instance: "1", data: "yes", message }
    const touched = () =>
      bench.jobs().flatMap(({ input }) => (input.text.startsWith("callback_data") ? [input.text] : []))
    for (const id of ["4711", "4711", "4712"]) control.injectUpdate({ update: { callback_query: { ...query, id } } })
    await settled()
    bench.store.handle.prepare("update job set state = 'done', head = 0").run()
    assert.deepEqual(touched(), ["callback_data: yes"], "nor a second touch of what waits already")
    await bench.stop()
    bench = await startBench({ emulator: bench.emulator, folder: bench.folder, chatapp: settings({}) })
    for (const id of ["4711", "4712"])
      control.injectUpdate({ update: { callback_query: { ...query, id, data: "no" } } })
    control.injectUpdate({ update: { callback_query: { ...query, id: "4713" } } })
    await settled()
    assert.deepEqual(touched(), ["callback_data: yes", "callback_data: yes"], "only the touch that is new")
    await counted("duplicate", 2)
  })

  test("of a stranger, in private or in a group, is answered and nothing else", async () => {
    await begin({ groupPolicy: "allowlist" })
    const message = await send(routeTo(group, "supergroup"), "Vote", yes)
    click(eve, message)
    const stranger = { id: "5", from: eve, chat_instance: "1", data: "yes" }
    const theirs = { message_id: 7, date: 1_700_000_000, chat: { id: eve.id, type: "private" }, text: "old" }
    bench.emulator.control.injectUpdate({ update: { callback_query: { ...stranger, message: theirs } } })
    await settled()
    assert.equal(bench.jobs().length, 1, "only Ann's message")
    await counted("skipped-click-refused", 2)
    await answered(2)
    assert.deepEqual(shown(), Array(2).fill("You may not use this button."))
  })

  test("counts only for whoever may speak now, not for whoever could when it was sent", async () => {
    await begin()
    const message = await send(routeTo(ann, "private"), "Really?", yes)
    bench.setConfig(settings({ allowFrom: [1] }))
    click(ann, message)
    await answered(1)
    assert.deepEqual(bench.jobs(), [])
  })

  test("is held to the scope of buttons", async () => {
    await begin({ groupPolicy: "open", groupAllowFrom: [] })
    const inGroup = await send(routeTo(group, "supergroup"), "Vote", yes)
    const direct = await send(routeTo(ann, "private"), "Really?", yes)
    const taken = async (inlineButtons: string) => {
      bench.store.handle.prepare("delete from job").run()
      const before = answers()
      bench.setConfig(settings({ groupPolicy: "open", groupAllowFrom: [], capabilities: { inlineButtons } }))
      for (const [who, message] of [
        [eve, inGroup],
        [ann, direct],
      ] as const)
        click(who, message)
      await answered(before + 2)
      return bench.jobs().map((job) => job.input.route?.chatKind)
    }
    assert.deepEqual(await taken("off"), [])
    assert.deepEqual(shown(), Array(2).fill("Buttons are switched off here."))
    assert.deepEqual(await taken("dm"), ["private"])
    assert.deepEqual(await taken("group"), ["supergroup"])
    assert.deepEqual(await taken("all"), ["supergroup", "private"])
    assert.deepEqual(await taken("allowlist"), ["private"], "an open group lists nobody")
  })

  test("of somebody whom allowFrom or groupAllowFrom lists counts in an open group, that of others is refused", async () => {
    const open = { groupPolicy: "open", capabilities: { inlineButtons: "allowlist" } }
    await begin({ ...open, groupAllowFrom: [] })
    const message = await send(routeTo(group, "supergroup"), "Vote", yes)
    const taken = async (lists: Record<string, unknown>) => {
      bench.store.handle.prepare("delete from job").run()
      const before = answers()
      bench.setConfig(settings({ ...open, ...lists }))
      for (const who of [ann, eve]) click(who, message)
      await answered(before + 2)
      return bench.jobs().map((job) => job.input.about?.sender)
    }
    assert.deepEqual(await taken({ groupAllowFrom: [] }), ["Ann Lee (@ann_l)"], "allowFrom")
    assert.deepEqual(await taken({ allowFrom: [], groupAllowFrom: [eve.id] }), ["Eve"], "groupAllowFrom")
    assert.deepEqual(await taken({ allowFrom: [], groupAllowFrom: [] }), [])
    assert.equal(shown().filter((text) => text === "You may not use this button.").length, 4)
    assert.equal((await taken({ allowFrom: ["*"], groupAllowFrom: [] })).length, 2, "everybody is listed")
  })

  test("never runs a command, whatever value somebody has given it", async () => {
    await begin()
    const values = ["/reset", "/config set commands.config=true", "run:x", "kept:y"]
    const buttons = values.map((data) => [{ text: data, data }])
    const message = await send(routeTo(ann, "private"), "Choose", buttons)
    const sent = message.reply_markup?.inline_keyboard.flat() ?? []
    for (const button of sent) if ("callback_data" in button) click(ann, message, button.callback_data)
    await bench.until(() => bench.jobs().length === values.length, "a turn each")
    assert.deepEqual(
      bench.jobs().map((job) => [job.kind, job.input.text]),
      values.map((value) => ["turn", `callback_data: ${value}`]),
    )
  })

  test("of a choice that we offer runs the command, with the rights of whoever touches it", async () => {
    await begin({ groupPolicy: "open", capabilities: { inlineButtons: "all" } })
    const choice: ReplyButton[][] = [[{ text: "high", data: "/think high", runs: true }]]
    const message = await send(routeTo(group, "supergroup"), "Thinking?", choice)
    click(eve, message)
    click(ann, message)
    await bench.until(() => bench.jobs().length === 1, "the owner's command")
    const job = bench.jobs()[0] ?? assert.fail()
    assert.equal(job.kind, "command")
    const { command, args, sender } = JSON.parse(job.payload) as {
      command: string
      args: string
      sender: { id: string }
    }
    assert.deepEqual([command, args, sender.id], ["think", "high", String(ann.id)])
    await counted("skipped-command-refused", 1)
  })

  test("touched again while the first touch waits counts once; a value without words or a lapsed key not at all", async () => {
    await begin()
    const message = await send(routeTo(ann, "private"), "Really?", yes)
    click(ann, message)
    click(ann, message)
    const query = { from: ann, chat_instance: "1", message }
    for (const [id, data] of [
      ["1", "  "],
      ["2", "kept:unknown"],
      ["3", "run:unknown"],
    ]) {
      bench.emulator.control.injectUpdate({ update: { callback_query: { ...query, id, data } } })
    }
    bench.emulator.control.duplicateUpdates({ count: 1 })
    await settled()
    assert.equal(bench.jobs().filter((job) => job.input.text === "callback_data: yes").length, 1)
    await counted("skipped-click-repeated", 1)
    await counted("skipped-empty-click", 1)
    await counted("skipped-button-lapsed", 2)
    await answered(5)
    assert.equal(shown().filter((text) => text === "This button is too old. Please write instead.").length, 2)
  })

  test("of each person counts by itself, waits behind the turn of another, and has what the operator says of the place", async () => {
    const groups = { "*": { systemPrompt: "Be brief.", toolsBySender: { "77": { deny: ["browser"] } } } }
    await begin({ groupPolicy: "open", groups, capabilities: { inlineButtons: "all" } })
    const message = await send(routeTo(group, "supergroup"), "Vote", yes)
    for (const who of [ann, eve]) click(who, message)
    await bench.until(() => bench.jobs().length === 2, "two turns")
    const [first, second] = bench.jobs().map(({ input }) => input)
    assert.deepEqual([first?.instructions, first?.tools, first?.queue], ["Be brief.", undefined, undefined])
    assert.deepEqual([second?.instructions, second?.tools], ["Be brief.", { deny: ["browser"] }])
    assert.equal(second?.queue?.mode, "collect")
  })

  test("that asks for lost words again is no turn, and tells the model nothing", async () => {
    await begin()
    const again: ReplyButton[][] = [[{ text: "Send it again", data: "doubt-1", handler: "resend" }]]
    const message = await send(routeTo(group, "supergroup"), "Not everything may have arrived.", again)
    bench.store.handle.raw.exec("update session set last_route = null")
    click(eve, message)
    click(ann, message)
    await bench.until(() => bench.jobs().length === 1, "the owner's")
    const [job] = bench.jobs()
    assert.equal(job?.kind, "resend")
    assert.deepEqual(JSON.parse(job?.payload ?? ""), {
      doubt: "doubt-1",
      channel: "chatapp",
      account: "default",
      chatId: String(group.id),
    })
    await answered(2)
    assert.deepEqual(shown(), ["You may not use this button.", undefined])
    assert.deepEqual(bench.store.handle.prepare("select key from session where last_route is not null").all(), [])
  })

  test("of a guest is heard in the guest's own session, and `last` is still not his chat", async () => {
    await begin()
    bench.setConfig(settings({ dmPolicy: "open", allowFrom: [4242, "*"] }))
    const message = await send(routeTo(eve, "private"), "Really?", yes)
    bench.store.handle.raw.exec("update session set last_route = null")
    click(eve, message)
    await bench.until(() => bench.jobs().length === 1, "a turn")
    assert.notEqual(bench.jobs()[0]?.input.sessionKey, "agent:main:main")
    assert.deepEqual(bench.store.handle.prepare("select key from session where last_route is not null").all(), [])
    click(ann, await send(routeTo(ann, "private"), "And you?", yes))
    await bench.until(() => bench.jobs().length === 2, "the owner's")
    const remembered = bench.store.handle.prepare("select key from session where last_route is not null").all()
    assert.deepEqual(
      remembered.map(({ key }) => key),
      ["agent:main:main"],
    )
  })

  test("below any picture of an album of ours is of that album, and in a public group too that was written to by its name", async () => {
    await begin({ groupPolicy: "open", capabilities: { inlineButtons: "all" } })
    const crew = bench.emulator.control.addChat({
      type: "supergroup",
      title: "C",
      username: "crew_of",
      members: [ann.id],
    })
    await bench.store.write(async (write) => {
      const [row] = bench.channel.sender.plan(routeTo(crew, "supergroup"), { text: "x", media: [] })
      assert.ok(row)
      const album = { ...row, chatId: "@crew_of", kind: "album", payload: { items: [1, 2, 3] }, runAt: 4e12 }
      write.addOutbox(album as never)
      write.prepare("update outbox set state = 'sent', remote_id = '500', origin = 'owner', trusted = 1").run()
    })
    const query = { from: ann, chat_instance: "1", data: "yes" }
    for (const id of [499, 500, 502, 503]) {
      const message = { message_id: id, date: 1_700_000_000, chat: crew, text: "old" }
      bench.emulator.control.injectUpdate({ update: { callback_query: { ...query, id: `q${id}`, message } } })
    }
    await bench.until(() => bench.jobs().length === 4, "a turn each")
    assert.deepEqual(
      bench.jobs().map(({ input }) => input.trusted),
      [false, true, true, false],
    )
  })
})

const react = (who: User, message: { chat: { id: number }; message_id: number }, ...emoji: string[]) =>
  bench.emulator.control.react({ userId: who.id, chatId: message.chat.id, messageId: message.message_id, emoji })

describe("a reaction", () => {
  test("to what we sent is told to the next turn of that conversation and wakes nobody, also after a restart", async () => {
    await begin()
    const message = await send(routeTo(ann, "private"), "Done.")
    const { emulator, folder } = bench
    await bench.stop()
    bench = await startBench({ emulator, folder, chatapp: settings({}) })
    react(ann, message, "👍")
    await bench.until(() => events().length === 1, "an event")
    assert.deepEqual(
      { ...events()[0] },
      {
        session_key: "agent:main:main",
        text: `chatapp reaction added: 👍 by Ann Lee (@ann_l) on msg ${message.message_id}`,
        trusted: 1,
        origin: "owner",
      },
    )
    assert.equal(bench.jobs().length, 0)
  })

  test("to a message of others counts only under all", async () => {
    await begin()
    const theirs = bench.emulator.control.sendText({ userId: ann.id, text: "mine" })
    react(ann, theirs, "🔥")
    await settled()
    assert.deepEqual(events(), [])
    bench.setConfig(settings({ reactionNotifications: "all" }))
    react(ann, theirs, "🔥", "👍")
    await bench.until(() => events().length === 1, "only what is new")
    assert.match(events()[0]?.text ?? "", /👍 by Ann/)
    bench.setConfig(settings({ reactionNotifications: "off" }))
    react(ann, theirs, "🎉")
    await settled()
    assert.equal(events().length, 1)
  })

  test("goes to the topic of the message, and nowhere when the topic is not known", async () => {
    await begin({ reactionNotifications: "all" })
    const { threadId } = bench.emulator.control.addTopic({ userId: ann.id, chatId: forum.id, name: "Plans" })
    const ours = await send(routeTo(forum, "supergroup", threadId), "In the topic")
    const general = await send(routeTo(forum, "supergroup"), "In general")
    const theirs = bench.emulator.control.sendText({ userId: ann.id, chatId: forum.id, threadId, text: "hers" })
    for (const message of [ours, general, theirs]) react(ann, message, "👍")
    await settled()
    const key = `agent:main:chatapp:group:${forum.id}`
    assert.deepEqual(
      events().map((event) => event.session_key),
      [`${key}:topic:${threadId}`, `${key}:topic:1`],
    )
    await counted("skipped-topic-unknown", 1)
  })

  test("of somebody who may not speak, of a bot, taken away, custom or seen already is none", async () => {
    await begin()
    const message = await send(routeTo(group, "supergroup"), "News")
    react(eve, message, "👎")
    react(ann, message, "👍")
    react(ann, message)
    react(ann, message, "👍")
    const base = { chat: group, message_id: message.message_id, date: 1_700_000_000, old_reaction: [] }
    const inject = (more: object) =>
      bench.emulator.control.injectUpdate({ update: { message_reaction: { ...base, ...more } } })
    inject({ user: { ...ann, id: 5, is_bot: true }, new_reaction: [{ type: "emoji", emoji: "👀" }] })
    inject({ user: ann, new_reaction: [{ type: "custom_emoji", custom_emoji_id: "1" }, { type: "paid" }] })
    inject({ actor_chat: { ...group }, new_reaction: [{ type: "emoji", emoji: "👌" }] })
    inject({ new_reaction: [{ type: "emoji", emoji: "👌" }] })
    await settled()
    assert.deepEqual(
      events().map((event) => event.text),
      [`chatapp reaction added: 👍 by Ann Lee (@ann_l) on msg ${message.message_id}`],
    )
  })

  test("in the name of a chat counts by that chat; a member's of an open group is told as foreign words", async () => {
    await begin({ groupPolicy: "open" })
    const message = await send(routeTo(group, "supergroup"), "News")
    react(eve, message, "👏")
    await bench.until(() => events().length === 1, "a member's")
    assert.deepEqual([events()[0]?.trusted, events()[0]?.origin], [0, "group-member"])
    const date = 1_700_000_000
    const reaction = { chat: group, message_id: message.message_id, date, actor_chat: group, old_reaction: [] }
    bench.emulator.control.injectUpdate({
      update: { message_reaction: { ...reaction, new_reaction: [{ type: "emoji", emoji: "👌" }] } },
    })
    await bench.until(() => events().length === 2, "the group's own")
    assert.match(events()[1]?.text ?? "", /👌 by Crew on msg/)
  })

  test("of a crowd fills no more than one turn", async () => {
    await begin({ groupPolicy: "open" })
    const message = await send(routeTo(group, "supergroup"), "News")
    for (let id = 1; id <= 80; id += 1) {
      const user = { id: 10_000 + id, is_bot: false, first_name: `Fan ${id}` }
      const reaction = { chat: group, message_id: message.message_id, date: 1_700_000_000, old_reaction: [] }
      const update = { message_reaction: { ...reaction, user, new_reaction: [{ type: "emoji", emoji: "👍" }] } }
      bench.emulator.control.injectUpdate({ update })
    }
    await settled()
    assert.equal(events().length, 50)
  })
})
