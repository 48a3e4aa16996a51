// The event stream over a real store: what is told, what is not, and what who comes back is told.
import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { newStateFolder } from "../../../test/support/state-folder.ts"
import { createBackground, noCrash, systemClock, systemIds } from "../../kernel/index.ts"
import { openStore } from "../../store/index.ts"
import type { Scope } from "../access/contract.ts"
import { makeLog } from "../gateway.fixture.ts"
import { createPageFeed } from "./feed.ts"
import { storeTopics } from "./topics.ts"

async function open(context: TestContext, everyMs = 2) {
  const folder = await newStateFolder()
  const { log } = makeLog(folder)
  const store = await openStore({
    folder,
    bootId: "boot",
    crashPoint: noCrash,
    clock: systemClock,
    ids: systemIds,
    log,
  })
  const background = createBackground(log)
  const feed = createPageFeed({
    store,
    background,
    log,
    everyMs,
    topics: [...storeTopics(store), { name: "draft", scope: "message" }],
    redact: (json) => json.replaceAll("hidden", "***"),
  })
  context.after(async () => {
    await feed.stop()
    await background.idle()
    await store.close()
  })
  const addJob = (runId: string) =>
    store.write(async ({ addJob: add }) => add({ runId, kind: "turn", laneKey: `lane ${runId}`, payload: null }))
  return { feed, store, addJob }
}

interface Told {
  id: string
  event: string
  data: Record<string, unknown>
}

/** Reads entries until one fits, and lets go. */
async function readUntil(response: Response, fits: (told: Told) => boolean): Promise<Told[]> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const told: Told[] = []
  let rest = ""
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return told
    const blocks = (rest + new TextDecoder().decode(value)).split("\n\n")
    rest = blocks.pop() ?? ""
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? ""
      if (field("event") === "") continue
      told.push({ id: field("id"), event: field("event"), data: JSON.parse(field("data")) as Told["data"] })
      if (!fits(told.at(-1) as Told)) continue
      await reader.cancel()
      return told
    }
  }
}

const all: readonly Scope[] = ["admin"]
const runs = (told: readonly Told[]) => told.filter(({ event }) => event === "run").map(({ data }) => data["runId"])
const isRun = (runId: string) => (told: Told) => told.event === "run" && told.data["runId"] === runId

test("a row that is changed again and again before it is told of changes all the same, by an upsert too", async (context) => {
  const { feed, store } = await open(context, 60_000)
  const response = await feed.listen({ scopes: ["admin"], lastId: undefined })
  const touch = `insert into session (key, agent_id, session_id, created_at, updated_at) values ('k', 'main', 'id', 1, ?)
    on conflict (key) do update set updated_at = excluded.updated_at`
  for (let at = 1; at <= 3; at += 1) await store.write(async ({ prepare }) => void prepare(touch).run(at))
  assert.equal(store.handle.prepare("select updated_at as at from session").get()?.["at"], 3)
  await response.body?.cancel()
})

test("what the disk does not give for a moment is told afterwards, and fails nobody who publishes", async (context) => {
  const { feed, store, addJob } = await open(context, 60_000)
  const response = await feed.listen({ scopes: all, lastId: undefined })
  await addJob("one")
  const { prepare } = store.handle
  store.handle.prepare = () => {
    throw new Error("input/output error")
  }
  feed.publish("draft", () => ({ text: "first" }))
  store.handle.prepare = prepare
  feed.publish("draft", () => ({ text: "second" }))
  const told = await readUntil(response, ({ data }) => data["text"] === "second")
  assert.deepEqual(runs(told), ["one"])
})

test("tells what is committed, and nothing of what is rolled back", async (context) => {
  const { feed, store, addJob } = await open(context)
  const response = await feed.listen({ scopes: all, lastId: undefined })
  await assert.rejects(
    store.write(async ({ addJob: add }) => {
      add({ runId: "never", kind: "turn", laneKey: "x", payload: null })
      throw new Error("no")
    }),
  )
  await addJob("one")
  assert.deepEqual(runs(await readUntil(response, isRun("one"))), ["one"])
})

