// Forms of requests and answers on the wire.
import assert from "node:assert/strict"
import { test } from "node:test"
import { openBench } from "../testing.ts"

test("takes a call as GET query, url-encoded, JSON and multipart, and its method in any case", async () => {
  await using bench = await openBench()
  const { url, token } = bench.emulator
  const root = `${url}/bot${token}`
  const form = new FormData()
  form.set("chat_id", "1001")
  form.set("text", "multipart")
  const json = { method: "POST", headers: { "content-type": "application/json; charset=utf-8" } }
  const answers = await Promise.all([
    fetch(`${root}/sendmessage?chat_id=1001&text=query`),
    fetch(`${root}/SENDMESSAGE`, { method: "POST", body: new URLSearchParams({ chat_id: "1001", text: "encoded" }) }),
    fetch(`${root}/sendMessage`, { ...json, body: JSON.stringify({ chat_id: 1001, text: "json" }) }),
    fetch(`${root}/sendMessage`, { method: "POST", body: form }),
    fetch(`${root}/`, {
      ...json,
      body: JSON.stringify({ method: "sendMessage", chat_id: 1001, text: "method inside" }),
    }),
    fetch(`${root}/test/sendMessage?chat_id=1001&text=test`),
  ])
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200, 200, 200, 200, 200],
  )
  const texts = bench.emulator.control.messages({ chatId: 1001 }).map((message) => message.text)
  assert.deepEqual(texts.slice(1).sort(), ["encoded", "json", "method inside", "multipart", "query", "test"])
})

test("names what is wrong with a path, a token or a method", async () => {
  await using bench = await openBench()
  const { url, token, control } = bench.emulator
  const cases = [
    ["/nothing", 404, "Not Found"],
    ["/bot123/getMe", 401, "Unauthorized: invalid token specified"],
    ["/bot0123:abc/getMe", 401, "Unauthorized: invalid token specified"],
    [`/bot1:${"a".repeat(90)}/getMe`, 401, "Unauthorized: invalid token specified"],
    ["/botabc:def/getMe", 421, "Misdirected Request: unallowed token specified"],
    ["/bot1:unknown/getMe", 401, "Unauthorized"],
    [`/bot${token}/noSuchMethod`, 404, "Not Found: method not found"],
  ] as const
  for (const [path, status, description] of cases) {
    const response = await fetch(url + path)
    assert.equal(response.status, status, path)
    assert.deepEqual(await response.json(), { ok: false, error_code: status, description })
  }
  control.revokeToken()
  assert.equal(await bench.refusal("getMe"), "Unauthorized")
})

test("refuses everything after logOut", async () => {
  await using bench = await openBench()
  assert.equal((await bench.call("logOut")).body.ok, true)
  assert.equal(await bench.refusal("getMe"), "Logged out")
})

test("refuses close in the first ten minutes with the seconds that are left", async () => {
  await using bench = await openBench()
  bench.emulator.control.advanceClock({ ms: 60_000 })
  const early = await bench.call("close")
  assert.equal(early.status, 429)
  assert.equal(early.headers.get("retry-after"), String(early.body.parameters?.retry_after))
  bench.emulator.control.advanceClock({ ms: 600_000 })
  assert.equal((await bench.call("close")).body.ok, true)
})

test("answers 413 to a body over the limit, without cutting the connection", async () => {
  await using bench = await openBench()
  const form = new FormData()
  form.set("chat_id", "1001")
  form.set("document", new Blob([Buffer.alloc(53 * 1024 * 1024)]), "big.bin")
  const response = await fetch(`${bench.emulator.url}/bot${bench.emulator.token}/sendDocument`, {
    method: "POST",
    body: form,
  })
  assert.equal(response.status, 413)
  assert.deepEqual(await response.json(), { ok: false, error_code: 413, description: "Request Entity Too Large" })
})
