// Whom a turn of an owner may write to: each way in which the bot comes to know a chat, and what does not count as one.
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import { AppError } from "../../kernel/index.ts"
import { type Bench, startBench } from "./test-bench/bench.ts"

const owner = 4242
const group = { type: "supergroup" as const, title: "Crew" }
let bench: Bench

before(async () => {
  bench = await startBench({ chatapp: { dmPolicy: "pairing", allowFrom: [owner] } })
  bench.emulator.control.addUser({ id: owner, firstName: "Ann" })
})
after(() => bench.end())

/** Asked of the tool, as a turn of the owner does; whether the platform then takes the reaction does not matter. */
async function knows(to: number | string): Promise<boolean> {
  const context = {
    agentId: "main",
    sessionKey: "agent:main:main",
    runId: `to ${to}`,
    origin: "owner" as const,
    trusted: true,
    recall: "owner" as const,
    route: { channel: "chatapp", account: "default", chatId: String(owner), chatKind: "private" as const },
    signal: AbortSignal.timeout(60_000),
  }
  const tool = bench.channel.tools(context).find(({ name }) => name === "message")
  assert.ok(tool)
  try {
    await tool.run(tool.input.parse({ action: "react", to: String(to), messageId: "1", emoji: "👍" }), context as never)
    return true
  } catch (error) {
    if (error instanceof AppError && /does not know this chat/.test(error.message)) return false
    throw error
  }
}

const settings = (more: Record<string, unknown> = {}) =>
  bench.setConfig({ dmPolicy: "pairing", allowFrom: [owner], reactionLevel: "extensive", ...more })

async function settled(): Promise<void> {
  const marker = `marker ${Math.random()}`
  bench.emulator.control.sendText({ userId: owner, text: marker })
  await bench.until(() => bench.jobs().some((job) => job.input.text === marker), "all before it is dealt with")
}

describe("a person is known", () => {
  test("who is listed, in any list of people", async () => {
    settings({
      groupAllowFrom: [501],
      groups: { "-1009": { allowFrom: [502], topics: { "5": { allowFrom: [503] } } } },
    })
    for (const id of [owner, 501, 502, 503]) assert.equal(await knows(id), true, String(id))
    assert.equal(await knows(504), false)
  })

  test("whom a listed @name was pinned to, for as long as it is listed", async () => {
    settings({ allowFrom: [owner, "@vera_k"] })
    const vera = bench.emulator.control.addUser({ id: 510, firstName: "Vera", username: "vera_k" })
    assert.equal(await knows(vera.id), false)
    bench.emulator.control.sendText({ userId: vera.id, text: "/start" })
    await settled()
    assert.equal(await knows(vera.id), true)
    settings()
    assert.equal(await knows(vera.id), false)
  })

  test("who is paired, from the approval to its end; being told a code is not enough", async () => {
    settings()
    const eve = bench.emulator.control.addUser({ id: 520, firstName: "Eve" })
    bench.emulator.control.sendText({ userId: eve.id, text: "let me in" })
    await bench.emulator.control.waitForMessage({ chatId: eve.id, from: "bot" })
    await settled()
    assert.equal(await knows(eve.id), false)
    const { code } = bench.pairing.list("chatapp").requests.find(({ senderId }) => senderId === "520") ?? assert.fail()
    await bench.pairing.approve("chatapp", code)
    assert.equal(await knows(eve.id), true)
    await bench.pairing.revoke("chatapp", "520")
    assert.equal(await knows(eve.id), false)
  })
})

