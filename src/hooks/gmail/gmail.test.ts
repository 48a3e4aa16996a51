// The mail watch against the stand-in of Google: pushes, history, mails, crashes, and everything that Google may refuse.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { AppError, systemClock } from "../../kernel/index.ts"
import { baseView, publicAddress, pushToken, rig } from "./gmail.fixture.ts"

interface Watching {
  google: Awaited<ReturnType<typeof rig>>["google"]
  watch: Awaited<ReturnType<typeof rig>>["watch"]
}

/** Started, registered and caught up. */
async function startAndSettle({ google, watch }: Watching): Promise<void> {
  const read = google.state.next("GET /gmail/v1/users/me/history")
  await watch.start()
  await read
}

test("hands on a mail that a push tells of, with its text", async (context) => {
  const { batches, delivered, endpoint, google, messages, watch } = await rig(context)
  google.state.mail.add({ subject: "before the watch" })
  await startAndSettle({ google, watch })
  const date = Date.UTC(2026, 0, 2, 3, 4, 5)
  const id = google.state.mail.add({ subject: "Invoice", text: "Please pay.\r\n", html: "<p>other</p>", date })
  assert.equal((await google.push(endpoint(), publicAddress)).status, 204)
  await delivered(1)
  assert.deepEqual(messages(), [
    {
      id,
      threadId: id,
      from: "Ada <ada@example.com>",
      subject: "Invoice",
      snippet: "It's <short>",
      body: "Please pay.",
      date: "2026-01-02T03:04:05.000Z",
      labels: ["INBOX", "UNREAD"],
    },
  ])
  assert.match(batches[0]?.deliveryId ?? "", /^[0-9a-f]{64}$/)
  assert.deepEqual(google.state.watches, [
    { topicName: baseView.topic, labelIds: ["INBOX"], labelFilterBehavior: "INCLUDE" },
  ])
  assert.deepEqual(google.state.unexpected, [])
  assert.equal(watch.status().state, "watching")
})

test("answers a push only when its history id is on the disk", async (context) => {
  const { endpoint, google, stateFolder, watch } = await rig(context)
  await startAndSettle({ google, watch })
  google.state.mail.add({})
  google.state.mail.add({})
  assert.ok(!Number.isSafeInteger(Number(google.state.mail.historyId)), "a number that would be rounded")
  assert.equal((await google.push(endpoint(), publicAddress)).status, 204)
  const record = JSON.parse(readFileSync(join(stateFolder, "gmail", "watch.json"), "utf8"))
  assert.equal(record.pushedHistoryId, google.state.mail.historyId)
  assert.equal(statSync(join(stateFolder, "gmail", "watch.json")).mode & 0o777, 0o600)
})

test("refuses pushes that are not Google's for us, and says no more than 401", async (context) => {
  const { endpoint, google, lines, messages, watch } = await rig(context)
  await startAndSettle({ google, watch })
  google.state.mail.add({})
  const reads = google.state.count("/history")
  const answers = [
    await google.push(endpoint(), publicAddress, { authorization: null }),
    await google.push(endpoint(), "https://other.example.com/"),
    await google.push(endpoint(), publicAddress, { claims: { email: "x@evil.iam.gserviceaccount.com" } }),
    await google.push(endpoint(), publicAddress, { claims: { exp: Math.floor(Date.now() / 1000) - 3600 } }),
    await google.push(endpoint().replace(pushToken, "wrong"), publicAddress),
    await google.push(endpoint().replace(/\?.*/, ""), publicAddress),
    await google.push(`${endpoint()}&token=x`, publicAddress),
  ]
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
  assert.equal(new Set(await Promise.all(answers.map((answer) => answer.text()))).size, 1)
  assert.equal(google.state.count("/history"), reads)
  assert.equal(messages().length, 0)
  assert.ok(lines.some((line) => line.includes("another account")))
})

