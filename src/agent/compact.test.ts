import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { createBackground, systemClock, systemIds } from "../kernel/index.ts"
import { type TranscriptEntry, createSessions } from "../sessions/index.ts"
import { sessionSchema } from "../sessions/config.ts"
import { LaneRunner } from "../store/index.ts"
import { silentLog, testStore } from "../../test/support/store.ts"
import { type Answer, chat, main, promptOf, scriptedModels } from "./agent.fixture.ts"
import { compactJob, compactJobKind, createCompaction } from "./compact.ts"

const said = (text: string, trusted = true): TranscriptEntry[] => [
  { message: { role: "user", content: [{ type: "text", text }] }, origin: trusted ? "owner" : "webhook", trusted },
  { message: { role: "assistant", text: `answer to ${text.slice(0, 20)}`, toolCalls: [] }, origin: "model", trusted },
]

async function world(context: TestContext, answers: Answer[], contextTokens = 100_000) {
  const store = await testStore(context, { clock: systemClock })
  const sessions = createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) })
  const background = createBackground(silentLog)
  const models = scriptedModels(answers, contextTokens)
  const told: string[] = []
  const handler = createCompaction({
    store,
    sessions,
    models,
    ids: systemIds,
    log: silentLog,
    profile: () => ({ name: "the agent", timeoutSeconds: 60, limits: { steps: 60, toolCalls: 150, repeatedCalls: 5 } }),
    say: (_route, text) => (told.push(text), []),
  })
  const runner = new LaneRunner({
    store,
    handlers: { [compactJobKind]: handler },
    maxConcurrent: () => 1,
    clock: systemClock,
    log: silentLog,
    background,
  })
  runner.start()
  context.after(() => runner.stop(0))
  return {
    told,
    models,
    write: (entries: TranscriptEntry[]) =>
      store.write(async (write) => sessions.append(write, sessions.open(write, main, "main"), 1, entries)),
    async compact(instructions?: string) {
      const input = { agentId: "main", sessionKey: main, route: chat, ...(instructions ? { instructions } : {}) }
      await store.write(async (write) => void write.addJob(compactJob(systemIds.uuid(), input)))
      await background.idle()
    },
    count: () => Number(store.handle.prepare("select count(*) as n from message").get()?.["n"]),
    past: () => sessions.history(sessions.find(main)?.sessionId ?? "", { budget: 1e6, room: 1e6 }),
  }
}

test("the older part becomes a summary, the newest turns stay, and a later summary goes on from it", async (context) => {
  const agent = await world(context, ["SUMMARY ONE", "SUMMARY TWO"])
  await agent.compact()
  assert.match(agent.told[0] ?? "", /nothing to compact yet/)
  const long = "tea ".repeat(2_000)
  for (const n of [1, 2, 3, 4]) await agent.write(said(`${n} ${long}`))
  await agent.compact("prices")
  assert.match(promptOf(agent.models.requests[0]), /1 tea tea[^]*3 tea[^]*above all: prices/)
  assert.deepEqual(agent.models.requests[0]?.tools, [])
  const { messages, foreign } = agent.past()
  assert.match(JSON.stringify(messages[0]), /Summary of the conversation[^]*SUMMARY ONE/)
  assert.match(JSON.stringify(messages[1]), /4 tea/)
  assert.deepEqual([messages.length, foreign, agent.count()], [3, undefined, 9])
  assert.match(agent.told[1] ?? "", /^6 messages are now shown to me as one summary\. Nothing was removed/)

  await agent.write(said(`5 ${long}`, false))
  await agent.write(said(`6 ${long}`))
  await agent.compact()
  const second = promptOf(agent.models.requests[1])
  assert.match(second, /SUMMARY ONE[^]*4 tea/)
  assert.doesNotMatch(second, /User: 3 tea/)
  const after = agent.past()
  assert.equal(after.foreign, "webhook", "words of others stay such in the summary")
  assert.match(JSON.stringify(after.messages[0]), /untrusted-content[^]*SUMMARY TWO/)
})

test("a past that is longer than the model takes is summed up in pieces", async (context) => {
  const agent = await world(context, ["PART 1", "PART 1 AND 2", "ALL"], 6_000)
  for (const n of [1, 2, 3, 4]) await agent.write(said(`${n} ${"word ".repeat(1_400)}`))
  await agent.compact()
  assert.deepEqual(agent.models.requests.length, 3)
  assert.match(promptOf(agent.models.requests[2]), /PART 1 AND 2/)
  assert.match(JSON.stringify(agent.past().messages[0]), /ALL/)
})

test("where no model writes one nothing changes, and whoever asked is told", async (context) => {
  const agent = await world(context, [""])
  await agent.write(said("x".repeat(30_000)))
  await agent.write(said("new"))
  await agent.compact()
  assert.match(agent.told[0] ?? "", /could not be compacted[^]*Nothing was changed/)
  assert.equal(agent.past().messages.length, 4)
})
