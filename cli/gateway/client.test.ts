import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test, type TestContext } from "node:test"
import { runProgram, startProgram } from "../testing/run-program.ts"
import { answerJson, standInToken, startStandIn, type Answer } from "../testing/stand-in-gateway.ts"

async function standIn(context: TestContext, answer: Answer) {
  const gateway = await startStandIn(answer)
  context.after(() => gateway.stop())
  return gateway
}

test("sends the token of the token file to the gateway of the state folder", async (context) => {
  const gateway = await standIn(context, answerJson({ items: [], next: null }))
  const result = await runProgram(["runs", "--json"], { environment: gateway.environment })
  assert.deepEqual(result, { code: 0, stdout: '{\n  "items": [],\n  "next": null\n}\n', stderr: "" })
  assert.equal(gateway.requests[0]?.authorization, `Bearer ${standInToken}`)
})

test("an empty id is said to be empty, and is no question about something else", async (context) => {
  const gateway = await standIn(context, answerJson({}))
  for (const words of ["cron show", "runs show", "approvals allow", "mcp accept"]) {
    const { code, stderr } = await runProgram([...words.split(" "), ""], { environment: gateway.environment })
    assert.deepEqual([code, gateway.requests.length], [2, 0], words)
    assert.match(stderr, /^error: .*empty\nhint: /, words)
  }
})

test("prefers --state-dir to the environment", async (context) => {
  const gateway = await standIn(context, answerJson({ items: [] }))
  const environment = { SVC_STATE_DIR: "/nonexistent" }
  const result = await runProgram(["runs", "--state-dir", gateway.stateFolder], { environment })
  assert.deepEqual([result.code, result.stdout], [0, "no runs\n"])
})

test("says where it looked and what to do when no gateway has been started", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-cli-"))
  context.after(() => rmSync(folder, { recursive: true }))
  const result = await runProgram(["status"], { environment: { SVC_STATE_DIR: folder } })
  assert.equal(result.code, 1)
  assert.equal(result.stdout, "")
  assert.ok(result.stderr.includes(join(folder, "gateway.json")))
  assert.match(result.stderr, /^error: .*\nhint: .*svc gateway\n$/)
})

test("prints the error's body on stdout with --json", async () => {
  const result = await runProgram(["status", "--json"], { environment: { SVC_STATE_DIR: "/nonexistent" } })
  assert.equal(result.code, 1)
  assert.equal(result.stderr, "")
  const { ok, error } = JSON.parse(result.stdout) as { ok: boolean; error: { code: string; hint: string } }
  assert.deepEqual([ok, error.code], [false, "gateway-unreachable"])
})

test("says that the file is stale when its process has ended, and sends nothing", async (context) => {
  const gateway = await standIn(context, answerJson({}))
  const ended = spawn(process.execPath, ["--version"], { stdio: "ignore" })
  await once(ended, "close")
  gateway.writeFile({ pid: ended.pid })
  const result = await runProgram(["status"], { environment: gateway.environment })
  assert.equal(result.code, 1)
  assert.match(result.stderr, /stale/)
  assert.match(result.stderr, new RegExp(String(ended.pid)))
  assert.equal(gateway.requests.length, 0)
})

test("says that nothing listens when the connection is refused", async (context) => {
  const gateway = await standIn(context, answerJson({}))
  const closed = createServer().listen(0, "127.0.0.1")
  await once(closed, "listening")
  const { port } = closed.address() as AddressInfo
  closed.close()
  await once(closed, "close")
  gateway.writeFile({ port })
  const result = await runProgram(["status"], { environment: gateway.environment })
  assert.equal(result.code, 1)
  assert.match(result.stderr, new RegExp(`127\\.0\\.0\\.1:${port}: nothing listens there`))
})