test("answers other paths, methods and sizes properly", async (context) => {
  const { endpoint, google, watch } = await rig(context)
  await startAndSettle({ google, watch })
  const read = await fetch(endpoint())
  assert.deepEqual([read.status, read.headers.get("allow")], [405, "POST"])
  assert.equal((await google.push(endpoint().replace("gmail-pubsub", "other"), publicAddress)).status, 404)
  assert.equal((await google.push(endpoint(), publicAddress, { body: "x".repeat(70_000) })).status, 413)
})

test("asks for the push again while Google's keys cannot be had", async (context) => {
  const { endpoint, google, stateFolder, watch } = await rig(context)
  const file = join(stateFolder, "gmail", "push.json")
  const keySetUrl = google.keySetUrl.replace("/certs", "/nowhere")
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), keySetUrl }))
  await startAndSettle({ google, watch })
  const answer = await google.push(endpoint(), publicAddress)
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "5"])
})

test("slows down who guesses, and still takes a genuine push", async (context) => {
  const { endpoint, google, watch } = await rig(context)
  await startAndSettle({ google, watch })
  const statuses: number[] = []
  for (let count = 0; count < 22; count += 1) {
    statuses.push((await google.push(endpoint(), publicAddress, { authorization: "Bearer a.b.c" })).status)
  }
  assert.deepEqual([statuses[0], statuses[19], statuses[20], statuses[21]], [401, 401, 429, 429])
  assert.equal((await google.push(endpoint(), publicAddress)).status, 204)
})

test("keeps a sign-in that was made while a token was being renewed", async (context) => {
  const { google, stateFolder, watch } = await rig(context)
  const file = join(stateFolder, "credentials", "gmail.json")
  const asked = google.state.next("POST /token")
  const fresh = google.state.newRefreshToken()
  const write = asked.then(() => {
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), refreshToken: fresh }))
  })
  await startAndSettle({ google, watch })
  await write
  await watch.stop()
  assert.equal(JSON.parse(readFileSync(file, "utf8")).refreshToken, fresh)
})

test("acknowledges genuine pushes that are of no use, so that Google does not repeat them", async (context) => {
  const { endpoint, google, watch } = await rig(context)
  await startAndSettle({ google, watch })
  const reads = google.state.count("/history")
  for (const body of ["{", "[]", '{"message":{}}', '{"message":{"data":"bm90IGpzb24="}}']) {
    assert.equal((await google.push(endpoint(), publicAddress, { body })).status, 204)
  }
  const other = await google.push(endpoint(), publicAddress, { notice: { emailAddress: "other@example.com" } })
  assert.equal(other.status, 204)
  assert.equal(google.state.count("/history"), reads)
})

test("reads a history of several pages, and hands on each mail once", async (context) => {
  const { delivered, endpoint, google, messages, watch } = await rig(context, { view: { maxBytes: 20_000 } })
  await startAndSettle({ google, watch })
  const ids = Array.from({ length: 20 }, () => google.state.mail.add({ text: "x" }))
  await Promise.all(Array.from({ length: 5 }, () => google.push(endpoint(), publicAddress)))
  await delivered(3)
  assert.deepEqual(
    messages().map(({ id }) => id),
    ids,
  )
  assert.ok(google.state.count("pageToken=") >= 6)
})

test("leaves out drafts and what is not under the label", async (context) => {
  const { delivered, endpoint, google, messages, watch } = await rig(context, { view: { label: "agent" } })
  await startAndSettle({ google, watch })
  google.state.mail.add({ labelIds: ["INBOX"] })
  google.state.mail.add({ labelIds: ["Label_7", "DRAFT"] })
  const sorted = google.state.mail.add({ labelIds: ["INBOX"] })
  google.state.mail.addLabel(sorted, "Label_7")
  await google.push(endpoint(), publicAddress)
  await delivered(1)
  assert.deepEqual(
    messages().map(({ id }) => id),
    [sorted],
  )
  assert.deepEqual(google.state.watches[0]?.["labelIds"], ["Label_7"])
})

