// Several bots in one channel: nothing of one counts for another, a change touches only what it names, and one bot is
// polled once on one machine.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type BotAccount, type Emulator, startEmulator } from "../../../emulator/index.ts"
import type { ChannelAccountStatus } from "../contract.ts"
import { type Bench, type BenchOptions, startBench } from "./test-bench/bench.ts"
import { endAll } from "../../../test/support/ends.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"

const stops: (() => Promise<unknown> | void)[] = []

afterEach(() => endAll(stops.splice(0).reverse()))

async function platform(): Promise<{ emulator: Emulator; second: BotAccount }> {
  const emulator = await startEmulator({ seed: 13 })
  stops.push(() => emulator.stop())
  return { emulator, second: emulator.control.addBot({ username: "second_bot" }) }
}

async function begin(options: BenchOptions): Promise<Bench> {
  const bench = await startBench(options)
  stops.push(() => bench.stop())
  return bench
}

const accountsOf = async (bench: Bench): Promise<Record<string, ChannelAccountStatus>> => {
  const all = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5000) })
  return Object.fromEntries(all.map((account) => [account.account, account]))
}
const texts = (bench: Bench) => bench.jobs().map(({ input }) => [input.route?.account, input.text])
const lines = (bench: Bench, words: string) => bench.logLines.filter((line) => line.includes(words))

/** Resolves when everything that waited for the bot has been stored and confirmed. */
async function allTaken(emulator: Emulator, botId = emulator.bot.id): Promise<void> {
  while (emulator.control.updates({ botId }).length > 0) {
    const after = emulator.control.calls({ method: "getUpdates", botId }).at(-1)?.id ?? 0
    await emulator.control.waitForCall({ method: "getUpdates", botId, after, phase: "started" }, { timeoutMs: 60_000 })
  }
}

describe("two accounts", () => {
  test("know nothing of each other's pairing: who was let in at one is asked by the other", async () => {
    const { emulator, second } = await platform()
    const bench = await begin({ emulator, chatapp: { accounts: { work: { botToken: second.token } } } })
    const ada = emulator.control.addUser()
    emulator.control.sendText({ userId: ada.id, text: "to the first" })
    emulator.control.sendText({ userId: ada.id, botId: second.user.id, text: "to the second" })
    await bench.until(() => bench.pairing.list("chatapp").requests.length === 2, "a request at each")
    const [request] = bench.pairing.list("chatapp", "default").requests
    await bench.pairing.approve("chatapp", request?.code ?? "")
    emulator.control.sendText({ userId: ada.id, text: "first again" })
    emulator.control.sendText({ userId: ada.id, botId: second.user.id, text: "second again" })
    await bench.until(() => bench.jobs().length === 2, "the messages that count")
    await allTaken(emulator, second.user.id)
    const { work } = await accountsOf(bench)
    assert.equal(work?.counters["pairing-repeat"], 1)
    assert.deepEqual(texts(bench), [
      ["default", "to the first"],
      ["default", "first again"],
    ])
    assert.equal(work?.counters["accepted"], undefined)
    assert.deepEqual(
      bench.pairing.list("chatapp", "work").requests.map((each) => each.senderId),
      [String(ada.id)],
    )
    assert.deepEqual(bench.pairing.list("chatapp", "work").approved, [])
  })

  test("take the same update ids as different updates, and keep offsets of their own", async () => {
    const { emulator, second } = await platform()
    const ada = emulator.control.addUser()
    const chatapp = { allowFrom: [ada.id], accounts: { work: { botToken: second.token } } }
    const bench = await begin({ emulator, chatapp })
    const said = (text: string) => ({
      update_id: 500,
      message: {
        message_id: 1,
        date: 1_800_000_000,
        chat: { id: ada.id, type: "private", first_name: "A" },
        from: { id: ada.id, is_bot: false, first_name: "A" },
        text,
      },
    })
    emulator.control.injectUpdate({ update: said("one") })
    emulator.control.injectUpdate({ update: said("two"), botId: second.user.id })
    await bench.until(() => bench.jobs().length === 2, "both")
    assert.deepEqual(
      new Map(texts(bench) as [string, string][]),
      new Map([
        ["default", "one"],
        ["work", "two"],
      ]),
    )
    const offsets = bench.store.handle.prepare("select account, next_update from poll_offset order by account").all()
    assert.deepEqual(
      offsets.map((row) => ({ ...row })),
      [
        { account: "default", next_update: 501 },
        { account: "work", next_update: 501 },
      ],
    )
  })
})

