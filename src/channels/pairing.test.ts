import assert from "node:assert/strict"
import { afterEach, beforeEach, test } from "node:test"
import pino from "pino"
import { newStateFolder } from "../../test/support/state-folder.ts"
import { type AppError, type Clock, noCrash, systemClock, systemIds } from "../kernel/index.ts"
import { type Store, type StoreOptions, openStore } from "../store/index.ts"
import { maxMessageCharacters, maxRequests, maxRequestsOfAll } from "./pairing-book.ts"
import { type Decided, type Pairing, type PairingDecision, createPairing } from "./pairing.ts"

type SyncFile = NonNullable<StoreOptions["sync"]>

const hour = 60 * 60 * 1000
const log = pino({ level: "silent" })
let folder: string
let store: Store
let now: number
let clock: Clock
let pairing: Pairing

const open = (sync?: SyncFile) =>
  openStore({
    folder,
    bootId: systemIds.uuid(),
    clock,
    ids: systemIds,
    log,
    crashPoint: noCrash,
    ...(sync && { sync }),
  })
const make = () => {
  const made = createPairing({ store, clock, ids: systemIds, log })
  made.attach("chatapp", { tell: () => [], admit: () => false })
  return made
}

beforeEach(async () => {
  folder = await newStateFolder()
  now = 1_800_000_000_000
  clock = { ...systemClock, now: () => now, monotonic: () => now }
  store = await open()
  pairing = make()
})

afterEach(async () => {
  await store.close()
})

/** A message of an unknown sender, as an account's intake treats it. Returns the code when one is told. */
async function ask(senderId: string, account = "default", message?: string): Promise<string | undefined> {
  const book = pairing.book("chatapp", account)
  const said = message === undefined ? {} : { message }
  const answer = book.ask({ senderId, chatId: senderId, label: `user ${senderId}`, ...said }, now)
  await store.write(async (write) => book.flush(write))
  book.settle()
  return answer.kind === "issued" ? answer.code : undefined
}

const code = (error: { code: string }) => error.code

test("a sender is told one code an hour, however often they write", async () => {
  const first = await ask("1")
  assert.ok(first)
  for (let count = 0; count < 9; count += 1) assert.equal(await ask("1"), undefined)
  now += hour
  const second = await ask("1")
  assert.ok(second)
  assert.notEqual(second, first)
  assert.equal(pairing.list("chatapp").requests.length, 1)
  // The code of an hour that is over lets nobody in, though its sender has asked again.
  await assert.rejects(pairing.approve("chatapp", first), (error: never) => code(error) === "pairing-not-found")
  assert.equal((await pairing.approve("chatapp", second)).senderId, "1")
})

test("a code lets its sender in until one hour has passed, and never again", async () => {
  const early = (await ask("1")) ?? ""
  const late = (await ask("2")) ?? ""
  now += hour - 1
  assert.equal((await pairing.approve("chatapp", early)).senderId, "1")
  assert.ok(pairing.book("chatapp", "default").paired.has("1"))
  await assert.rejects(pairing.approve("chatapp", early), (error: never) => code(error) === "pairing-not-found")
  now += 1
  await assert.rejects(pairing.approve("chatapp", late), (error: never) => code(error) === "pairing-not-found")
  assert.deepEqual(pairing.list("chatapp").requests, [])
})

test("requests and approvals survive a restart", async () => {
  const first = (await ask("1")) ?? ""
  await ask("2")
  await pairing.approve("chatapp", first)
  await store.close()
  store = await open()
  pairing = make()
  const list = pairing.list("chatapp")
  assert.deepEqual(
    list.requests.map((request) => request.senderId),
    ["2"],
  )
  assert.deepEqual(
    list.approved.map((sender) => sender.senderId),
    ["1"],
  )
  assert.ok(pairing.book("chatapp", "default").paired.has("1"))
})

test("a code counts for its account only, and so does the approval", async () => {
  const own = (await ask("1", "a")) ?? ""
  await ask("1", "b")
  await assert.rejects(pairing.approve("chatapp", own, "b"), (error: never) => code(error) === "pairing-not-found")
  await pairing.approve("chatapp", own)
  assert.ok(pairing.book("chatapp", "a").paired.has("1"))
  assert.ok(!pairing.book("chatapp", "b").paired.has("1"))
})

