// A browser that asks its person first: nobody waits for the answer longer than they want to, and nobody is asked for nothing.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
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

function profileIn(homeFolder: string, userDataDir?: string) {
  const log = pino({ level: "silent" })
  const own = { name: "own", color: () => "#000000", homeFolder, userDataDir }
  return new ExistingProfile({ ...own, clock: systemClock, log, background: createBackground(log) })
}

test("finds the browser in the usual places and where it is said, by an address that is one, and connects to none for a look", async () => {
  const home = temporaryFolder()
  const profile = profileIn(home)
  const { reason, ...nothing } = await profile.probe()
  assert.deepEqual(nothing, { http: false, ready: false, tabCount: 0 })
  assert.match(reason ?? "", /No running browser of profile own/)
  await assert.rejects(profile.ensure(), { code: "browser-not-running", hint: /chrome:\/\/inspect/ })
  const found = { http: false, ready: true, tabCount: 0, reason: null }
  const folders = [
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware/Brave-Browser",
    ".config/microsoft-edge",
    "Library/Application Support/Google/Chrome",
    "AppData/Local/Microsoft/Edge/User Data",
  ]
  for (const folder of folders) {
    mkdirSync(join(home, folder), { recursive: true })
    const file = join(home, folder, "DevToolsActivePort")
    for (const [text, isAddress] of [
      ["9\n/devtools/browser/1", true],
      ["9\r\n/devtools/browser/1\r\n", true],
      ["9", false],
      ["", false],
      ["9\n/json/version", false],
      ["port\n/devtools/browser/1", false],
      ["123456\n/devtools/browser/1", false],
    ] as const) {
      writeFileSync(file, text)
      assert.equal((await profile.probe()).ready, isAddress, `${folder} ${JSON.stringify(text)}`)
    }
    writeFileSync(file, "9\n/devtools/browser/1")
    assert.deepEqual(await profile.probe(), found)
    assert.deepEqual(await profileIn("/nowhere", join(home, folder)).probe(), found)
    rmSync(file)
  }
  assert.equal(await profile.stop(), false)
  await assert.rejects(profile.reset(), { code: "profile-unsupported", hint: /Only a managed profile/ })
})