test("strangers beyond what can be told within five minutes are not told, and can ask again; none waits for nothing", async () => {
  const { emulator } = await platform()
  const bench = await begin({ emulator, chatapp: {} })
  await bench.channel.stop()
  const flood = 1_800
  const ask = (id: number) =>
    emulator.control.injectUpdate({
      update: {
        message: {
          message_id: 1,
          date: 1_800_000_000,
          chat: { id, type: "private", first_name: "F" },
          from: { id, is_bot: false, first_name: "F" },
          text: "hello",
        },
      },
      lane: String(id),
    })
  for (let id = 1; id <= flood; id += 1) ask(id)
  await bench.channel.start()
  await allTaken(emulator)
  const told = bench.pairing.list("chatapp").requests
  const rows = bench.outbox()
  assert.equal(told.length, rows.length)
  assert.ok(rows.length >= 1_500 && rows.length < flood, `${rows.length} are told`)
  const last = Math.max(...rows.map((row) => row.run_at))
  assert.ok(last - Date.now() <= 5 * 60_000, `the last is told in ${last - Date.now()} ms`)
  const known = new Set(told.map(({ senderId }) => senderId))
  assert.ok(!known.has(String(flood)), "who was not told has no request")
})

test("a token of the environment starts the default account beside those of the configuration, and no other", async () => {
  const { emulator, second } = await platform()
  const ada = emulator.control.addUser()
  const work = { botToken: second.token }
  const bench = await begin({
    emulator,
    chatapp: { allowFrom: [ada.id], botToken: undefined, accounts: { work, idle: {} } },
    environment: { chatappBotToken: emulator.token },
  })
  emulator.control.sendText({ userId: ada.id, text: "to the first" })
  emulator.control.sendText({ userId: ada.id, botId: second.user.id, text: "to the second" })
  await bench.until(() => bench.jobs().length === 2, "a message at each")
  assert.deepEqual(
    new Map(texts(bench) as [string, string][]),
    new Map([
      ["default", "to the first"],
      ["work", "to the second"],
    ]),
  )
  const { sender } = bench.channel
  assert.equal(sender.resolveTarget("42", undefined).account, "default")
  assert.equal(sender.resolveTarget("42", "work").account, "work")
  assert.throws(() => sender.resolveTarget("42", "wrok"), {
    code: "target-invalid",
    hint: "Accounts: default, idle, work",
  })
  const { default: main, idle } = await accountsOf(bench)
  assert.deepEqual([main?.tokenSource, idle?.tokenSource, idle?.state], ["env", "none", "off"])
})

