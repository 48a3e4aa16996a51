// The poll loop under faults: nothing is lost, nothing is taken twice, the state says what is going on.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, test } from "node:test"
import type { ChannelAccountStatus } from "../contract.ts"
import { type Bench, type BenchOptions, startBench } from "./test-bench/bench.ts"

const owner = 4242
const allowOwner = { allowFrom: [owner] }
let bench: Bench

afterEach(() => bench.end())

async function begin(options: BenchOptions = {}): Promise<Bench> {
  bench = await startBench({ chatapp: allowOwner, ...options })
  if (!bench.emulator.control.users().some((user) => user.id === owner)) bench.emulator.control.addUser({ id: owner })
  return bench
}

const write = (text: string) => bench.emulator.control.sendText({ userId: owner, text })
const texts = () => bench.jobs().map((job) => job.input.text)
const status = async (): Promise<ChannelAccountStatus> => {
  const [account] = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5000) })
  assert.ok(account)
  return account
}
const logged = (text: string) => bench.logLines.filter((line) => line.includes(text)).length
const polls = () => bench.emulator.control.calls({ method: "getUpdates" })
const pollStarted = (after = 0) => bench.emulator.control.waitForCall({ method: "getUpdates", after, phase: "started" })

describe("updates", () => {
  test("of a batch of 100 become jobs in order, once each, and are then confirmed", async () => {
    await begin()
    await bench.channel.stop()
    for (let index = 0; index < 100; index += 1) write(`message ${index}`)
    await bench.channel.start()
    await bench.until(() => bench.jobs().length === 100, "all are taken in")
    assert.deepEqual(
      texts(),
      Array.from({ length: 100 }, (_, index) => `message ${index}`),
    )
    const [last] = polls().slice(-1)
    await pollStarted(last?.id)
    assert.deepEqual(bench.emulator.control.updates(), [])
  })

  test("are confirmed by a stop that comes right behind them: a gateway with another state takes none again", async () => {
    const stopped = Promise.withResolvers<void>()
    let isStopping = false
    await begin({
      crashPoint(label) {
        if (label !== "poll.committed" || isStopping) return
        isStopping = true
        bench.channel.stop().then(stopped.resolve, stopped.reject)
      },
    })
    write("one")
    await stopped.promise
    assert.deepEqual([texts(), bench.emulator.control.updates()], [["one"], []])
  })

  test("that the platform sends again change nothing", async () => {
    await begin()
    bench.emulator.control.duplicateUpdates({ count: 2 })
    write("one")
    write("two")
    await bench.until(() => logged("updates seen before") > 0, "the repeat")
    write("three")
    await bench.until(() => bench.jobs().length >= 3, "the third is taken in")
    assert.deepEqual(texts(), ["one", "two", "three"])
  })

  test("are taken in when their ids go on lower than before", async () => {
    await begin()
    write("high")
    await bench.until(() => bench.jobs().length === 1, "the first")
    bench.emulator.control.jumpUpdateId({ to: 17 })
    write("low")
    await bench.until(() => bench.jobs().length === 2, "the second")
    assert.deepEqual(texts(), ["high", "low"])
  })

  test("of a shape that nobody foresaw are recorded and hold up nothing", async () => {
    await begin()
    bench.emulator.control.injectUpdate({ update: { message: { chat: null } } })
    bench.emulator.control.injectUpdate({ update: { some_future_kind: { a: 1 } } })
    write("after")
    await bench.until(() => logged("message accepted") === 1, "the message after them")
    const { counters } = await status()
    assert.equal(counters["skipped-unreadable"], 1)
    assert.equal(counters["skipped-other-kind"], 1)
    const rows = bench.store.handle.prepare("select payload from inbox").all()
    assert.equal(rows.length, 3)
    const kept = rows.map(({ payload }) => JSON.parse(String(payload)) as { kind?: string; skipped?: string })
    assert.equal(kept.find(({ skipped }) => skipped === "other-kind")?.kind, "some_future_kind")
  })

  test("ask for reactions too", async () => {
    await begin()
    const call = await bench.emulator.control.waitForCall({ method: "getUpdates", phase: "started" })
    const kinds = call.parameters["allowed_updates"]
    const list = (typeof kinds === "string" ? JSON.parse(kinds) : kinds) as string[]
    assert.ok(list.includes("message") && list.includes("message_reaction") && list.includes("callback_query"))
  })
})