describe("a group is known", () => {
  test("that the configuration names, unless it is switched off there", async () => {
    settings({ groups: { "-1001": {}, "-1002": { enabled: false } } })
    assert.equal(await knows(-1001), true)
    assert.equal(await knows(-1002), false)
    assert.equal(await knows(-1003), false)
  })

  test("to which somebody who is heard there has brought the bot, until it leaves", async () => {
    settings({ groupAllowFrom: [owner] })
    const { control } = bench.emulator
    const { id } = control.addChat({ ...group, members: [owner] })
    const bot = control.bots()[0] ?? assert.fail()
    assert.equal(await knows(id), false)
    control.setMember({ chatId: id, userId: bot.user.id, status: "member", by: owner })
    await settled()
    assert.equal(await knows(id), true)
    settings({ groupAllowFrom: [owner], groups: { "-1001": {} } })
    assert.equal(await knows(id), false, "not one of those that are listed")
    settings({ groupAllowFrom: [owner], groupPolicy: "disabled" })
    assert.equal(await knows(id), false, "groups are switched off")
    settings({ groupAllowFrom: [owner] })
    control.setMember({ chatId: id, userId: bot.user.id, status: "kicked", by: owner })
    await settled()
    assert.equal(await knows(id), false)
  })

  test("where somebody was heard, and not because a stranger has added the bot", async () => {
    settings({ groupAllowFrom: [owner] })
    const { control } = bench.emulator
    const eve = control.addUser({ id: 530, firstName: "Eve" })
    const { id } = control.addChat({ ...group, members: [owner, eve.id] })
    const bot = control.bots()[0] ?? assert.fail()
    control.setMember({ chatId: id, userId: bot.user.id, status: "administrator", by: eve.id })
    control.sendText({ userId: eve.id, chatId: id, text: "hello bot" })
    await settled()
    assert.equal(await knows(id), false)
    control.sendText({ userId: owner, chatId: id, text: "we are here" })
    await settled()
    assert.equal(await knows(id), true)
  })

  test("while the bot may read there, however little else it may do; each change is told of as what it is", async () => {
    settings({ groupAllowFrom: [owner] })
    const { control } = bench.emulator
    const { id } = control.addChat({ ...group, members: [owner] })
    const bot = control.bots()[0] ?? assert.fail()
    const from = { id: owner, is_bot: false, first_name: "O" }
    const member = (status: string, more: object = {}) => ({ status, user: bot.user, ...more })
    const states = {
      in: member("member"),
      out: member("left"),
      kicked: member("kicked", { until_date: 0 }),
      muted: member("restricted", { is_member: true }),
      gone: member("restricted", { is_member: false }),
    }
    type Status = keyof typeof states
    const change = async (before: Status, after: Status, chat: object = { id, type: "supergroup", title: "Crew" }) => {
      const told = bench.logLines.length
      const my_chat_member = {
        chat,
        from,
        date: 1_700_000_000,
        old_chat_member: states[before],
        new_chat_member: states[after],
      }
      control.injectUpdate({ update: { my_chat_member } } as never)
      await settled()
      const words = bench.logLines.slice(told).map((line) => (JSON.parse(line) as { msg: string }).msg)
      return [words.find((each) => each.startsWith("bot ")), await knows(id)]
    }
    assert.deepEqual(await change("out", "muted"), ["bot added", true])
    assert.deepEqual(await change("muted", "in"), ["bot rights changed", true])
    assert.deepEqual(await change("in", "gone"), ["bot removed", false])
    assert.deepEqual(await change("out", "in"), ["bot added", true])
    assert.deepEqual(await change("in", "kicked"), ["bot removed", false])
    const direct = { id: owner, type: "private", first_name: "O" }
    assert.equal((await change("in", "kicked", direct))[0], "bot blocked")
    assert.equal((await change("kicked", "in", direct))[0], "bot unblocked")
  })

  test("also after it has got another id", async () => {
    settings({ groupAllowFrom: [owner] })
    const { control } = bench.emulator
    const bot = control.bots()[0] ?? assert.fail()
    const { id } = control.addChat({ type: "group", title: "Crew", members: [owner] })
    control.setMember({ chatId: id, userId: bot.user.id, status: "member", by: owner })
    await settled()
    const moved = control.migrate({ chatId: id })
    await settled()
    assert.equal(await knows(moved.id), true)
    assert.equal(await knows(id), false)
  })
})