describe("a change of the configuration", () => {
  test("starts a new account, ends a removed one, and leaves the others alone", async () => {
    const { emulator, second } = await platform()
    const ada = emulator.control.addUser()
    const bench = await begin({ emulator, chatapp: { allowFrom: [ada.id] } })
    await bench.until(() => lines(bench, "bot identified").length === 1, "the first account")
    const startedAt = (await accountsOf(bench))["default"]?.startedAt
    bench.setConfig({ allowFrom: [ada.id], accounts: { work: { botToken: second.token, name: "Work" } } })
    await bench.channel.apply()
    emulator.control.sendText({ userId: ada.id, botId: second.user.id, text: "to the second" })
    await bench.until(() => bench.jobs().length === 1, "the message to the new account")
    assert.equal((await accountsOf(bench))["work"]?.name, "Work")
    bench.setConfig({ allowFrom: [ada.id] })
    await bench.channel.apply()
    const left = await accountsOf(bench)
    assert.deepEqual(Object.keys(left), ["default"])
    assert.equal(left["default"]?.startedAt, startedAt)
    assert.equal(lines(bench, "channel account started").length, 2, "one start each")
  })

  test("of a token starts that account with its new bot, from what waits there", async () => {
    const { emulator, second } = await platform()
    const ada = emulator.control.addUser()
    const bench = await begin({ emulator, chatapp: { allowFrom: [ada.id] } })
    emulator.control.sendText({ userId: ada.id, text: "to the first" })
    await bench.until(() => bench.jobs().length === 1, "the first message")
    emulator.control.sendText({ userId: ada.id, botId: second.user.id, text: "to the second" })
    bench.setConfig({ allowFrom: [ada.id], botToken: second.token })
    await bench.channel.apply()
    await bench.until(() => bench.jobs().length === 2, "the second message")
    assert.deepEqual(
      texts(bench).map(([, text]) => text),
      ["to the first", "to the second"],
    )
  })

  test("that switches the channel off stops it, and on again goes on", async () => {
    const { emulator } = await platform()
    const ada = emulator.control.addUser()
    const bench = await begin({ emulator, chatapp: { allowFrom: [ada.id] } })
    bench.setConfig({ allowFrom: [ada.id], enabled: false })
    await bench.channel.apply()
    assert.equal((await accountsOf(bench))["default"]?.state, "off")
    emulator.control.sendText({ userId: ada.id, text: "waits" })
    bench.setConfig({ allowFrom: [ada.id] })
    await bench.channel.apply()
    await bench.until(() => bench.jobs().length === 1, "the message")
  })
})

describe("one bot in two gateways on one machine", () => {
  test("is polled by the first; the second waits, says for whom, and takes over when the first ends", async () => {
    const { emulator } = await platform()
    const ada = emulator.control.addUser()
    const runtimeFolder = mkdtempSync(join(tmpdir(), "svc-run-"))
    stops.push(() => rmSync(runtimeFolder, { recursive: true, force: true }))
    const options = { emulator, runtimeFolder, chatapp: { allowFrom: [ada.id] }, pollTiming: { lockRetryMs: 20 } }
    const first = await begin(options)
    emulator.control.sendText({ userId: ada.id, text: "to the first" })
    await first.until(() => first.jobs().length === 1, "the message at the first")
    const second = await begin(options)
    await second.until(() => lines(second, "polling waits for another gateway").length === 1, "the wait")
    const waiting = (await accountsOf(second))["default"]
    assert.equal(waiting?.state, "waiting")
    assert.match(
      waiting?.error ?? "",
      new RegExp(`process ${process.pid}, account default, state folder ${first.folder}`),
    )
    emulator.control.sendText({ userId: ada.id, text: "still to the first" })
    await first.until(() => first.jobs().length === 2, "the second message at the first")
    assert.deepEqual(
      emulator.control.calls({ method: "getUpdates" }).filter((call) => call.status === 409),
      [],
    )
    emulator.control.sendText({ userId: ada.id, text: "the last to the first" })
    await first.until(() => first.jobs().length === 3, "the third message at the first")
    await allTaken(emulator)
    await first.stop()
    emulator.control.sendText({ userId: ada.id, text: "to the second" })
    await second.until(() => second.jobs().some(({ input }) => input.text === "to the second"), "the message there")
    assert.equal((await accountsOf(second))["default"]?.state, "running")
    assert.deepEqual(texts(second), [["default", "to the second"]])
  })

  test("is polled without a lock where the folder belongs to others, and the log says so", async () => {
    const { emulator } = await platform()
    const ada = emulator.control.addUser()
    const bench = await begin({ emulator, runtimeFolder: "/dev/null/nowhere", chatapp: { allowFrom: [ada.id] } })
    emulator.control.sendText({ userId: ada.id, text: "hello" })
    await bench.until(() => bench.jobs().length === 1, "the message")
    assert.equal(lines(bench, "no lock for the poll").length, 1)
  })
})

test("a bot knows after a restart by which name it is called, also before the platform has said it", async () => {
  const { emulator } = await platform()
  const folder = temporaryFolder()
  const chatapp = { groupPolicy: "open" }
  const ada = emulator.control.addUser()
  const group = emulator.control.addChat({ type: "supergroup", members: [ada.id] })
  const first = await begin({ emulator, folder, chatapp })
  await first.until(() => lines(first, "bot identified").length === 1, "its name")
  await first.stop()
  emulator.control.fault({ kind: "hang", method: "getMe", times: 1_000 })
  emulator.control.sendText({ userId: ada.id, chatId: group.id, text: `@${emulator.bot.username} are you there?` })
  const second = await begin({ emulator, folder, chatapp })
  await second.until(() => second.jobs().length === 1, "the call")
  assert.equal(lines(second, "bot identified").length, 0)
})

