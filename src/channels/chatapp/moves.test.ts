// A group that becomes a supergroup, through the channel's public faces.
import assert from "node:assert/strict"
import { afterEach, test } from "node:test"
import type { Chat, User } from "grammy/types"
import { type Config, type ConfigPath, configSchema } from "../../config/index.ts"
import type { WriteResult } from "../../config/index.ts"
import { silentLog } from "../../../test/support/store.ts"
import { createBackground } from "../../kernel/index.ts"
import type { Route } from "../../sessions/route.ts"
import { ChatMoves } from "./moves/moves.ts"
import { createSettings } from "./settings.ts"
import { type Bench, type BenchOptions, startBench } from "./test-bench/bench.ts"

let bench: Bench
let ann: User
let group: Chat
let botName: string
/** What the channel asked to be renamed in the configuration. */
let renamed: { key: ConfigPath; to: string }[]

afterEach(() => bench.end())

const groupsFor = (id: number | string) => ({
  allowFrom: [4242],
  groupPolicy: "open",
  groups: { [id]: { requireMention: false } },
})

async function begin(
  chatapp: (id: number) => Record<string, unknown> = groupsFor,
  options: BenchOptions = {},
): Promise<void> {
  renamed = []
  bench = await startBench({ ...options, chatapp: chatapp(-500), renameConfig: options.renameConfig ?? renameGroups })
  const { control, bot } = bench.emulator
  botName = bot.username
  ann = control.addUser({ id: 4242, firstName: "Ann" })
  group = control.addChat({ type: "group", id: -500, title: "Crew", members: [ann.id] })
}

/** As the gateway does it: when it returns, the new configuration is in use. */
function renameGroups(entries: readonly { key: ConfigPath; to: string }[]): WriteResult {
  renamed.push(...entries)
  const to = entries[0]?.to ?? assert.fail()
  bench.setConfig(groupsFor(to))
  return { kind: "ok", snapshot: {} as never, files: ["svc.json"] }
}

function say(chat: Chat, text: string) {
  return bench.emulator.control.sendText({ userId: ann.id, chatId: chat.id, text })
}

function rows(sql: string): Record<string, unknown>[] {
  return bench.store.handle
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }))
}

const isDone = () => rows("select config_done from chat_move where config_done = 1").length === 1
const keyOf = (chat: Chat) => `agent:main:chatapp:group:${chat.id}`

async function moved(): Promise<Chat> {
  const supergroup = bench.emulator.control.migrate({ chatId: group.id })
  await bench.until(isDone, "the configuration follows")
  return supergroup
}

test("session, waiting turns, unsent messages, history and routes move with the chat, in order", async () => {
  await begin((id) => ({ ...groupsFor(id), groups: { [id]: {} } }))
  say(group, `@${botName} one`)
  say(group, `@${botName} two`)
  say(group, "not for the bot")
  await bench.until(() => bench.jobs().length === 2 && rows("select * from group_history").length === 1, "two turns")
  const route: Route = { channel: "chatapp", account: "default", chatId: "-500", chatKind: "group", messageId: "3" }
  await bench.store.write(async (write) => {
    for (const text of ["first", "second"]) {
      const reply = { text, media: [], replyTo: "3" }
      for (const row of bench.channel.sender.plan(route, reply))
        write.addOutbox({ ...row, runAt: Date.now() + 600_000 })
    }
    write.addEvent({ sessionKey: keyOf(group), text: "something", origin: "system", trusted: true })
    write.prepare('update session set settings = \'{"activation":"always"}\'').run()
  })
  const before = rows("select session_id from session")
  const supergroup = await moved()
  assert.deepEqual(rows("select key, session_id from session"), [{ key: keyOf(supergroup), ...before[0] }])
  const [session] = rows("select last_route from session")
  const lastRoute = JSON.parse(String(session?.["last_route"])) as Route
  assert.deepEqual(
    [lastRoute.chatId, lastRoute.chatKind, lastRoute.messageId],
    [String(supergroup.id), "supergroup", undefined],
  )
  assert.deepEqual(
    bench.jobs().map((job) => [job.lane_key, job.head, job.input.sessionKey, job.input.route?.chatId]),
    [1, 0].map((head) => [keyOf(supergroup), head, keyOf(supergroup), String(supergroup.id)]),
  )
  assert.deepEqual(
    bench.outbox().map((row) => [row.lane_key, row.head, row.chat_id, "replyTo" in JSON.parse(row.payload)]),
    [1, 0].map((head) => [`chatapp:default:${supergroup.id}`, head, String(supergroup.id), false]),
  )
  assert.deepEqual(rows("select session_key from event"), [{ session_key: keyOf(supergroup) }])
  assert.deepEqual(rows("select chat_id, session_key, message_id < 0 as old from group_history"), [
    { chat_id: String(supergroup.id), session_key: keyOf(supergroup), old: 1 },
  ])
  // The setting of the session is found under its new key.
  bench.setConfig({ allowFrom: [4242], groupPolicy: "open" })
  say(supergroup, "without calling")
  await bench.until(() => bench.jobs().length === 3, "the session is answered always")
})

