// The control API over HTTP and the program around it.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { request } from "node:http"
import { test } from "node:test"
import { createInterface } from "node:readline"
import { onePixel, openBench, type Bench } from "../testing.ts"

async function control(bench: Bench, method: string, body: object, token = bench.emulator.controlToken) {
  const response = await fetch(`${bench.emulator.url}/_emulator/${method}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { ok: boolean; result?: never; error?: { code: string; message: string } }
  return { status: response.status, ...answer }
}

test("acts as a user and waits for the bot", async () => {
  await using bench = await openBench()
  const waiting = control(bench, "waitForMessage", { chatId: 1001, from: "bot", match: { pattern: "^HI", flags: "i" } })
  await bench.call("sendMessage", { chat_id: 1001, text: "no" })
  await bench.call("sendMessage", { chat_id: 1001, text: "hi there" })
  assert.equal(((await waiting).result as unknown as { text: string }).text, "hi there")
  const sent = await control(bench, "sendMedia", { userId: 1001, kind: "photo", data: onePixel.toString("base64") })
  const photo = (sent.result as unknown as { photo: { file_id: string }[] }).photo
  const file = await fetch(`${bench.emulator.url}/_emulator/file/${photo.at(-1)?.file_id}`, {
    headers: { authorization: `Bearer ${bench.emulator.controlToken}` },
  })
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), onePixel)
  assert.equal(file.headers.get("content-type"), "image/png")
})

test("refuses a wrong secret, a foreign host, unknown methods and bad arguments", async () => {
  await using bench = await openBench()
  assert.equal((await control(bench, "users", {}, "wrong")).status, 401)
  assert.equal((await control(bench, "constructor", {})).status, 404)
  const bad = await control(bench, "sendText", { userId: "1001", text: 5 })
  assert.equal(bad.status, 400)
  assert.match(bad.error?.message ?? "", /userId/)
  assert.equal((await control(bench, "waitForMessage", { chatId: 1001, from: "bot", timeoutMs: 5 })).status, 408)
  const headers = { host: "evil.example", authorization: `Bearer ${bench.emulator.controlToken}` }
  const foreign = request(`${bench.emulator.url}/_emulator/users`, { method: "POST", headers }).end()
  const [response] = await once(foreign, "response")
  assert.equal(response.statusCode, 403)
  response.resume()
})

test("serves the chat page with a policy that lets nothing else run", async () => {
  await using bench = await openBench()
  const page = await fetch(bench.emulator.url)
  assert.match(
    page.headers.get("content-security-policy") ?? "",
    /default-src 'none'; script-src 'sha256-[^;]+; style-src 'sha256-/,
  )
  assert.doesNotMatch(await page.text(), new RegExp(bench.emulator.controlToken))
})

test("the program prints where it is, serves, and stops on SIGTERM within a second", async () => {
  const main = new URL("../main.ts", import.meta.url).pathname
  const child = spawn(process.execPath, [main, "--port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] })
  const [line] = (await once(createInterface(child.stdout), "line")) as [string]
  const { apiRoot, token } = JSON.parse(line) as { apiRoot: string; token: string }
  const poll = fetch(`${apiRoot}/bot${token}/getUpdates?timeout=50`).then(
    (response) => response.text(),
    () => "cut",
  )
  const me = (await (await fetch(`${apiRoot}/bot${token}/getMe`)).json()) as { ok: boolean }
  assert.equal(me.ok, true)
  const begin = performance.now()
  child.kill("SIGTERM")
  const [code] = await once(child, "exit")
  assert.equal(code, 0)
  assert.ok(performance.now() - begin < 45_000, "it did not wait for the open poll")
  await poll
})

test("the program exits with 2 on bad usage", async () => {
  const main = new URL("../main.ts", import.meta.url).pathname
  for (const flags of [["--port", "x"], ["--nonsense"], ["--token", "abc"]]) {
    const child = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", "ignore", "pipe"] })
    const chunks: Buffer[] = []
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk))
    const [code] = await once(child, "close")
    assert.equal(code, 2)
    assert.match(Buffer.concat(chunks).toString(), /Try --help/)
  }
})