describe("a failing platform", () => {
  test("is asked again however it fails, and what waited there is taken in once", async () => {
    await begin()
    const { control } = bench.emulator
    const faults = [
      { kind: "status", status: 500 },
      { kind: "html", status: 502 },
      { kind: "cut" },
      { kind: "cut-body" },
      { kind: "429", retryAfter: 1 },
    ] as const
    const expected: string[] = []
    for (const fault of faults) {
      control.fault({ ...fault, method: "getUpdates", times: 2 })
      for (const text of [`${fault.kind} meanwhile`, `${fault.kind} afterwards`]) {
        write(text)
        await bench.until(() => texts().includes(text), text)
        expected.push(text)
      }
      assert.deepEqual(control.faults(), [])
    }
    assert.deepEqual(texts(), expected)
    assert.equal((await status()).state, "running")
    const told = bench.logLines.filter((line) => line.includes("polling failed, will retry"))
    const asked = told.filter((line) => line.includes('"delayMs":1000'))
    assert.equal(asked.length, 2, "as long as the platform asks for, and no longer")
  })

  test("is told of once as a warning, from the first poll on", async () => {
    await begin()
    await bench.channel.stop()
    const before = logged("polling recovered")
    bench.emulator.control.fault({ kind: "status", status: 500, method: "getUpdates", times: 2 })
    await bench.channel.start()
    await bench.until(() => logged("polling recovered") > before, "it goes on")
    const warned = bench.logLines.filter((line) => /"level":40.*polling failed, will retry/.test(line))
    assert.equal(warned.length, 1)
    assert.match(warned[0] ?? "", /"failures":1/)
    assert.ok(bench.logLines.some((line) => /"failures":2,.*polling recovered/.test(line)))
  })

  test("that refuses connections for a while is found again", async () => {
    await begin()
    await pollStarted()
    await bench.emulator.control.restart({ downMs: 150 })
    write("back")
    await bench.until(() => texts().includes("back"), "the message after the pause")
    assert.ok(logged("polling recovered") >= 1)
  })

  test("that never answers is left after the poll's own limit", async () => {
    await begin({ pollTiming: { holdSeconds: 0, graceMs: 150 } })
    bench.emulator.control.fault({ kind: "hang", method: "getUpdates" })
    write("one")
    await bench.until(() => texts().includes("one"), "the message")
    assert.ok(logged("given up before an answer came") >= 1)
  })

  test("that knows of a webhook is told to forget it, and what waits there is kept", async () => {
    await begin()
    await bench.channel.stop()
    const set = await fetch(`${bench.emulator.url}/bot${bench.emulator.token}/setWebhook?url=https://example.com/hook`)
    assert.equal(set.status, 200)
    write("waiting")
    await bench.channel.start()
    await bench.until(() => texts().includes("waiting"), "the message")
    assert.equal(logged("webhook removed"), 1)
  })

  test("that answers in a shape that nobody foresaw is asked again", async () => {
    const server = await platform((answers) => ({
      ok: true,
      result: answers === 1 ? 7 : answers === 2 ? [update("hi")] : [],
    }))
    await begin({ chatapp: { ...allowOwner, apiRoot: server.url }, pollTiming: { holdSeconds: 0 } })
    await bench.until(() => texts().includes("hi"), "the message after the odd answer")
    await bench.channel.stop()
    server.close()
    assert.equal(logged("no answer to getUpdates"), 1)
    assert.equal(logged("polling failed unexpectedly"), 0)
  })

  test("that answers every poll at once, with nothing, is asked more slowly", async () => {
    const asked: number[] = []
    const server = await platform((answers) => {
      asked.push(performance.now())
      return { ok: true, result: answers === 5 ? [update("hi")] : [] }
    })
    const pollTiming = { holdSeconds: 1, quickMs: 1_000, minBackoffMs: 100, maxBackoffMs: 100 }
    await begin({ chatapp: { ...allowOwner, apiRoot: server.url }, pollTiming })
    await bench.until(() => texts().includes("hi"), "the message after four empty answers")
    await bench.channel.stop()
    server.close()
    const [, second = 0, third = 0, fourth = 0, fifth = 0] = asked
    assert.ok(Math.min(third - second, fourth - third, fifth - fourth) >= 75, asked.join())
  })

  test("that takes the token back stops this account with a clear state, until it takes it again", async () => {
    await begin({ pollTiming: { refusedMs: 20 } })
    await pollStarted()
    bench.emulator.control.revokeToken({})
    await bench.until(() => logged("bot token refused, will ask again") === 1, "the stop")
    const { state, error } = await status()
    assert.equal(state, "stopped")
    assert.match(error ?? "", /401/)
    write("meanwhile")
    bench.emulator.control.revokeToken({ revoked: false })
    await bench.until(() => texts().includes("meanwhile"), "what was written meanwhile")
    assert.equal((await status()).state, "running")
    assert.equal(logged("bot token refused, will ask again"), 1)
  })
})