test("the configuration's entry is renamed once, though the platform tells of it twice and again", async () => {
  await begin()
  const supergroup = await moved()
  assert.deepEqual(renamed, [{ key: ["channels", "chatapp", "groups", "-500"], to: String(supergroup.id) }])
  const { control } = bench.emulator
  const old = { message_id: 90, date: 1, chat: { id: -500, type: "group", title: "Crew" } }
  control.injectUpdate({ update: { message: { ...old, migrate_to_chat_id: supergroup.id } } })
  say(supergroup, "here now")
  await bench.until(() => bench.jobs().length === 1, "the new chat is answered")
  assert.equal(renamed.length, 1)
  assert.equal(bench.logLines.filter((line) => line.includes("group moved to another chat id")).length, 1)
})

test("what comes from the new chat in the same batch is answered as the old entry says", async () => {
  await begin(groupsFor, { renameConfig: () => ({ kind: "invalid", issues: [] }) })
  const supergroup = bench.emulator.control.migrate({ chatId: group.id })
  say(supergroup, "already here")
  await bench.until(() => bench.jobs().length === 1, "the turn")
  assert.equal(bench.jobs()[0]?.input.sessionKey, keyOf(supergroup))
  await bench.until(() => bench.logLines.some((line) => line.includes("could not be changed")), "the error is told")
  assert.equal(isDone(), false)
})

test("the agent that a binding names goes on to answer in the new chat, after a restart too", async () => {
  const match = { channel: "chatapp", peer: { kind: "group", id: "-500" } }
  const config = { agents: { list: [{ id: "main" }, { id: "home" }] }, bindings: [{ agentId: "home", match }] }
  await begin(groupsFor, { config })
  const supergroup = bench.emulator.control.migrate({ chatId: group.id })
  say(supergroup, "who is here?")
  await bench.until(() => bench.jobs().length === 1, "a turn")
  await bench.until(isDone, "the configuration follows")
  await bench.stop()
  const { emulator, folder } = bench
  bench = await startBench({ emulator, folder, chatapp: groupsFor(supergroup.id), config })
  say(supergroup, "and now?")
  await bench.until(() => bench.jobs().length === 2, "another one")
  assert.deepEqual(
    bench.jobs().map(({ input }) => input.sessionKey),
    Array(2).fill(`agent:home:chatapp:group:${supergroup.id}`),
  )
})

test("a configuration that could not be changed is changed after a restart", async () => {
  await begin(groupsFor, { renameConfig: () => ({ kind: "invalid", issues: [] }) })
  const supergroup = bench.emulator.control.migrate({ chatId: group.id })
  await bench.until(() => bench.logLines.some((line) => line.includes("could not be changed")), "the first try")
  await bench.stop()
  bench = await startBench({
    emulator: bench.emulator,
    folder: bench.folder,
    chatapp: groupsFor(-500),
    renameConfig: renameGroups,
  })
  await bench.until(isDone, "the second try")
  assert.deepEqual(
    renamed.map(({ to }) => to),
    [String(supergroup.id)],
  )
})