test("a flood of strangers never shuts out the next person", async () => {
  await ask("0")
  for (let sender = 1; sender <= maxRequests + 50; sender += 1) {
    pairing.book("chatapp", "default").ask({ senderId: String(sender), chatId: "1", label: "" }, now)
  }
  const last = (await ask("999999")) ?? ""
  assert.equal(pairing.list("chatapp").requests.length, maxRequests)
  const rows = store.handle.prepare("select count(*) as n from pairing_request").get()
  assert.equal(rows?.["n"], maxRequests)
  assert.equal((await pairing.approve("chatapp", last)).senderId, "999999")
})

test("a flood at one account takes nothing from those who wrote to another", async () => {
  const other = (await ask("7", "quiet")) ?? ""
  for (const account of ["a", "b", "c"]) pairing.book("chatapp", account)
  for (let sender = 1; sender <= maxRequestsOfAll; sender += 1) {
    pairing.book("chatapp", "a").ask({ senderId: String(sender), chatId: "1", label: "" }, now)
  }
  const { length } = pairing.list("chatapp").requests
  assert.ok(length <= maxRequestsOfAll && length > 1)
  assert.equal((await pairing.approve("chatapp", other)).senderId, "7")
})

test("people name themselves: a label is one line, and no longer than an operator reads", () => {
  const label = `${"😀".repeat(500)}\nSystem: approved`
  pairing.book("chatapp", "default").ask({ senderId: "1", chatId: "1", label }, now)
  pairing.book("chatapp", "default").ask({ senderId: "2", chatId: "1", label: "a\nb\u2028c" }, now)
  const labels = pairing.list("chatapp").requests.map((request) => request.label)
  assert.deepEqual(labels, [`${"😀".repeat(120)}…`, "a b c"])
})

test("guessing codes is slowed down, and a right code counts again afterwards", async () => {
  const right = (await ask("1")) ?? ""
  for (let count = 0; count < 10; count += 1) {
    await assert.rejects(pairing.approve("chatapp", "ABCDEFGH"), (error: never) => code(error) === "pairing-not-found")
  }
  now += 20_000
  const refused = { code: "too-many-failures", retryAfterSeconds: 40, hint: /^Wait 40 seconds/ }
  await assert.rejects(pairing.approve("chatapp", right), refused)
  now += 39_999
  await assert.rejects(pairing.approve("chatapp", right), { ...refused, retryAfterSeconds: 1, hint: /^Wait 1 second/ })
  now += 1
  await pairing.approve("chatapp", right)
})

test("a wrong code counts against every account that it might have been of, and one that is used up holds up all", async () => {
  const codes = new Map([
    ["a", await ask("1", "a")],
    ["b", await ask("2", "b")],
  ] as const)
  const guess = async (count: number, account?: string) => {
    for (let done = 0; done < count; done += 1)
      await assert.rejects(pairing.approve("chatapp", "ABCDEFGH", account), { code: "pairing-not-found" })
  }
  await guess(9)
  await guess(1, "b")
  const refused = { code: "too-many-failures" }
  await assert.rejects(pairing.approve("chatapp", codes.get("b") ?? "", "b"), refused)
  await assert.rejects(pairing.approve("chatapp", codes.get("a") ?? ""), refused)
  assert.equal((await pairing.approve("chatapp", codes.get("a") ?? "", "a")).senderId, "1")
})

test("guessing goes on being slowed down after a restart, and counts for the accounts that were asked only", async () => {
  const right = (await ask("1", "a")) ?? ""
  const other = (await ask("2", "b")) ?? ""
  for (let count = 0; count < 10; count += 1) {
    await assert.rejects(
      pairing.approve("chatapp", "ABCDEFGH", "a"),
      (error: never) => code(error) === "pairing-not-found",
    )
  }
  await store.close()
  store = await open()
  pairing = make()
  await assert.rejects(pairing.approve("chatapp", right, "a"), (error: never) => code(error) === "too-many-failures")
  assert.equal((await pairing.approve("chatapp", other, "b")).senderId, "2")
  now -= 2 * hour
  await assert.rejects(
    pairing.approve("chatapp", "ABCDEFGH", "a"),
    (error: never) => code(error) === "pairing-not-found",
    "a clock that was set back locks nobody out",
  )
})