test("who comes back is told exactly what it has missed; who was there before this start, to read anew", async (context) => {
  const { feed, addJob } = await open(context)
  const first = await feed.listen({ scopes: all, lastId: undefined })
  await addJob("one")
  const seen = await readUntil(first, isRun("one"))
  // Somebody else keeps listening meanwhile.
  const other = await feed.listen({ scopes: all, lastId: undefined })
  for (const runId of ["two", "three"]) await addJob(runId)
  await readUntil(other, isRun("three"))
  const back = await readUntil(
    await feed.listen({ scopes: all, lastId: seen.at(-1)?.id }),
    ({ event }) => event === "ready",
  )
  assert.deepEqual(runs(back), ["two", "three"])
  for (const lastId of ["earlier:1", "boot:999999", "boot:x", "nonsense"]) {
    const anew = await readUntil(await feed.listen({ scopes: all, lastId }), ({ event }) => event !== "run")
    assert.deepEqual(
      anew.map(({ event }) => event),
      ["reset"],
      lastId,
    )
  }
})

test("who has missed more than is kept reads anew", async (context) => {
  const { feed, store } = await open(context)
  const first = await readUntil(await feed.listen({ scopes: all, lastId: undefined }), ({ event }) => event === "ready")
  const other = await feed.listen({ scopes: all, lastId: undefined })
  await store.write(async ({ addJob }) => {
    for (let n = 0; n < 2_100; n += 1) addJob({ runId: `r${n}`, kind: "turn", laneKey: `l${n}`, payload: null })
  })
  await readUntil(other, isRun("r2099"))
  const back = await readUntil(
    await feed.listen({ scopes: all, lastId: first.at(-1)?.id }),
    ({ event }) => event !== "run",
  )
  assert.equal(back.at(-1)?.event, "reset")
})

test("each is told what its scopes allow, and no secret", async (context) => {
  const { feed, addJob } = await open(context)
  const writer = await feed.listen({ scopes: ["message"], lastId: undefined })
  const owner = await feed.listen({ scopes: all, lastId: undefined })
  await addJob("one")
  await readUntil(owner, isRun("one"))
  feed.publish("draft", () => ({ text: "a hidden word" }))
  const told = await readUntil(writer, ({ event }) => event === "draft")
  assert.deepEqual(runs(told), [])
  assert.equal(told.at(-1)?.data["text"], "a *** word")
})

test("nothing is noted while nobody listens, and a stop ends every listener", async (context) => {
  const { feed, store, addJob } = await open(context)
  const triggers = () =>
    store.handle.prepare("select count(*) as n from sqlite_temp_master where type = 'trigger'").get()
  await addJob("before")
  assert.equal(triggers()?.["n"], 0)
  const response = await feed.listen({ scopes: all, lastId: undefined })
  assert.ok(Number(triggers()?.["n"]) > 0)
  await feed.stop()
  assert.deepEqual(runs(await readUntil(response, () => false)), [])
})

test("a reader that does not read is let go, and the others go on", async (context) => {
  const { feed } = await open(context)
  const slow = await feed.listen({ scopes: all, lastId: undefined })
  const quick = await feed.listen({ scopes: all, lastId: undefined })
  const read = readUntil(quick, ({ data }) => data["n"] === 29)
  for (let n = 0; n < 30; n += 1) {
    feed.publish("draft", () => ({ n, text: "x".repeat(100_000) }))
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal((await read).at(-1)?.data["n"], 29)
  const got = await readUntil(slow, () => false)
  assert.ok(got.length < 30)
})

test("who has missed more than may wait for it is told, comes again, and ends nobody else's stream", async (context) => {
  const { feed } = await open(context)
  const isDraft = (n: number) => (told: Told) => told.event === "draft" && told.data["n"] === n
  const other = await feed.listen({ scopes: all, lastId: undefined })
  const [ready] = await readUntil(await feed.listen({ scopes: all, lastId: undefined }), () => true)
  const text = "x".repeat(700_000)
  // The other one reads meanwhile: nothing of it waits.
  const read = readUntil(other, isDraft(1))
  for (const n of [0, 1]) {
    feed.publish("draft", () => ({ n, text }))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await read
  const late = await feed.listen({ scopes: all, lastId: ready?.id })
  const third = await feed.listen({ scopes: all, lastId: undefined })
  feed.publish("draft", () => ({ n: 2 }))
  assert.equal((await readUntil(third, isDraft(2))).at(-1)?.data["n"], 2)
  // All that it has missed, and then its end.
  const told = await readUntil(late, () => false)
  assert.deepEqual(
    told.map(({ event, data }) => [event, data["n"]]),
    [
      ["draft", 0],
      ["draft", 1],
      ["ready", undefined],
    ],
  )
  const again = await feed.listen({ scopes: all, lastId: told.at(-1)?.id })
  assert.equal((await readUntil(again, isDraft(2))).length, 1)
})
