// A browser that asks its person first: nobody waits for the answer longer than they want to, and nobody is asked for nothing.
import assert from "node:assert/strict"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { type AddressInfo, type Socket, createServer } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import pino from "pino"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { AppError, createBackground, systemClock } from "../../kernel/index.ts"
import { ExistingProfile } from "./existing.ts"

/** A browser whose person does not answer. */
async function startBrowser(context: TestContext) {
  const asked = new Set<Socket>()
  const server = createServer((socket) => void asked.add(socket)).listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    for (const socket of asked) socket.destroy()
    server.close()
  })
  const userDataDir = temporaryFolder()
  const { port } = server.address() as AddressInfo
  writeFileSync(join(userDataDir, "DevToolsActivePort"), `${port}\n/devtools/browser/1`)
  const log = pino({ level: "silent" })
  const own = { name: "own", color: () => "#000000", homeFolder: userDataDir, userDataDir }
  const profile = new ExistingProfile({ ...own, clock: systemClock, log, background: createBackground(log) })
  return { server, asked, profile }
}

const stopped = new AppError("aborted", "The turn was stopped")

test("lets a caller go who gives up while the person is asked", async (context) => {
  const { server, profile } = await startBrowser(context)
  const caller = new AbortController()
  const ensuring = profile.ensure(caller.signal)
  await once(server, "connection")
  caller.abort(stopped)
  await assert.rejects(ensuring, stopped)
  await profile.retire(stopped)
})

test("asks nobody for a profile that was removed meanwhile", async (context) => {
  const { asked, profile } = await startBrowser(context)
  const ensuring = profile.ensure()
  await profile.retire(stopped)
  await assert.rejects(ensuring, stopped)
  assert.equal(asked.size, 0)
})