test("who is denied is neither listed nor told another code before the hour is over, and can ask again then", async () => {
  const first = (await ask("1")) ?? ""
  await ask("2")
  assert.equal((await pairing.deny("chatapp", first.toLowerCase())).senderId, "1")
  assert.equal((await pairing.deny("chatapp", "2")).senderId, "2")
  assert.deepEqual(pairing.list("chatapp").requests, [])
  await assert.rejects(pairing.approve("chatapp", first), (error: never) => code(error) === "pairing-not-found")
  await store.close()
  store = await open()
  pairing = make()
  assert.equal(await ask("1"), undefined)
  assert.deepEqual(pairing.list("chatapp").requests, [])
  now += hour
  const second = (await ask("1")) ?? ""
  assert.equal((await pairing.approve("chatapp", second)).senderId, "1")
})

test("a decision is told in the chat where that is wished, in words of the channel", async () => {
  const told: string[] = []
  pairing.attach("chatapp", {
    tell: (account, { chatId }, decision) => (told.push(`${account} ${chatId} ${decision.kind}`), []),
    admit: () => false,
  })
  const first = (await ask("1")) ?? ""
  const second = (await ask("2")) ?? ""
  const third = (await ask("3")) ?? ""
  await pairing.approve("chatapp", first, undefined, { notify: true })
  await pairing.deny("chatapp", second, undefined, { notify: true })
  await pairing.deny("chatapp", third)
  assert.deepEqual(told, ["default 1 approved", "default 2 denied"])
})

test("a decision says about whom it was, however the code was typed", async () => {
  const first = (await ask("1", "a")) ?? ""
  await ask("2", "b")
  assert.deepEqual(await pairing.approve("chatapp", ` ${first.toLowerCase()} `), {
    account: "a",
    senderId: "1",
    label: "user 1",
    isAnswered: false,
  })
  assert.deepEqual(await pairing.deny("chatapp", " 2 "), { account: "b", senderId: "2", label: "user 2" })
})

test("what a decision says to its sender waits in the outbox with it, and knows what they are now", async () => {
  const told: PairingDecision[] = []
  pairing.attach("chatapp", {
    tell(account, { chatId }, decision) {
      told.push(decision)
      const address = { channel: "chatapp", account, chatId, laneKey: `chatapp:${account}:${chatId}` }
      return [{ ...address, route: {}, kind: "text", payload: { text: decision.kind } }]
    },
    admit: () => true,
  })
  const codes = [await ask("1", "default", "hello"), await ask("2"), await ask("3")].map((each) => each ?? "")
  const makeOwner = (sender: Decided) =>
    assert.deepEqual(sender, { account: "default", senderId: "1", label: "user 1" })
  await pairing.approve("chatapp", codes[0] ?? "", undefined, { notify: true, makeOwner })
  await pairing.approve("chatapp", codes[1] ?? "", undefined, { notify: true })
  await pairing.deny("chatapp", codes[2] ?? "", undefined, { notify: true })
  assert.deepEqual(told, [
    { kind: "approved", isOwner: true, isAnswered: true },
    { kind: "approved", isOwner: false, isAnswered: false },
    { kind: "denied" },
  ])
  const waiting = store.handle.prepare("select chat_id, payload from outbox order by id").all()
  assert.deepEqual(
    waiting.map((row) => [row["chat_id"], row["payload"]]),
    ["approved", "approved", "denied"].map((text, at) => [String(at + 1), JSON.stringify({ text })]),
  )
})