test("says that browser control is switched off when the gateway is there and nothing listens for it", async (context) => {
  const gateway = await standIn(context, answerJson({ parts: { browser: "off" } }))
  const closed = createServer().listen(0, "127.0.0.1")
  await once(closed, "listening")
  const { port } = closed.address() as AddressInfo
  closed.close()
  await once(closed, "close")
  gateway.writeFile({ controlPort: port })
  const result = await runProgram(["browser", "status"], { environment: gateway.environment })
  assert.equal(result.code, 1)
  assert.match(result.stderr, /switched off[^]*browser\.enabled/)
})

test("does not use a file that others may write", async (context) => {
  const gateway = await standIn(context, answerJson({}))
  chmodSync(join(gateway.stateFolder, "gateway.json"), 0o622)
  const result = await runProgram(["status"], { environment: gateway.environment })
  assert.equal(result.code, 1)
  assert.match(result.stderr, /another user/)
  assert.equal(gateway.requests.length, 0)
})

test("takes a damaged file for no gateway", async (context) => {
  const gateway = await standIn(context, answerJson({}))
  for (const text of ["{", "[]", "null", '{"pid":1}']) {
    writeFileSync(join(gateway.stateFolder, "gateway.json"), text)
    const result = await runProgram(["status"], { environment: gateway.environment })
    assert.match(result.stderr, /damaged/, text)
  }
})

test("passes on the gateway's own error, made safe for the terminal", async (context) => {
  const error = { code: "not-found", message: "no run \u001b]0;title\u0007", hint: "look at svc runs" }
  const gateway = await standIn(context, answerJson({ ok: false, error }, 404))
  const result = await runProgram(["runs", "show", "x/../y"], { environment: gateway.environment })
  assert.deepEqual(result, {
    code: 1,
    stdout: "",
    stderr: "error: no run \\x1b]0;title\\x07\nhint: look at svc runs\n",
  })
  assert.equal(gateway.requests[0]?.path, "/api/runs/x%2F..%2Fy")
})

test("ends with 2 when the gateway finds a value wrong", async (context) => {
  const gateway = await standIn(
    context,
    answerJson({ ok: false, error: { code: "bad-request", message: "limit" } }, 400),
  )
  assert.equal((await runProgram(["runs"], { environment: gateway.environment })).code, 2)
})

test("does not take another program on the port for the gateway", async (context) => {
  const gateway = await standIn(context, answerJson({}))
  const other = createServer((socket) => void socket.end("220 mail ready\r\n\r\n")).listen(0, "127.0.0.1")
  await once(other, "listening")
  context.after(() => void other.close())
  gateway.writeFile({ port: (other.address() as AddressInfo).port })
  const result = await runProgram(["status"], { environment: gateway.environment })
  assert.match(result.stderr, /is not the gateway/)
})

test("gives up after --timeout", async (context) => {
  const gateway = await standIn(context, () => undefined)
  const result = await runProgram(["status", "--timeout", "150"], { environment: gateway.environment })
  assert.equal(result.code, 1)
  assert.match(result.stderr, /did not answer within 150 ms/)
})

test("waits for as long as may be said, also where a command adds time of its own to it", async (context) => {
  const gateway = await standIn(context, answerJson({ runId: "r", agent: "main", outcome: "done" }))
  const words = ["heartbeat", "now", "--timeout", "2147483647"]
  const result = await runProgram(words, { environment: gateway.environment })
  assert.deepEqual(result, { code: 0, stdout: "heartbeat of main: done\n", stderr: "" })
})

test("Ctrl-C ends a call that waits, quietly and with 130", async (context) => {
  const asked = Promise.withResolvers<void>()
  const gateway = await standIn(context, () => asked.resolve())
  const running = startProgram(["status"], { environment: gateway.environment })
  await asked.promise
  running.child.kill("SIGINT")
  assert.deepEqual(await running.ended, { code: 130, stdout: "", stderr: "" })
})

test("a large answer into a pipe arrives whole", async (context) => {
  const items = Array.from({ length: 20_000 }, (_, id) => ({ id, text: "x".repeat(100) }))
  const gateway = await standIn(context, answerJson({ items, next: null }))
  const result = await runProgram(["events", "--json"], { environment: gateway.environment })
  assert.deepEqual(JSON.parse(result.stdout), { items, next: null })
})