test("hands on heads only when bodies are not wanted, and cuts long ones at a character", async (context) => {
  const heads = await rig(context, { view: { includeBody: false } })
  await startAndSettle(heads)
  heads.google.state.mail.add({ text: "secret text", subject: "Head" })
  await heads.google.push(heads.endpoint(), publicAddress)
  await heads.delivered(1)
  assert.deepEqual(
    heads.messages().map(({ body, subject }) => [subject, body]),
    [["Head", ""]],
  )
  assert.equal(heads.google.state.count("format=full"), 0)

  const short = await rig(context, { view: { maxBytes: 10 } })
  await startAndSettle(short)
  short.google.state.mail.add({ text: "ääääääääää" })
  await short.google.push(short.endpoint(), publicAddress)
  await short.delivered(1)
  assert.deepEqual(
    short.messages().map(({ body }) => body),
    ["äää…"],
  )
})

test("reads the label again when Gmail has forgotten the history", async (context) => {
  const { create, delivered, google, lines, messages, watch } = await rig(context)
  google.state.mail.add({ date: Date.now() - 3600_000, subject: "long before" })
  await startAndSettle({ google, watch })
  await watch.stop()
  const missed = google.state.mail.add({ date: Date.now() + 1_000 })
  google.state.mail.forgetHistory()
  const again = create()
  context.after(() => again.stop())
  await again.start()
  await delivered(1)
  assert.deepEqual(
    messages().map(({ id }) => id),
    [missed],
  )
  assert.ok(lines.some((line) => line.includes("history too old")))
})