test("a bot is asked for its name again where the platform fails", async () => {
  const { emulator } = await platform()
  emulator.control.fault({ kind: "status", status: 500, method: "getMe" })
  const bench = await begin({ emulator, chatapp: {} })
  await bench.until(() => lines(bench, "bot identified").length === 1, "its name")
  assert.equal(emulator.control.calls({ method: "getMe" }).length, 2)
})

test("a bot that is not answered waits, and says why, until it is answered again", async () => {
  const { emulator } = await platform()
  const bench = await begin({ emulator, chatapp: {} })
  await bench.until(() => lines(bench, "bot identified").length === 1, "its name")
  const told = async () => {
    await bench.channel.check(AbortSignal.timeout(5000))
    const { default: account } = await accountsOf(bench)
    return account?.state
  }
  await emulator.control.waitForCall({ method: "getUpdates", phase: "started" })
  assert.equal(await told(), "running")
  emulator.control.fault({ kind: "cut", method: "getMe" })
  assert.equal(await told(), "waiting")
  assert.equal(await told(), "running")
})

test("a bot that was refused once works as soon as a poll is answered, though nobody asks again", async () => {
  const { emulator } = await platform()
  const bench = await begin({ emulator, chatapp: { allowFrom: [42] } })
  await bench.until(() => lines(bench, "bot identified").length === 1, "its name")
  await emulator.control.waitForCall({ method: "getUpdates", phase: "started" })
  emulator.control.fault({ kind: "status", status: 401, method: "getMe" })
  await bench.channel.check(AbortSignal.timeout(5000))
  const state = async () => (await accountsOf(bench))["default"]?.state
  assert.equal(await state(), "stopped")
  emulator.control.addUser({ id: 42 })
  emulator.control.sendText({ userId: 42, text: "hello" })
  await bench.until(() => bench.jobs().length === 1, "the message")
  assert.equal(await state(), "running")
})

