// Webhook mode through its public faces: the emulator sends, the listener answers, the store holds.
import assert from "node:assert/strict"
import { createServer } from "node:http"
import { connect } from "node:net"
import { once } from "node:events"
import { afterEach, beforeEach, describe, test } from "node:test"
import { endAll } from "../../../../test/support/ends.ts"
import { freePort } from "../../../../test/support/gateway.ts"
import { until } from "../../../../test/support/world.ts"
import { type Emulator, startEmulator } from "../../../../emulator/index.ts"
import type { ChannelAccountStatus } from "../../contract.ts"
import { type Bench, type BenchOptions, startBench } from "../test-bench/bench.ts"
import { UpdateCollector } from "./collector.ts"

const owner = 4242
let bench: Bench
let emulator: Emulator
let port: number

beforeEach(async () => {
  port = await freePort()
  // As a server of one's own: http on any port.
  emulator = await startEmulator({ seed: 11, localMode: true })
  emulator.control.addUser({ id: owner })
})

afterEach(() => endAll([() => bench.end(), () => emulator.stop()]))

const url = (path = "/chatapp-webhook") => `http://127.0.0.1:${port}${path}`
const webhook = (more: Record<string, unknown> = {}) => ({
  allowFrom: [owner],
  webhookUrl: `http://127.0.0.1:${port}/`,
  webhookBind: `127.0.0.1:${port}`,
  ...more,
})

async function begin(options: BenchOptions = {}): Promise<Bench> {
  bench = await startBench({ chatapp: webhook(), emulator, ...options })
  return bench
}

const status = async (account = 0): Promise<ChannelAccountStatus> => {
  const all = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5000) })
  assert.ok(all[account])
  return all[account]
}
const calls = (method: string) => emulator.control.calls({ method })
const write = (text: string) => emulator.control.sendText({ userId: owner, text })
const texts = () => bench.jobs().map((job) => job.input.text)
const logged = (text: string) => bench.logLines.some((line) => line.includes(text))
const registered = () => bench.until(() => logged("webhook set"), "the registration")

async function secretOf(account = "default"): Promise<string> {
  const kept = await bench.store.meta.get(`chatapp.webhookSecret.${account}`)
  assert.ok(typeof kept === "string")
  return kept
}

const update = (id: number, text: string) => {
  const chat = { id: owner, type: "private", first_name: "O" }
  const from = { id: owner, is_bot: false, first_name: "O" }
  return { update_id: id, message: { message_id: id, date: 1_800_000_000, chat, from, text } }
}

const post = async (body: string, headers: Record<string, string> = {}, path?: string) =>
  await fetch(url(path), { method: "POST", body, headers })