test("goes on after a crash between the delivery and its note, with the same delivery id", async (context) => {
  let failing = true
  const ids: string[] = []
  const { batches, create, delivered, google, watch } = await rig(context, {
    async deliver(batch) {
      ids.push(batch.deliveryId)
      if (failing) throw new AppError("storage-failed", "the disk is away")
    },
  })
  await startAndSettle({ google, watch })
  await watch.stop()
  google.state.mail.add({ text: "one" })
  const read = google.state.next("/messages/")
  const broken = create()
  await broken.start()
  await read
  while (ids.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await broken.stop()
  assert.equal(batches.length, 0)
  failing = false
  google.state.mail.add({ text: "two" })
  const again = create()
  context.after(() => again.stop())
  await again.start()
  await delivered(2)
  assert.equal(ids[0], ids[1], "the first mail keeps its id although a second has come")
  assert.deepEqual(
    batches.map((batch) => batch.payload.messages.map(({ body }) => body)),
    [["one"], ["two"]],
  )
})

test("does not let a batch that is refused for good keep back the next, nor hands it on again in part", async (context) => {
  const refused: string[] = []
  const { delivered, endpoint, google, messages, watch } = await rig(context, {
    async deliver({ payload }) {
      const [first] = payload.messages
      if (first?.subject !== "bad") return
      refused.push(first.body)
      throw new AppError("bad-request", "no message")
    },
  })
  await startAndSettle({ google, watch })
  google.state.mail.add({ subject: "bad", text: "words" })
  const skipped = google.state.next("/messages/")
  await google.push(endpoint(), publicAddress)
  await skipped
  google.state.mail.add({ subject: "good" })
  while (messages().length === 0) {
    await google.push(endpoint(), publicAddress)
    await Promise.race([delivered(1), google.state.next("/history")])
  }
  assert.deepEqual(
    messages()
      .map(({ subject }) => subject)
      .filter((subject) => subject === "good"),
    ["good"],
  )
  assert.deepEqual(refused, ["words"])
})

test("hands on mail by mail what is too large together, and without its body what is too large alone", async (context) => {
  const { batches, delivered, endpoint, google, messages, watch } = await rig(context, {
    async deliver({ payload }) {
      if (JSON.stringify(payload).length > 5_000) throw new AppError("payload-too-large", "too large")
    },
  })
  await startAndSettle({ google, watch })
  google.state.mail.add({ text: "a".repeat(3_000) })
  google.state.mail.add({ text: "b".repeat(3_000) })
  google.state.mail.add({ text: "c".repeat(6_000) })
  await google.push(endpoint(), publicAddress)
  await delivered(3)
  assert.deepEqual(
    messages().map(({ body }) => body.length),
    [3_000, 3_000, 0],
  )
  assert.equal(new Set(batches.map(({ deliveryId }) => deliveryId)).size, 3)
})

test("tries again what may pass by itself, and passes over a mail that is gone", async (context) => {
  const { delivered, endpoint, google, lines, messages, watch } = await rig(context)
  await startAndSettle({ google, watch })
  const gone = google.state.mail.add({})
  const kept = google.state.mail.add({})
  google.state.mail.mails.delete(gone)
  const reads = google.state.count("/history")
  google.state.fail("/history", 503)
  google.state.fail(`/messages/${kept}`, 429, 1, { "retry-after": "0" })
  await google.push(endpoint(), publicAddress)
  await delivered(1)
  assert.deepEqual(
    messages().map(({ id }) => id),
    [kept],
  )
  // The call that failed is made again, not the whole round: that would come after a pause, from the list of mails on.
  assert.deepEqual(
    lines.filter((line) => line.includes("gmail watch failing")),
    [],
  )
  assert.equal(google.state.count("/history"), reads + 2)
})

test("renews the token before it lapses and when Google no longer takes it, once for all who wait", async (context) => {
  const { delivered, endpoint, google, messages, refreshToken, stateFolder, watch } = await rig(context)
  await startAndSettle({ google, watch })
  assert.equal(google.state.count("POST /token"), 1)
  google.state.accessTokens.clear()
  for (let count = 0; count < 5; count += 1) google.state.mail.add({})
  await google.push(endpoint(), publicAddress)
  await delivered(1)
  assert.equal(messages().length, 5)
  assert.equal(google.state.count("POST /token"), 2)
  const file = join(stateFolder, "credentials", "gmail.json")
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const stored = JSON.parse(readFileSync(file, "utf8"))
  assert.equal(stored.refreshToken, refreshToken)
  assert.ok(google.state.accessTokens.has(stored.accessToken))
})

test("says that somebody has to sign in again when Google has taken the sign-in back", async (context) => {
  const asleep = Promise.withResolvers<void>()
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => {
      asleep.resolve()
      return systemClock.sleep(ms, signal)
    },
  }
  const { google, lines, watch } = await rig(context, { clock })
  google.state.refreshTokens.clear()
  await watch.start()
  await asleep.promise
  assert.equal(watch.status().state, "signed-out")
  assert.match(watch.status().lastError ?? "", /invalid_grant/)
  assert.equal(google.state.count("POST /token"), 1, "it is not tried again at once")
  assert.ok(lines.some((line) => line.includes("svc webhooks gmail setup")))
})

test("waits longer after each failure, whatever is pushed meanwhile, and looks at once when it is over", async (context) => {
  const pauses: number[] = []
  let paused = Promise.withResolvers<void>()
  let over = Promise.withResolvers<void>()
  const clock = {
    ...systemClock,
    async sleep(ms: number, signal?: AbortSignal) {
      pauses.push(ms)
      paused.resolve()
      const aborted = new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
      await Promise.race([over.promise, aborted])
    },
  }
  const { endpoint, google, watch } = await rig(context, { clock })
  google.state.fail("/watch", 403, 4)
  await watch.start()
  for (let failures = 1; failures <= 4; failures += 1) {
    await paused.promise
    assert.equal(watch.status().state, "failing")
    const nominal = 5_000 * 2 ** (failures - 1)
    assert.ok(Math.abs((pauses.at(-1) ?? 0) - nominal) <= nominal / 5, `${pauses.at(-1)} after ${failures}`)
    const asked = google.state.count("/watch")
    assert.equal(
      (await google.push(endpoint(), publicAddress, { notice: { historyId: 900_000 + failures } })).status,
      204,
    )
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(google.state.count("/watch"), asked, "a push does not end the wait")
    const { resolve } = over
    paused = Promise.withResolvers()
    over = Promise.withResolvers()
    resolve()
  }
  await paused.promise
  assert.equal(watch.status().state, "watching")
})