describe("a listed @name", () => {
  const named = (emulator: Emulator, username: string) => emulator.control.addUser({ username })

  test("is pinned to the first id that writes under it; another id with the name is a stranger", async () => {
    const { emulator } = await platform()
    const bench = await begin({ emulator, chatapp: { dmPolicy: "allowlist", allowFrom: ["@Alice"] } })
    const say = (userId: number, username: string, text: string) =>
      emulator.control.injectUpdate({
        update: {
          message: {
            message_id: 1,
            date: 1_800_000_000,
            chat: { id: userId, type: "private", first_name: "A" },
            from: { id: userId, is_bot: false, first_name: "A", username },
            text,
          },
        },
      })
    say(1, "alice", "first")
    await bench.until(() => bench.jobs().length === 1, "the first")
    say(2, "ALICE", "somebody else")
    await bench.until(() => lines(bench, "name belongs to another id").length === 1, "the refusal")
    say(2, "ALICE", "and again")
    say(1, "renamed", "still me")
    await bench.until(() => bench.jobs().length === 2, "the renamed one")
    assert.deepEqual(
      texts(bench).map(([, text]) => text),
      ["first", "still me"],
    )
    const { default: account } = await accountsOf(bench)
    assert.deepEqual(
      account?.pins.map(({ name, id }) => [name, id]),
      [["@alice", "1"]],
    )
    assert.equal(account?.counters["name-refused"], 2)
    assert.equal(lines(bench, "name belongs to another id").length, 1, "the log does not fill with it")
    assert.deepEqual(await bench.channel.unpin("@alice"), ["default"])
    say(2, "alice", "the new alice")
    await bench.until(() => bench.jobs().length === 3, "the new one")
    say(1, "renamed", "no more")
    await bench.until(() => lines(bench, "not-listed").length >= 2, "the drop")
    assert.equal(bench.jobs().length, 3)
  })

  test("stays pinned over a restart, and is forgotten when it is taken off the list", async () => {
    const { emulator } = await platform()
    const folder = mkdtempSync(join(tmpdir(), "svc-pins-"))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const chatapp = { dmPolicy: "allowlist", allowFrom: ["@bob"] }
    const bob = named(emulator, "bob")
    const first = await begin({ emulator, folder, chatapp })
    emulator.control.sendText({ userId: bob.id, text: "one" })
    await first.until(() => first.jobs().length === 1, "the first message")
    await first.stop()
    const second = await begin({ emulator, folder, chatapp })
    assert.deepEqual(
      (await accountsOf(second))["default"]?.pins.map(({ id }) => id),
      [String(bob.id)],
    )
    second.setConfig({ ...chatapp, allowFrom: [] })
    emulator.control.sendText({ userId: bob.id, text: "two" })
    await second.until(() => lines(second, "no longer listed").length === 1, "the end of the pin")
    second.setConfig(chatapp)
    assert.deepEqual((await accountsOf(second))["default"]?.pins, [])
  })

  test("of one account says nothing to another", async () => {
    const { emulator, second } = await platform()
    const eve = named(emulator, "eve")
    const work = { botToken: second.token, allowFrom: [] }
    const chatapp = { dmPolicy: "allowlist", allowFrom: ["@eve"], accounts: { work } }
    const bench = await begin({ emulator, chatapp })
    emulator.control.sendText({ userId: eve.id, text: "to the first" })
    await bench.until(() => bench.jobs().length === 1, "the message")
    emulator.control.sendText({ userId: eve.id, botId: second.user.id, text: "to the second" })
    await bench.until(() => lines(bench, "not-listed").length === 1, "the drop")
    assert.deepEqual((await accountsOf(bench))["work"]?.pins, [])
  })
})

test("a probe says what keeps groups without mentions from working, and how to mend it", async () => {
  const { emulator } = await platform()
  const ada = emulator.control.addUser()
  const bot = emulator.control.addBot({ username: "private_bot", privacy: true })
  const chat = { type: "supergroup" as const, members: [ada.id], botId: bot.user.id }
  const inside = emulator.control.addChat(chat)
  const outside = emulator.control.addChat({ ...chat, botStatus: "left" })
  const groups = {
    [String(inside.id)]: { requireMention: false },
    [String(outside.id)]: { requireMention: false },
    "my group": {},
    "*": { requireMention: true },
  }
  const bench = await begin({ emulator, chatapp: { groups, botToken: bot.token, allowFrom: ["@Private_Bot", ada.id] } })
  const [status] = await bench.channel.status({ probe: true, signal: AbortSignal.timeout(10_000) })
  const { probe } = status ?? {}
  assert.equal(probe?.ok, true)
  assert.deepEqual(
    new Map(probe?.groups?.map(({ id, ok }) => [id, ok])),
    new Map([
      [String(inside.id), true],
      [String(outside.id), false],
    ]),
  )
  const problems = probe?.warnings.map(({ problem }) => problem).join("\n") ?? ""
  assert.match(problems, /privacy mode is on/)
  assert.match(problems, /@private_bot, which is the bot itself/)
  assert.match(problems, /"my group".* not a numeric id/)
  assert.match(problems, new RegExp(`not in group ${outside.id}`))

  // An administrator hears everything; and what holds for all groups holds for those that do not say otherwise.
  emulator.control.setMember({ chatId: inside.id, userId: bot.user.id, status: "administrator", by: ada.id })
  const changed = { [inside.id]: {}, [outside.id]: { enabled: false }, "-7": { requireMention: true } }
  bench.setConfig({ groups: { ...changed, "*": { requireMention: false } }, botToken: bot.token })
  const [now] = await bench.channel.status({ probe: true, signal: AbortSignal.timeout(10_000) })
  assert.deepEqual(now?.probe?.groups, [{ id: String(inside.id), ok: true, status: "administrator" }])
  assert.deepEqual(
    now.probe.warnings.map(({ problem }) => problem.split(":")[0]),
    ['groups["*"] has requireMention false'],
  )
})