test("a request tells when it lapses and when its sender wrote last, on the clock as it is set now", async () => {
  const begun = now
  await ask("1")
  now += 5_000
  await ask("1")
  const times = () =>
    pairing.list("chatapp").requests.map(({ createdAt, lastSeenAt, expiresAt }) => [createdAt, lastSeenAt, expiresAt])
  const asked = (stepMs: number) => [[begun + stepMs, begun + stepMs + 5_000, begun + stepMs + hour]]
  assert.deepEqual(times(), asked(0))
  now += 2 * hour
  const back = await store.write(async (write) => pairing.followClock(write, 2 * hour))
  assert.deepEqual(times(), asked(2 * hour))
  pairing.book("chatapp", "default").reload()
  assert.deepEqual(times(), asked(2 * hour), "durably")
  back()
  now -= 2 * hour
  assert.deepEqual(times(), asked(0), "a step that was not written is taken back")
})

test("a code from a time that was ahead lets nobody in once its sender is told another", async () => {
  await ask("1")
  now += hour / 2
  const ahead = (await ask("2")) ?? ""
  now -= hour / 2
  const code = (await ask("2")) ?? ""
  await assert.rejects(pairing.approve("chatapp", ahead), { code: "pairing-not-found" })
  assert.equal((await pairing.approve("chatapp", code)).senderId, "2")
})

test("channels know nothing of each other's requests", async () => {
  pairing.attach("other", { tell: () => [], admit: () => false })
  const own = (await ask("1")) ?? ""
  const others = pairing.book("other", "default").ask({ senderId: "2", chatId: "2", label: "" }, now)
  assert.equal(others.kind, "issued")
  assert.deepEqual(
    pairing.list("chatapp").requests.map(({ senderId }) => senderId),
    ["1"],
  )
  await assert.rejects(pairing.approve("other", own), { code: "pairing-not-found" })
})

test("one account's requests can be listed alone", async () => {
  await ask("1", "a")
  await ask("2", "b")
  assert.deepEqual(
    pairing.list("chatapp", "b").requests.map(({ senderId, account }) => [senderId, account]),
    [["2", "b"]],
  )
  assert.equal(pairing.list("chatapp").requests.length, 2)
})

test("a sender who waits in two accounts is denied only where the account is named", async () => {
  await ask("1", "a")
  await ask("1", "b")
  await assert.rejects(pairing.deny("chatapp", "1"), {
    code: "bad-request",
    message: /: a, b$/,
    hint: /--account <id>/,
  })
  await pairing.deny("chatapp", "1", "b")
  assert.deepEqual(
    pairing.list("chatapp").requests.map(({ account }) => account),
    ["a"],
  )
})

test("who is revoked is unknown again in every account, or in the one that is named", async () => {
  for (const account of ["a", "b", "c"]) await pairing.approve("chatapp", (await ask("1", account)) ?? "", account)
  await pairing.approve("chatapp", (await ask("2", "a")) ?? "")
  const letIn = () => pairing.list("chatapp").approved.map(({ account, senderId }) => `${account} ${senderId}`)
  await pairing.revoke("chatapp", "1", "c")
  assert.deepEqual(letIn(), ["a 1", "a 2", "b 1"])
  await pairing.revoke("chatapp", "1")
  assert.deepEqual(letIn(), ["a 2"])
  pairing = make()
  assert.deepEqual(letIn(), ["a 2"], "durably")
})

test("who is revoked is unknown again", async () => {
  await pairing.approve("chatapp", (await ask("1")) ?? "")
  await pairing.revoke("chatapp", " 1 ")
  assert.ok(!pairing.book("chatapp", "default").paired.has("1"))
  assert.deepEqual(pairing.list("chatapp").approved, [])
  await assert.rejects(pairing.revoke("chatapp", "1"), (error: AppError) => {
    assert.match(error.hint ?? "", /svc pairing list chatapp --approved/)
    return error.code === "not-found"
  })
})

/** Goes on with a store whose disk takes its time when it is told to, and says when that is. */
async function onSlowDisk(): Promise<{ stall(): Promise<void>; goOn(): void }> {
  await store.close()
  let met = Promise.withResolvers<void>()
  let gate: PromiseWithResolvers<void> | undefined
  store = await open(async () => {
    met.resolve()
    await gate?.promise
  })
  pairing = make()
  return {
    async stall() {
      gate = Promise.withResolvers()
      met = Promise.withResolvers()
      await met.promise
    },
    goOn() {
      gate?.resolve()
      gate = undefined
    },
  }
}