test("configWrites off leaves the configuration alone, and the new chat has to be listed by hand", async () => {
  await begin((id) => ({ ...groupsFor(id), configWrites: false }))
  const supergroup = bench.emulator.control.migrate({ chatId: group.id })
  say(supergroup, "anybody?")
  await bench.until(() => bench.logLines.some((line) => line.includes("group-not-listed")), "the drop")
  assert.deepEqual(renamed, [])
  assert.equal(bench.jobs().length, 0)
})

test("a chat that the configuration does not name changes nothing in it", async () => {
  await begin(() => ({ allowFrom: [4242], groupPolicy: "open", groups: { "-9": {} } }))
  bench.emulator.control.migrate({ chatId: group.id })
  await bench.until(isDone, "the move is recorded")
  assert.deepEqual(renamed, [])
})

test("a refused send teaches the move when no message has told of it", async () => {
  await begin()
  const supergroup = bench.emulator.control.migrate({ chatId: group.id })
  await bench.until(isDone, "the move")
  await bench.store.write(async (write) => {
    write.prepare("delete from chat_move").run()
    const route: Route = { channel: "chatapp", account: "default", chatId: "-500", chatKind: "group" }
    for (const row of bench.channel.sender.plan(route, { text: "late answer", media: [] })) write.addOutbox(row)
  })
  await bench.emulator.control.waitForMessage({ chatId: supergroup.id, from: "bot", match: "late answer" })
  await bench.until(() => rows("select new_id from chat_move").length === 1, "the move is known")
})

test("a move is settled though another account's batch has failed while it was being written", async () => {
  const match = { channel: "chatapp", peer: { kind: "group", id: "-500" } }
  const config: Config = configSchema.parse({
    agents: { list: [{ id: "main" }, { id: "home" }] },
    bindings: [{ agentId: "home", match }],
    channels: { chatapp: groupsFor(-500) },
  })
  await begin()
  const background = createBackground(silentLog)
  const moves = new ChatMoves({
    store: bench.store,
    config: () => config,
    renameConfig: renameGroups,
    background,
    onMoved: () => undefined,
    log: silentLog,
  })
  const settings = moves.follow(createSettings(() => config).account("default"))
  const move = { oldId: "-500", newId: "-1005" }
  moves.see(move)
  await bench.store.write(async (write) => {
    moves.reload()
    moves.apply(write, move, "default")
  })
  moves.settle()
  assert.equal(settings.boundAgent({ chatKind: "supergroup", chatId: "-1005", topicId: undefined }), "home")
  await background.idle()
  assert.deepEqual(renamed, [{ key: ["channels", "chatapp", "groups", "-500"], to: "-1005" }])
  assert.ok(isDone())
})

test("being added, removed and blocked is told and counted, and ends nothing", async () => {
  await begin()
  const { control, bot } = bench.emulator
  control.setMember({ chatId: group.id, userId: bot.id, status: "kicked", by: ann.id })
  control.setMember({ chatId: group.id, userId: bot.id, status: "member", by: ann.id })
  control.sendText({ userId: ann.id, text: "hello" })
  await bench.until(() => bench.jobs().length === 1, "the private message")
  await bench.until(() => bench.logLines.some((line) => line.includes('"bot added"')), "the line about it")
  const [status] = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5000) })
  assert.equal(status?.counters["bot-removed"], 1)
  assert.equal(status?.counters["bot-added"], 1)
  assert.ok(bench.logLines.some((line) => line.includes('"bot removed"')))
})

/** The schema takes what these tests configure. */
test("group entries of accounts are found beside the channel's", async () => {
  await begin()
  const { groupEntries } = await import("./moves/config-keys.ts")
  const config: Config = configSchema.parse({
    channels: {
      chatapp: {
        groups: { "-500": {} },
        accounts: { other: { groups: { "-500": {} }, configWrites: false }, third: { groups: { "-1": {} } } },
      },
    },
  })
  assert.deepEqual(groupEntries(config, "-500"), [
    { key: ["channels", "chatapp", "groups", "-500"], mayWrite: true },
    { key: ["channels", "chatapp", "accounts", "other", "groups", "-500"], mayWrite: false },
  ])
})