test("a platform that asks to wait for hours is asked again after some minutes: people wait meanwhile", async () => {
  await begin()
  bench.emulator.control.fault({ kind: "429", method: "getUpdates", retryAfter: 7_200 })
  write("hello")
  await bench.until(() => logged("polling failed, will retry") > 0, "the refusal")
  const line = bench.logLines.find((each) => each.includes("polling failed, will retry")) ?? ""
  assert.equal((JSON.parse(line) as { delayMs: number }).delayMs, 300_000)
})

describe("another poller of the same bot", () => {
  test("is waited for with one warning and a fresh connection each time, and never given up on", async () => {
    const sockets = new Set<number>()
    const conflict = { ok: false, error_code: 409, description: "Conflict: terminated by other getUpdates request" }
    const server = await platform((answers, port) => {
      sockets.add(port)
      return answers <= 6 ? conflict : { ok: true, result: answers === 7 ? [update("finally")] : [] }
    })
    await begin({
      chatapp: { ...allowOwner, apiRoot: server.url },
      pollTiming: { conflictMs: 40, holdSeconds: 0 },
    })
    const seen = new Set<string>()
    await bench.until(() => {
      void status().then(({ state, error }) => seen.add(`${state} ${error ?? ""}`))
      return texts().includes("finally")
    }, "the message after the conflicts")
    await bench.channel.stop()
    server.close()
    assert.equal(logged("polling conflict, will wait"), 1)
    assert.ok(sockets.size >= 6, `${sockets.size} connections`)
    assert.ok(
      [...seen].some((state) => state.startsWith("waiting 409")),
      [...seen].join(),
    )
  })
})

describe("a full store", () => {
  test("leaves the offset where it is and goes on by itself", async () => {
    let full = true
    const failing = () => {
      if (full) throw new Error("database or disk is full")
    }
    await begin({ crashPoint: (label) => (label === "ingest.beforeCommit" ? failing() : undefined) })
    write("patience")
    await bench.until(() => logged("updates not stored, will retry") === 1, "the failure")
    assert.equal((await status()).state, "waiting")
    assert.equal(bench.jobs().length, 0)
    assert.equal(bench.emulator.control.updates().length, 1, "not confirmed to the platform")
    full = false
    await bench.until(() => texts().includes("patience"), "the message")
    assert.equal(bench.jobs().length, 1)
  })
})

function update(text: string) {
  const chat = { id: owner, type: "private", first_name: "O" }
  const from = { id: owner, is_bot: false, first_name: "O" }
  return { update_id: 1, message: { message_id: 1, date: 1_800_000_000, chat, from, text } }
}

/** A platform of a few lines, for answers that the emulator does not give. */
async function platform(answer: (count: number, port: number) => object): Promise<{ url: string; close(): void }> {
  let count = 0
  const server = createServer((request, response) => {
    const isPoll = request.url?.endsWith("/getUpdates")
    // A real one does not answer an empty poll at once either; without a pause the loop would spin.
    const send = () => {
      const body = isPoll ? answer((count += 1), request.socket.remotePort ?? 0) : { ok: true, result: { url: "" } }
      response.end(JSON.stringify(body))
    }
    setTimeout(send, isPoll && count > 7 ? 50 : 0)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
