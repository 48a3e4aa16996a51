// The mail watch beside the gateway, with nobody signed in: its listener opens, and it asks nobody.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import pino from "pino"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createRedactor, systemClock } from "../kernel/index.ts"
import type { Core } from "./core.ts"
import { composeGmail } from "./gmail.ts"

function compose(context: TestContext) {
  const stateFolder = temporaryFolder()
  mkdirSync(join(stateFolder, "gmail"))
  const push = { endpoint: "https://hooks.example.com/", audience: "a", serviceAccount: "s@example.com" }
  writeFileSync(join(stateFolder, "gmail", "push.json"), JSON.stringify(push), { mode: 0o600 })
  const serve = { bind: "127.0.0.1", port: 0, path: "/gmail-pubsub" }
  const topic = "projects/1/topics/t"
  const gmail = { account: "a@example.com", label: "INBOX", topic, renewEveryMinutes: 720, serve }
  const started: number[] = []
  const write = (line: string) => {
    const { msg, port } = JSON.parse(line) as { msg: string; port: number }
    if (msg === "gmail watch started") started.push(port)
  }
  const core = {
    config: () => ({ hooks: { enabled: true, gmail } }),
    environment: { stateFolder, variables: {} },
    handles: { perListener: undefined },
    clock: systemClock,
    redactor: createRedactor(),
    log: pino({ base: null }, { write }),
  }
  const part = composeGmail(core as unknown as Core, () => 0)
  context.after(() => part.stop())
  return { part, started }
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
