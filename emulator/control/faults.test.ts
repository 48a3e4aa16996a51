// Faults on order, as a bot meets them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { openBench } from "../testing.ts"

const message = { chat_id: 1001, text: "x" }

test("answers with the ordered status, HTML or 429, a number of times", async () => {
  await using bench = await openBench()
  const { control, url, token } = bench.emulator
  control.fault({ kind: "status", status: 503, description: "Bad Gateway", method: "sendmessage", times: 2, skip: 1 })
  const statuses = []
  for (let index = 0; index < 4; index += 1) statuses.push((await bench.call("sendMessage", message)).status)
  assert.deepEqual(statuses, [200, 503, 503, 200])
  control.fault({ kind: "429", retryAfter: 7, chatId: 1001 })
  const limited = await bench.call("sendMessage", message)
  assert.equal(limited.status, 429)
  assert.equal(limited.headers.get("retry-after"), "7")
  assert.deepEqual(limited.body.parameters, { retry_after: 7 })
  assert.equal(limited.body.description, "Too Many Requests: retry after 7")
  control.fault({ kind: "html" })
  const page = await fetch(`${url}/bot${token}/getMe`)
  assert.equal(page.status, 502)
  assert.match(await page.text(), /^<html>/)
})

test("cuts a connection before or after the call took effect", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const count = () => control.messages({ chatId: 1001 }).length
  control.fault({ kind: "cut" })
  await assert.rejects(bench.call("sendMessage", message))
  assert.equal(count(), 1)
  control.fault({ kind: "cut-after-accept" })
  await assert.rejects(bench.call("sendMessage", message))
  assert.equal(count(), 2)
  control.fault({ kind: "cut-body" })
  await assert.rejects(bench.call("sendMessage", message))
  assert.equal(count(), 3)
})

test("hangs until the client gives up, and logs that", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  control.fault({ kind: "hang" })
  const abort = new AbortController()
  const hanging = bench.call("getMe", {}, abort.signal)
  const started = await control.waitForCall({ method: "getMe", phase: "started" })
  assert.equal(started.finishedAt, undefined)
  abort.abort()
  await assert.rejects(hanging)
  const ended = await control.waitForCall({ method: "getMe" })
  assert.deepEqual([ended.status, ended.fault], [0, "hang"])
})

test("answers late with slow", async () => {
  await using bench = await openBench()
  bench.emulator.control.fault({ kind: "slow", delayMs: 60_000 })
  const slow = bench.call("getMe")
  await bench.emulator.control.waitForCall({ method: "getMe", phase: "started" })
  bench.emulator.control.advanceClock({ ms: 60_000 })
  assert.equal((await slow).body.ok, true)
})

test("a restart ends polls with 500, keeps the queue and comes back at the same address", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const updates = (await bench.call("getUpdates")).body.result as { update_id: number }[]
  const offset = (updates[0]?.update_id ?? 0) + 1
  const last = control.calls().at(-1)?.id ?? 0
  const poll = bench.call("getUpdates", { offset, timeout: 30 })
  await control.waitForCall({ method: "getUpdates", phase: "started", after: last })
  control.sendText({ userId: 1001, text: "kept" })
  await poll
  const waiting = bench.call("getUpdates", { offset: offset + 1, timeout: 30 }).catch(() => undefined)
  await control.waitForCall({ method: "getUpdates", phase: "started", after: last + 1 })
  await control.restart()
  const answer = await waiting
  assert.ok(answer === undefined || answer.body.description === "Internal Server Error: restart")
  assert.equal((await bench.call("getMe")).body.ok, true)
})

test("refuses connections while it is down, and stays away when it is stopped meanwhile", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const down = control.restart({ downMs: 600_000 })
  await new Promise((resolve) => setImmediate(resolve))
  await bench.emulator.stop()
  await down
  await assert.rejects(bench.call("getMe"))
})
