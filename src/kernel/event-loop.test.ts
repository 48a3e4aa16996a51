import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { until } from "../../test/support/world.ts"
import type { EventLoopFigures } from "./event-loop.ts"

const module = fileURLToPath(new URL("./event-loop.ts", import.meta.url))

/** A process with a watch, which does what it is told and prints what it logs. */
function watchedProcess(context: TestContext, folder: string, work: string): ChildProcess {
  const program = `
    import { watchEventLoop } from ${JSON.stringify(module)}
    const log = { warn: (fields, text) => process.send({ text, ...fields }) }
    const watch = watchEventLoop({ folder: ${JSON.stringify(folder)}, bootId: "one", log })
    process.on("message", () => undefined)
    function spinHere(ms) { const end = Date.now() + ms; while (Date.now() < end) Math.sqrt(end) }
    setTimeout(() => { ${work} }, 300)`
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  })
  context.after(() => void child.kill("SIGKILL"))
  return child
}

test("a hang is told with its length and what was worked on, and counted", async (context) => {
  const folder = temporaryFolder()
  const child = watchedProcess(
    context,
    folder,
    `const end = watch.beginWork("run-1"); watch.beginWork("run-0")(); spinHere(600); end();
     setInterval(() => process.send({ figures: watch.figures() }), 50)`,
  )
  const messages: { text?: string; ms?: number; work?: string[]; figures?: EventLoopFigures }[] = []
  child.on("message", (message) => messages.push(message as (typeof messages)[number]))
  // A machine under load may have kept the process waiting before, which is told too.
  const told = await until("it is told", () => messages.find(({ work }) => work?.length))
  assert.ok(Number(told.ms) > 250)
  assert.deepEqual(told.work, ["run-1"])
  const { figures, at } = await until("it is counted", () => {
    const at = messages.findIndex((message, index) => message.figures && index > messages.indexOf(told))
    const { figures } = messages[at] ?? {}
    return figures && { figures, at }
  })
  assert.equal(figures.hangs, messages.slice(0, at).filter(({ text }) => text === "event loop blocked").length)
  assert.ok(figures.delays.maxSeconds > 0.25)
  assert.ok((figures.work?.maxSeconds ?? 1) > 0.01, "the thread itself computed")
  const within = (seconds: number) => figures.delays.buckets.find((bucket) => bucket.seconds === seconds)?.count ?? 0
  assert.ok(within(10) > within(0.25), "the hang stands in a bucket of its length")
  assert.equal(within(10), figures.delays.count, "every delay stands in a bucket")
  assert.equal(existsSync(join(folder, "hanging.json")), false)
})

test("what others had the processor for is a delay, and no work of the loop", async (context) => {
  const child = watchedProcess(context, temporaryFolder(), `setInterval(() => process.send(watch.figures()), 50)`)
  const figures = async () => ((await once(child, "message")) as [EventLoopFigures])[0]
  await figures()
  child.kill("SIGSTOP")
  await delay(500)
  child.kill("SIGCONT")
  const { delays, work } = await until("it is seen", async () => {
    const now = await figures()
    return now.delays.maxSeconds > 0.4 ? now : undefined
  })
  assert.ok(work === undefined || work.maxSeconds < delays.maxSeconds / 2, JSON.stringify(work))
})

test("a process that is killed while it hangs leaves word of where and at what, until that is forgotten", async (context) => {
  const folder = temporaryFolder()
  const child = watchedProcess(context, folder, `watch.beginWork("run-7"); spinHere(60_000)`)
  const file = join(folder, "hanging.json")
  await until("the hang is noted", () =>
    existsSync(file) && /spinHere \([^)]+:\d+\)/.test(readFileSync(file, "utf8")) ? true : undefined,
  )
  child.kill("SIGKILL")
  await once(child, "exit")
  const next = watchedProcess(
    context,
    folder,
    `process.send({ left: watch.lastHang() }); watch.forgetHang(); process.send({ left: watch.lastHang() ?? null })`,
  )
  const messages: { left: { work: string[]; bootId: string } | null }[] = []
  next.on("message", (message) => messages.push(message as (typeof messages)[number]))
  await until("both are told", () => (messages.length === 2 ? true : undefined))
  assert.deepEqual(messages[0]?.left?.work, ["run-7"])
  assert.equal(messages[1]?.left, null)
  assert.equal(existsSync(file), false)
})

test("a process that is killed while it only waits, for a processor or a disk, blames nobody for it", async (context) => {
  const folder = temporaryFolder()
  const wait = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)"
  const child = watchedProcess(context, folder, `watch.beginWork("run-7"); process.send("waits", () => ${wait})`)
  await once(child, "message")
  await delay(1_600)
  child.kill("SIGKILL")
  await once(child, "exit")
  assert.equal(existsSync(join(folder, "hanging.json")), false)
})