test("renews the registration in time, and looks by itself for what no push told of", async (context) => {
  let now = Date.now()
  let wake = Promise.withResolvers<void>()
  const pauses: number[] = []
  const clock = {
    now: () => now,
    monotonic: () => now,
    async sleep(ms: number, signal?: AbortSignal) {
      pauses.push(ms)
      const aborted = new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
      await Promise.race([wake.promise, aborted])
      wake = Promise.withResolvers()
    },
  }
  const { delivered, google, messages, watch } = await rig(context, { clock, view: { renewEveryMinutes: 10 } })
  await startAndSettle({ google, watch })
  while (pauses.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(pauses[0], 600_000)
  google.state.mail.add({})
  now += 600_000
  wake.resolve()
  await delivered(1)
  assert.equal(google.state.watches.length, 2)
  assert.equal(messages().length, 1)
  assert.equal(watch.status().renewedAt, new Date(now).toISOString())
})

test("keeps reading while the registration cannot be renewed", async (context) => {
  const { delivered, google, messages, stateFolder, watch } = await rig(context)
  await startAndSettle({ google, watch })
  await watch.stop()
  const file = join(stateFolder, "gmail", "watch.json")
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), renewedAt: 1 }))
  google.state.mail.add({})
  google.state.fail("/watch", 403, 5)
  await watch.start()
  await delivered(1)
  assert.equal(messages().length, 1)
})

test("is off without an account, refuses a start without set-up, and stays stopped when told so", async (context) => {
  const off = await rig(context, { view: { account: undefined } })
  await off.watch.start()
  assert.deepEqual(off.watch.status(), { state: "off" })
  assert.equal((await off.watch.receiver(new Request("http://127.0.0.1/gmail-pubsub"))).status, 503)

  const bare = await rig(context, { view: { topic: undefined } })
  await assert.rejects(
    bare.watch.start(),
    (error: unknown) => error instanceof AppError && error.code === "config-invalid",
  )

  const stopped = await rig(context)
  mkdirSync(join(stopped.stateFolder, "gmail"), { recursive: true })
  writeFileSync(join(stopped.stateFolder, "gmail", "stopped"), "")
  await stopped.watch.start()
  assert.deepEqual(stopped.watch.status(), { state: "stopped" })
  assert.equal(stopped.google.state.calls.length, 0)
})

test("names a port that is taken, and can be started again", async (context) => {
  const first = await rig(context)
  await startAndSettle(first)
  const port = first.watch.status().listening?.port ?? 0
  const second = await rig(context, { view: { serve: { ...baseView.serve, port } } })
  await assert.rejects(
    second.watch.start(),
    (error: unknown) => error instanceof AppError && error.code === "port-in-use",
  )
  await first.watch.stop()
  await startAndSettle(second)
  assert.equal(second.watch.status().listening?.port, port)
})

test("writes no secret into the log", async (context) => {
  const { delivered, endpoint, google, lines, refreshToken, stateFolder, watch } = await rig(context)
  await startAndSettle({ google, watch })
  google.state.mail.add({})
  google.state.fail("/history", 400)
  await google.push(endpoint().replace(pushToken, `${pushToken}x`), publicAddress)
  await google.push(endpoint(), publicAddress)
  await Promise.race([delivered(1), google.state.next("/history")])
  await watch.stop()
  const stored = readFileSync(join(stateFolder, "credentials", "gmail.json"), "utf8")
  const secrets = [refreshToken, pushToken, JSON.parse(stored).accessToken, JSON.parse(stored).clientSecret]
  const text = lines.join("")
  assert.ok(text.length > 0 && existsSync(stateFolder))
  for (const secret of secrets) assert.ok(!text.includes(secret))
})
