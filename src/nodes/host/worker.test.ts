import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { Worker } from "./worker.ts"

const restMs = 1_000

/** A worker in place of the one with the browsers; what it does with a message is the test's. */
function startWorker(context: TestContext, onMessage: string, onReady: () => void = () => undefined) {
  const program = join(temporaryFolder(), "worker.mjs")
  const facts = { offers: { commands: ["browser.proxy"] }, files: [], isInUse: false }
  writeFileSync(
    program,
    `const done = (id, body) => process.send({ kind: "done", id, done: { status: 200, body, files: [] } })
     process.on("disconnect", () => process.exit(0))
     process.on("message", (message) => { ${onMessage} })
     process.send({ kind: "ready", facts: ${JSON.stringify(facts)} })`,
  )
  const worker = new Worker({
    program,
    environment: process.env,
    gatewayPort: undefined,
    onOffers: onReady,
    say: () => undefined,
    restMs,
  })
  context.after(() => worker.stop())
  return worker
}

const command = (params: unknown, signal = new AbortController().signal) => ({
  id: 1,
  command: "browser.proxy",
  params,
  files: [],
  signal,
})

test("a worker that has had its rest and takes its time to end ends no call of the one after it", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  // The first stays until the second, asked for its end, ends it, and answers when its parent has seen that.
  const worker = startWorker(
    context,
    `if (message.kind === "stop") return globalThis.isFirst ? undefined : process.exit(0)
     if (message.params === "pid") { globalThis.isFirst = true; return done(message.id, process.pid) }
     process.kill(message.params, "SIGKILL")
     const look = setInterval(() => {
       try { process.kill(message.params, 0) } catch { clearInterval(look); done(message.id, "whole") }
     }, 5)`,
  )
  const { body: pid } = await worker.perform(command("pid"))
  // It is told to stop, and does not.
  context.mock.timers.tick(restMs)
  assert.deepEqual((await worker.perform(command(pid))).body, "whole")
})

test("a worker does not rest during the call that it was started for", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const worker = startWorker(
    context,
    `if (message.kind === "stop") process.exit(0)
     if (message.params === "long") globalThis.long = message.id
     else { done(globalThis.long, "whole"); done(message.id, "short") }`,
    resolve,
  )
  const long = worker.perform(command("long"))
  await ready
  await new Promise((went) => setImmediate(went))
  context.mock.timers.tick(restMs)
  assert.equal((await worker.perform(command("short"))).body, "short")
  assert.equal((await long).body, "whole")
})

test("a call that nobody waits for any more when the worker has started is not made", async (context) => {
  const worker = startWorker(context, `if (message.kind === "stop") process.exit(0); else done(message.id, "made")`)
  const controller = new AbortController()
  const performed = worker.perform(command({}, controller.signal))
  controller.abort()
  await assert.rejects(performed, { name: "AbortError" })
})

test("a worker that cannot be started is tried again with the next call", async (context) => {
  const worker = startWorker(context, `if (message.kind === "stop") process.exit(0); else done(message.id, "made")`)
  const { execPath } = process
  process.execPath = join(temporaryFolder(), "nothing")
  try {
    await assert.rejects(worker.perform(command({})), { code: "not-ready", message: /ENOENT/ })
  } finally {
    process.execPath = execPath
  }
  assert.equal((await worker.perform(command({}))).body, "made")
})