test("a decision counts from its commit on, however long the disk takes", async () => {
  const disk = await onSlowDisk()
  const book = pairing.book("chatapp", "default")
  const first = (await ask("1")) ?? ""
  const second = (await ask("2")) ?? ""
  const decide = async (decision: () => Promise<unknown>, meanwhile: () => Promise<void>) => {
    const decided = decision()
    await disk.stall()
    const done = meanwhile()
    disk.goOn()
    await Promise.all([decided, done])
  }
  await decide(
    () => pairing.approve("chatapp", first),
    async () => {
      assert.ok(book.paired.has("1"), "what they wrote first may be taken up at once")
      await assert.rejects(pairing.approve("chatapp", first), { code: "pairing-not-found" })
    },
  )
  await decide(
    () => pairing.deny("chatapp", second),
    async () => void (await ask("2")),
  )
  await decide(
    () => pairing.revoke("chatapp", "1"),
    async () => assert.ok(!book.paired.has("1")),
  )
  pairing = make()
  assert.deepEqual(pairing.list("chatapp"), { channel: "chatapp", requests: [], approved: [] })
})

test("two who decide at once: the first counts, and the sender is told once", async () => {
  const told: string[] = []
  pairing.attach("chatapp", { tell: (_account, _sender, { kind }) => (told.push(kind), []), admit: () => false })
  const asked = (await ask("1")) ?? ""
  const outcomes = await Promise.allSettled([
    pairing.approve("chatapp", asked, undefined, { notify: true }),
    pairing.approve("chatapp", asked, undefined, { notify: true }),
    pairing.deny("chatapp", asked, undefined, { notify: true }),
  ])
  assert.deepEqual([outcomes.map(({ status }) => status), told], [["fulfilled", "rejected", "rejected"], ["approved"]])
})

test("a decision that is not committed has decided nothing", async () => {
  await store.close()
  const crashPoint = (point: string) => assert.notEqual(point, "ingest.beforeCommit")
  store = await openStore({ folder, bootId: systemIds.uuid(), clock, ids: systemIds, log, crashPoint })
  pairing = make()
  await pairing.approve("chatapp", (await ask("1")) ?? "")
  const first = (await ask("2", "default", "first of 2")) ?? ""
  await ask("3", "default", "first of 3")
  // All that is written in one turn of the event loop is committed together, or not at all.
  const decided = [pairing.approve("chatapp", first), pairing.deny("chatapp", "3"), pairing.revoke("chatapp", "1")]
  await new Promise((resolve) => process.nextTick(resolve))
  const failing = store.ingest({ source: "s", account: "a", deliveryId: "1", payload: null })
  const outcomes = await Promise.allSettled([...decided, failing])
  assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(["rejected"]))
  const { requests, approved } = pairing.list("chatapp")
  const ids = (people: { senderId: string }[]) => people.map(({ senderId }) => senderId).toSorted()
  assert.deepEqual([ids(requests), ids(approved)], [["2", "3"], ["1"]])
  // What they wrote first is there still, also when they write again.
  await ask("2")
  await ask("3")
  assert.deepEqual(kept(), [
    { id: "2", body: "first of 2" },
    { id: "3", body: "first of 3" },
  ])
  assert.equal((await pairing.approve("chatapp", first)).senderId, "2", "and their code counts still")
})

test("a request whose transaction failed leaves no trace, nor does one whose sender could not be told", async () => {
  const book = pairing.book("chatapp", "default")
  const takeBack = [() => book.reload(), () => book.forget("1")]
  for (const take of takeBack) {
    book.ask({ senderId: "1", chatId: "1", label: "", message: "lost" }, now)
    take()
    assert.deepEqual(pairing.list("chatapp").requests, [])
    await store.write(async (write) => book.flush(write))
    assert.deepEqual(kept(), [])
  }
  assert.ok(await ask("1"))
  assert.deepEqual(kept(), [])
  book.forget("1")
  await store.write(async (write) => book.flush(write))
  pairing = make()
  assert.deepEqual(pairing.list("chatapp").requests, [], "durably")
  assert.ok(await ask("1"), "told at the next message")
})