describe("registration", () => {
  test("sets a secret made once, all kinds of updates, and takes messages in", async () => {
    await begin()
    await registered()
    const [set] = calls("setWebhook")
    const secret = await secretOf()
    assert.match(secret, /^[A-Za-z0-9_-]{43}$/)
    assert.equal(set?.parameters["url"], url())
    assert.equal(set?.parameters["secret_token"], secret)
    const kinds = JSON.stringify(set?.parameters["allowed_updates"])
    for (const kind of ["message", "message_reaction", "callback_query", "my_chat_member", "channel_post"]) {
      assert.ok(kinds.includes(kind), kind)
    }
    write("one")
    write("two")
    await bench.until(() => texts().length === 2, "both messages")
    assert.deepEqual(texts(), ["one", "two"])
    assert.equal((await status()).state, "running")
    assert.equal((await status()).mode, "webhook")
    assert.ok(!bench.logLines.some((line) => line.includes(secret)), "the secret is in no log line")
  })

  test("is not repeated by a restart, keeps the secret, and follows a changed one", async () => {
    await begin()
    await registered()
    const secret = await secretOf()
    await bench.channel.stop()
    await bench.channel.start()
    await emulator.control.waitForCall({ method: "getWebhookInfo", after: calls("getWebhookInfo")[0]?.id ?? 0 })
    write("still there")
    await bench.until(() => texts().includes("still there"), "the message")
    assert.equal(calls("setWebhook").length, 1)
    assert.equal(await secretOf(), secret)
    bench.setConfig(webhook({ webhookSecret: "a-secret-of-ones-own" }))
    await bench.channel.apply()
    await emulator.control.waitForCall({ method: "setWebhook", after: calls("setWebhook")[0]?.id ?? 0 })
    assert.equal(calls("setWebhook").at(-1)?.parameters["secret_token"], "a-secret-of-ones-own")
  })

  test("is mended when another program takes the webhook away", async () => {
    await begin({ pollTiming: { webhookCheckMs: 50, minBackoffMs: 300, maxBackoffMs: 600 } })
    await registered()
    await fetch(`${emulator.url}/bot${emulator.token}/deleteWebhook`)
    write("waits")
    await bench.until(() => texts().includes("waits"), "the message")
    assert.ok(logged("webhook was changed elsewhere"))
  })

  test("waits for a platform that refuses it, says why, and never gives up", async () => {
    emulator.control.fault({
      kind: "status",
      status: 400,
      description: "Bad Request: bad webhook: no",
      method: "setWebhook",
    })
    await begin()
    await bench.until(() => logged("webhook not set, will retry"), "the refusal")
    assert.match((await status()).error ?? "running by now", /bad webhook|running/)
    write("patience")
    await bench.until(() => texts().includes("patience"), "the message")
    assert.equal((await status()).error, undefined)
  })

  test("stops with a refused token, says so, and goes on when the token works again", async () => {
    emulator.control.revokeToken({})
    await begin({ pollTiming: { refusedMs: 20 } })
    await bench.until(() => logged("webhook registration stopped"), "the stop")
    assert.equal((await status()).state, "stopped")
    assert.match((await status()).error ?? "", /401/)
    emulator.control.revokeToken({ revoked: false })
    await registered()
    write("after all")
    await bench.until(() => texts().includes("after all"), "the message")
    assert.equal((await status()).state, "running")
  })

  test("is taken back when the account polls again, and nothing is lost between", async () => {
    await begin()
    await registered()
    write("by webhook")
    await bench.until(() => texts().length === 1, "the first message")
    bench.setConfig({ allowFrom: [owner] })
    await bench.channel.apply()
    write("by poll")
    await bench.until(() => texts().length === 2, "the second message")
    const [removed] = calls("deleteWebhook")
    assert.equal(removed?.parameters["drop_pending_updates"], false)
    assert.deepEqual(texts(), ["by webhook", "by poll"])
    bench.setConfig(webhook())
    await bench.channel.apply()
    write("by webhook again")
    await bench.until(() => texts().length === 3, "the third message")
  })
})

