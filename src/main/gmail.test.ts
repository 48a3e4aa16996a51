// The mail watch beside the gateway, with nobody signed in: its listener opens, and it asks nobody.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import pino from "pino"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { type Clock, createBackground, createRedactor, systemClock } from "../kernel/index.ts"
import type { Core } from "./core.ts"
import { composeGmail } from "./gmail.ts"

interface Composed {
  port?: number
  clock?: Clock
}

function compose(context: TestContext, { port: wanted = 0, clock = systemClock }: Composed = {}) {
  const stateFolder = temporaryFolder()
  mkdirSync(join(stateFolder, "gmail"))
  const push = { endpoint: "https://hooks.example.com/", audience: "a", serviceAccount: "s@example.com" }
  writeFileSync(join(stateFolder, "gmail", "push.json"), JSON.stringify(push), { mode: 0o600 })
  const serve = { bind: "127.0.0.1", port: wanted, path: "/gmail-pubsub" }
  const topic = "projects/1/topics/t"
  const gmail = { account: "a@example.com", label: "INBOX", topic, renewEveryMinutes: 720, serve }
  const started: number[] = []
  const first = Promise.withResolvers<number>()
  const write = (line: string) => {
    const { msg, port } = JSON.parse(line) as { msg: string; port: number }
    if (msg !== "gmail watch started") return
    started.push(port)
    first.resolve(port)
  }
  const log = pino({ base: null }, { write })
  const core = {
    config: () => ({ gateway: { bind: "loopback" }, hooks: { enabled: true, gmail } }),
    environment: { stateFolder, variables: {} },
    handles: { perListener: undefined },
    clock,
    background: createBackground(log),
    redactor: createRedactor(),
    log,
  }
  const part = composeGmail(core as unknown as Core, () => 0)
  context.after(() => part.stop())
  return { part, started, first: first.promise }
}

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })

test("of two changes of the configuration at once, each watch is ended: none listens on behind the last", async (context) => {
  const { part, started } = compose(context)
  await Promise.all([part.restart(), part.restart()])
  assert.deepEqual(await Promise.all(started.map(isOpen)), [false, true])
  await part.stop()
  assert.deepEqual(await Promise.all(started.map(isOpen)), [false, false])
})

test("a stop while the watch is being started leaves none behind", async (context) => {
  const { part, started } = compose(context)
  const restarted = part.restart()
  await part.stop()
  await restarted
  await part.restart()
  assert.deepEqual(
    await Promise.all(started.map(isOpen)),
    started.map(() => false),
  )
})

/** A clock whose waits end when the test says so. */
function createHeldClock() {
  const asked = Promise.withResolvers<void>()
  const waits: { ms: number; signal: AbortSignal | undefined; end: () => void }[] = []
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true })
        waits.push({ ms, signal, end: resolve })
        asked.resolve()
      }),
  }
  return { clock, waits, asked: asked.promise }
}

test("a watch whose port is taken is tried again, until it starts", async (context) => {
  const other = createServer().listen(0, "127.0.0.1")
  await once(other, "listening")
  const { port } = other.address() as AddressInfo
  const { clock, waits, asked } = createHeldClock()
  const { part, started, first } = compose(context, { port, clock })
  await part.restart()
  await asked
  assert.deepEqual(started, [])
  other.close()
  await once(other, "close")
  const [wait] = waits
  assert.ok(wait && wait.ms >= 4_000 && wait.ms <= 6_000, `${wait?.ms}`)
  wait.end()
  assert.equal(await first, port)
})

test("a change of the configuration or a stop takes the place of a start that waits", async (context) => {
  const other = createServer().listen(0, "127.0.0.1")
  await once(other, "listening")
  context.after(() => void other.close())
  const { clock, waits, asked } = createHeldClock()
  const { part } = compose(context, { port: (other.address() as AddressInfo).port, clock })
  await part.restart()
  await asked
  await part.restart()
  assert.equal(waits[0]?.signal?.aborted, true)
  await part.stop()
  assert.deepEqual(
    waits.map(({ signal }) => signal?.aborted),
    [true, true],
  )
})