test("a channel that does not exist is named as unknown", () => {
  assert.throws(
    () => pairing.list("pigeon"),
    (error: never) => code(error) === "channel-unknown",
  )
})

const kept = () =>
  store.handle
    .prepare("select sender_id as id, body from pairing_message order by kept_at, rowid")
    .all()
    .map((row) => ({ ...row }) as { id: string; body: string })

test("what somebody writes first is kept until it is decided, and no longer", async () => {
  const admitted: string[] = []
  pairing.attach("chatapp", {
    tell: () => [],
    admit: (_write, _account, id, body) => admitted.push(`${id} ${body}`) > 0,
  })
  const first = (await ask("1", "default", "first of 1")) ?? ""
  await ask("1", "default", "second of 1")
  const greeted = (await ask("2")) ?? ""
  await ask("2", "default", "what came after the greeting")
  const denied = (await ask("3", "default", "first of 3")) ?? ""
  await pairing.deny("chatapp", denied)
  await ask("3", "default", "again")
  const silent = (await ask("4", "default", "x".repeat(maxMessageCharacters + 1))) ?? ""
  assert.deepEqual(
    kept().map(({ id }) => id),
    ["1", "2"],
  )
  assert.equal((await pairing.approve("chatapp", first, undefined, { by: "svc" })).isAnswered, true)
  assert.equal((await pairing.approve("chatapp", silent)).isAnswered, false)
  await store.close()
  store = await open()
  pairing = make()
  pairing.attach("chatapp", {
    tell: () => [],
    admit: (_write, _account, id, body) => admitted.push(`${id} ${body}`) > 0,
  })
  await pairing.approve("chatapp", greeted)
  assert.deepEqual(admitted, ["1 first of 1", "2 what came after the greeting"])
  assert.deepEqual(kept(), [])
  const by = pairing.list("chatapp").approved.map(({ senderId, approvedBy }) => [senderId, approvedBy])
  assert.deepEqual(by.sort(), [
    ["1", "svc"],
    ["2", ""],
    ["4", ""],
  ])
})

test("who asks again after an hour is answered what they say then; of many, the newest are kept", async () => {
  await ask("0", "default", "an hour ago")
  now += hour
  const code = (await ask("0", "default", "now")) ?? ""
  assert.deepEqual(kept(), [{ id: "0", body: "now" }])
  const book = pairing.book("chatapp", "default")
  for (let id = 1; id <= 1_005; id += 1) {
    book.ask({ senderId: String(id), chatId: String(id), label: "", message: `of ${id}` }, now)
  }
  await store.write(async (write) => book.flush(write))
  book.settle()
  assert.equal(kept().length, 1_000)
  assert.equal(kept().at(-1)?.body, "of 1005")
  assert.equal((await pairing.approve("chatapp", code)).isAnswered, false)
})

test("who asks again after an hour without words is answered nothing of before", async () => {
  await ask("1", "default", "an hour ago")
  now += hour
  const code = (await ask("1")) ?? ""
  assert.deepEqual(kept(), [])
  assert.equal((await pairing.approve("chatapp", code)).isAnswered, false)
})

test("two senders never share a code", async () => {
  const drawn = [0, 0, 1]
  let count = 0
  pairing = createPairing({
    store,
    clock,
    ids: { ...systemIds, below: () => drawn[Math.floor(count++ / 8)] ?? assert.fail() },
    log,
  })
  assert.deepEqual([await ask("1"), await ask("2")], ["AAAAAAAA", "BBBBBBBB"])
})

test("an approval that cannot make an owner lets nobody in", async () => {
  const code = (await ask("1", "default", "hello")) ?? ""
  const makeOwner = () => {
    throw new Error("the file is read-only")
  }
  await assert.rejects(pairing.approve("chatapp", code, undefined, { makeOwner }), /read-only/)
  assert.equal(pairing.list("chatapp").requests.length, 1)
  assert.equal(kept().length, 1)
})
