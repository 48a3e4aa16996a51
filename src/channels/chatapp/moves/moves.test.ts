// Moves by themselves: what the configuration and its bindings say about a chat that got another id.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import pino from "pino"
import { silentLog, testStore } from "../../../../test/support/store.ts"
import { type Config, type ConfigPath, configSchema } from "../../../config/index.ts"
import { createBackground } from "../../../kernel/index.ts"
import { createSettings } from "../settings.ts"
import { ChatMoves } from "./moves.ts"

const move = { oldId: "-500", newId: "-1005" }

async function begin(context: TestContext, chatapp: object, more: object = {}) {
  const crashPoint = (point: string) => assert.notEqual(point, "ingest.beforeCommit")
  const store = await testStore(context, { crashPoint })
  const parse = (channel: object): Config => configSchema.parse({ ...more, channels: { chatapp: channel } })
  let config = parse(chatapp)
  const renamed: { key: ConfigPath; to: string }[] = []
  const logged: string[] = []
  const background = createBackground(silentLog)
  let told = 0
  const moves = new ChatMoves({
    store,
    config: () => config,
    renameConfig(entries) {
      renamed.push(...entries)
      return { kind: "ok", snapshot: {} as never, files: ["svc.json"] }
    },
    background,
    onMoved: () => (told += 1),
    log: pino({}, { write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg) }),
  })
  return {
    store,
    moves,
    renamed,
    logged,
    told: () => told,
    setConfig: (channel: object) => (config = parse(channel)),
    followed: () => moves.follow(createSettings(() => config).account("default")),
    async learn() {
      await moves.learn(move, "default")
      await background.idle()
    },
    isDone: () => store.handle.prepare("select config_done from chat_move").get()?.["config_done"] === 1,
  }
}

test("only entries that may be written are renamed, and what is left to its owner is told", async (context) => {
  const groups = { "-500": {} }
  const accounts = { other: { botToken: "1:a", groups, configWrites: false } }
  const { renamed, logged, learn, isDone, told } = await begin(context, { groups, accounts })
  await learn()
  assert.deepEqual(renamed, [{ key: ["channels", "chatapp", "groups", "-500"], to: "-1005" }])
  assert.ok(isDone())
  assert.deepEqual(logged, [
    "group moved to another chat id",
    "moved group: configWrites is off, entry left as it is",
    "moved group: settled in the configuration",
  ])
  await learn()
  assert.deepEqual([renamed.length, logged.length, told()], [1, 3, 1], "known: nothing is done again")
})

test("an entry that the new id has already is told of, and is what counts meanwhile", async (context) => {
  const groups = { "-500": { requireMention: false }, "-1005": { requireMention: true } }
  const { moves, logged, learn, followed } = await begin(context, { groups })
  moves.see(move)
  assert.equal(followed().groupBook.of("-1005")?.requireMention, true)
  await learn()
  assert.ok(logged.includes("moved group: the new id has an entry already, it stays as it is"))
})

test("the new chat is answered as the old entry says until the configuration has followed, and no longer", async (context) => {
  const { moves, setConfig, learn, followed } = await begin(context, { groups: { "-500": { requireMention: false } } })
  assert.equal(followed().groupBook.of("-1005"), undefined)
  moves.see(move)
  assert.equal(followed().groupBook.of("-1005")?.requireMention, false)
  setConfig({ groups: { "-500": { requireMention: true } } })
  assert.equal(followed().groupBook.of("-1005")?.requireMention, true, "as it says now")
  moves.reload()
  assert.equal(followed().groupBook.of("-1005"), undefined, "its transaction has failed")
  await learn()
  // Whoever lists the old id again does not mean the new chat.
  assert.equal(followed().groupBook.of("-1005"), undefined)
  moves.see(move)
  assert.equal(followed().groupBook.of("-1005"), undefined)
})

test("a move that could not be written is not known", async (context) => {
  const { store, learn, followed, renamed, told, isDone } = await begin(context, { groups: { "-500": {} } })
  const learned = learn()
  await new Promise((resolve) => process.nextTick(resolve))
  // All that is written in one turn of the event loop is committed together, or not at all.
  const failing = store.ingest({ source: "s", account: "a", deliveryId: "1", payload: null })
  const outcomes = await Promise.allSettled([learned, failing])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["rejected", "rejected"],
  )
  assert.deepEqual([followed().groupBook.of("-1005"), renamed, told()], [undefined, [], 0])
  await learn()
  assert.deepEqual([renamed.length, told(), isDone()], [1, 1, true], "it is learned by the next that is refused")
})

test("a binding means the chat by either id, topics too; one of the new id wins, and another channel's says nothing", async (context) => {
  const agents = { list: [{ id: "main" }, { id: "home" }, { id: "work" }] }
  const of = (agentId: string, id: string, channel = "chatapp") => ({
    agentId,
    match: { channel, peer: { kind: "group", id } },
  })
  const agentIn = async (bindings: object[], topicId?: string) => {
    const { learn, followed } = await begin(context, { groups: { "-500": {} } }, { agents, bindings })
    await learn()
    return followed().boundAgent({ chatKind: "supergroup", chatId: "-1005", topicId })
  }
  assert.equal(await agentIn([of("home", "-500")]), "home")
  assert.equal(await agentIn([of("home", "-500:topic:5")], "5"), "home")
  assert.equal(await agentIn([of("home", "-500:topic:5")], "6"), undefined)
  assert.equal(await agentIn([of("home", "-500"), of("work", "-1005")]), "work")
  assert.equal(await agentIn([of("home", "-500"), of("work", "-1005", "web")]), "home")
})