describe("the listener", () => {
  test("refuses a forged update before it reads the body, and slows guessing down", async () => {
    await begin()
    await registered()
    const secret = await secretOf()
    const forged = JSON.stringify(update(1, "forged"))
    for (const headers of [{}, { "x-telegram-bot-api-secret-token": "wrong" }]) {
      assert.equal((await post(forged, headers as Record<string, string>)).status, 401)
    }
    // The head alone: whoever waits for the body would not answer.
    const socket = connect(port, "127.0.0.1")
    socket.write(`POST /chatapp-webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n`)
    assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1\.1 401 /)
    socket.destroy()
    const statuses = new Set<number>()
    for (let count = 0; count < 25; count += 1) statuses.add((await post(forged)).status)
    assert.deepEqual([...statuses], [401, 429])
    const right = { "x-telegram-bot-api-secret-token": secret }
    assert.equal((await post(JSON.stringify(update(2, "right")), right)).status, 200)
    assert.deepEqual(texts(), ["right"])
  })

  test("answers nothing but its path, by POST, with an update of a bearable size", async () => {
    await begin()
    await registered()
    const headers = { "x-telegram-bot-api-secret-token": await secretOf() }
    for (const path of ["/", "/healthz", "/chatapp-webhook/", "/api/status"]) {
      const response = await post("{}", headers, path)
      assert.equal(response.status, 404)
      assert.equal(await response.text(), "")
    }
    const asked = await fetch(url(), { headers })
    assert.deepEqual([asked.status, asked.headers.get("allow")], [405, "POST"])
    assert.equal((await post("not json", headers)).status, 400)
    assert.equal((await post(JSON.stringify({ update_id: 1, x: "y".repeat(1024 * 1024) }), headers)).status, 413)
    assert.equal((await post(JSON.stringify(update(1, "fine")), headers, "/chatapp-webhook?x=1")).status, 200)
  })

  test("sets aside what is no update and answers 200, so that it is not sent again for ever", async () => {
    await begin()
    await registered()
    const headers = { "x-telegram-bot-api-secret-token": await secretOf() }
    const bodies = ["{}", "null", "[1]", '"x"', '{"update_id":"5"}', '{"update_id":5,"message":{"chat":null}}', "{}"]
    for (const body of bodies) assert.equal((await post(body, headers)).status, 200, body)
    assert.equal((await post(JSON.stringify(update(6, "after")), headers)).status, 200)
    assert.deepEqual(texts(), ["after"])
    const rows = bench.store.handle.prepare("select update_id, body from unreadable_update order by id").all()
    assert.deepEqual(
      rows.map((row) => [row["update_id"], row["body"]]),
      [...bodies.slice(0, 5).map((body) => [null, body]), [5, bodies[5]]],
    )
  })

  test("takes an update once, however often and however close together it comes", async () => {
    await begin()
    await registered()
    const headers = { "x-telegram-bot-api-secret-token": await secretOf() }
    const body = JSON.stringify(update(7, "once"))
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await post(body, headers)).status))
    statuses.push((await post(body, headers)).status)
    assert.deepEqual(new Set(statuses), new Set([200]))
    assert.deepEqual(texts(), ["once"])
  })

  test("takes what the platform sends twice once, and keeps the order of a chat", async () => {
    await begin()
    await registered()
    emulator.control.duplicateUpdates({ count: 3 })
    const wanted = Array.from({ length: 30 }, (_, index) => `message ${index}`)
    for (const text of wanted) write(text)
    await bench.until(() => texts().includes("message 29"), "the last message")
    assert.deepEqual(texts(), wanted)
    assert.equal((await status()).counters["duplicate"], 3)
  })

  test("is cut off while it reads: nothing is taken in, and the platform sends it again", async () => {
    await begin()
    await registered()
    const secret = await secretOf()
    const body = JSON.stringify(update(9, "half"))
    const socket = connect(port, "127.0.0.1")
    socket.write(
      `POST /chatapp-webhook HTTP/1.1\r\nhost: x\r\nx-telegram-bot-api-secret-token: ${secret}\r\n` +
        `content-length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
      () => socket.destroy(),
    )
    await once(socket, "close")
    await bench.until(() => logged("the whole body arrived"), "the refusal")
    assert.deepEqual(texts(), [])
    assert.equal((await post(body, { "x-telegram-bot-api-secret-token": secret })).status, 200)
    assert.deepEqual(texts(), ["half"])
  })

  test("answers 503 with Retry-After while nothing can be stored, and gets the update again", async () => {
    let full = true
    const failing = () => {
      if (full) throw new Error("database or disk is full")
    }
    await begin({
      crashPoint: (label) => (label === "ingest.beforeCommit" ? failing() : undefined),
      pollTiming: { webhookCheckMs: 50 },
    })
    await registered()
    const headers = { "x-telegram-bot-api-secret-token": await secretOf() }
    const response = await post(JSON.stringify(update(3, "full")), headers)
    assert.equal(response.status, 503)
    assert.ok(Number(response.headers.get("retry-after")) >= 1)
    assert.equal(bench.jobs().length, 0)
    write("by the platform")
    const probed = async () => {
      const [now] = await bench.channel.status({ probe: true, signal: AbortSignal.timeout(5000) })
      return now?.probe?.webhook
    }
    let told = await probed()
    while (told?.lastErrorAt === undefined) told = await probed()
    const asked = await fetch(`${emulator.url}/bot${emulator.token}/getWebhookInfo`)
    const { result } = (await asked.json()) as { result: Record<string, number | string> }
    assert.deepEqual(told, {
      url: result["url"],
      pending: 1,
      lastErrorAt: Number(result["last_error_date"]) * 1000,
      lastError: result["last_error_message"],
    })
    const looked = await until("a look at what the platform has met", async () => {
      const { webhook } = await status()
      return webhook?.lastErrorAt === undefined ? undefined : webhook
    })
    assert.equal(looked.lastError, result["last_error_message"])
    assert.equal(looked.lastErrorAt, Number(result["last_error_date"]) * 1000)
    full = false
    assert.equal((await post(JSON.stringify(update(3, "full")), headers)).status, 200)
    assert.equal(texts()[0], "full")
  })

  test("whose port is taken ends the start, naming port and key; at a change it only stops its account", async () => {
    const other = createServer().listen(port, "127.0.0.1")
    await once(other, "listening")
    const words = new RegExp(`Port ${port} is in use.*channels\\.chatapp\\.webhookBind`)
    try {
      bench = await startBench({ chatapp: { allowFrom: [owner] }, emulator })
      bench.setConfig(webhook())
      await bench.channel.apply()
      assert.equal((await status()).state, "stopped")
      assert.match((await status()).error ?? "", words)
      await bench.channel.stop()
      await assert.rejects(bench.channel.start(), words)
    } finally {
      other.close()
    }
    await bench.channel.apply()
    write("free again")
    await bench.until(() => texts().includes("free again"), "the message")
  })
})

test("an address that this machine does not have ends the start, naming it", async () => {
  bench = await startBench({ chatapp: { allowFrom: [owner] }, emulator })
  await bench.channel.stop()
  bench.setConfig(webhook({ webhookBind: `192.0.2.1:${port}` }))
  await assert.rejects(bench.channel.start(), /Cannot listen on 192\.0\.2\.1.*channels\.chatapp\.webhookBind/)
})

describe("several accounts", () => {
  test("share the listener, each at its path with its secret", async () => {
    const second = emulator.control.addBot({ username: "second_bot" })
    await begin({ chatapp: webhook({ accounts: { work: { botToken: second.token } } }) })
    await bench.until(() => bench.logLines.filter((line) => line.includes("webhook set")).length === 2, "both")
    assert.deepEqual(
      calls("setWebhook")
        .map((call) => call.parameters["url"])
        .sort(),
      [url(), url("/chatapp-webhook/work")],
    )
    const secret = await secretOf()
    assert.notEqual(await secretOf("work"), secret)
    const crossed = await post(
      JSON.stringify(update(1, "x")),
      { "x-telegram-bot-api-secret-token": secret },
      "/chatapp-webhook/work",
    )
    assert.equal(crossed.status, 401)
    emulator.control.sendText({ userId: owner, botId: second.user.id, text: "to the second" })
    write("to the first")
    await bench.until(() => texts().length === 2, "both messages")
    const accounts = bench.jobs().map(({ input }) => [input.text, input.route?.account])
    assert.deepEqual(
      new Map(accounts as [string, string][]),
      new Map([
        ["to the second", "work"],
        ["to the first", "default"],
      ]),
    )
  })

  test("with the same path are refused, the first goes on", async () => {
    const second = emulator.control.addBot({ username: "second_bot" })
    const work = { botToken: second.token, webhookPath: "/chatapp-webhook" }
    await begin({ chatapp: webhook({ accounts: { work } }) })
    assert.equal((await status(1)).state, "stopped")
    assert.match((await status(1)).error ?? "", /used by account default as well/)
    write("hello")
    await bench.until(() => texts().length === 1, "the message")
  })
})

test("what arrives while a batch is written makes the next, and a failed batch is told to its own", async () => {
  bench = await startBench({ chatapp: {}, emulator })
  const batches: number[][] = []
  let release: (() => void) | undefined
  const collector = new UpdateCollector<number>(async (batch) => {
    batches.push([...batch])
    if (batches.length === 1) await new Promise<void>((resolve) => (release = resolve))
    if (batches.length === 2) throw new Error("full")
  })
  const first = collector.add(1)
  await new Promise(setImmediate)
  const second = [collector.add(2), collector.add(3)]
  release?.()
  await first
  for (const each of second) await assert.rejects(each, /full/)
  await collector.add(4)
  assert.deepEqual(batches, [[1], [2, 3], [4]])
})
