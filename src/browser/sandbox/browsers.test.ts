// How long browsers of sandboxed sessions are kept. The browser is a small program that answers at the end of a pipe.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { type TestContext, test } from "node:test"
import { silentLog } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { createBackground, systemClock, systemIds } from "../../kernel/index.ts"
import type { Sandbox, SandboxSettings, StartedBox } from "../../sandbox/index.ts"
import { browserSchema } from "../config.ts"
import { Guard } from "../guard.ts"
import type { CoreOptions } from "../access.ts"
import { systemMachine } from "../profiles/detect/index.ts"
import { Hidden } from "../secrets.ts"
import { SandboxBrowsers } from "./browsers.ts"

const program = `
const answers = {
  "Target.attachToTarget": { sessionId: "S1" },
  "Page.getFrameTree": { frameTree: { frame: { id: "TAB", url: "https://a.example/", loaderId: "1" } } },
}
const targetInfo = { targetId: "TAB", type: "page", title: "A", url: "https://a.example/" }
const say = (message) => process.stdout.write(JSON.stringify(message) + "\\0")
let text = ""
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const parts = (text + chunk).split("\\0")
  text = parts.pop()
  for (const part of parts) {
    const { id, method, sessionId } = JSON.parse(part)
    if (method === "Target.setDiscoverTargets") say({ method: "Target.targetCreated", params: { targetInfo } })
    say({ id, sessionId, result: answers[method] ?? {} })
    if (method === "Browser.close") process.exit()
  }
})`

function startBox(): StartedBox {
  const child = spawn(process.execPath, ["-e", program], { stdio: "pipe", detached: true })
  const ended = once(child, "exit").then(() => undefined)
  return { id: "box", child, pipesAreStandard: true, ended, stop: () => void child.kill("SIGKILL") }
}

function startBench(context: TestContext, limits: { max: number; idleMinutes: number }) {
  const moment = { at: 0 }
  const clock = { ...systemClock, monotonic: () => moment.at }
  const background = createBackground(silentLog)
  const parts = { clock, ids: systemIds, log: silentLog, background }
  const settings = browserSchema.parse({})
  const guard = new Guard({ ...parts, navigation: () => settings.navigation, isOwnPort: () => false, isSealed: true })
  const stateFolder = temporaryFolder()
  const sessions = new Map<string, string>()
  const boxes: StartedBox[] = []
  const start = async () => {
    const box = startBox()
    boxes.push(box)
    return box
  }
  const browsers = new SandboxBrowsers({
    ...parts,
    links: {
      sandbox: { start } as unknown as Sandbox,
      settings: () =>
        ({ backend: "docker", browser: { ...limits, memoryMb: 500, maxTasks: 100 } }) as unknown as SandboxSettings,
      isSandboxed: async () => true,
      sessionId: (key) => sessions.get(key) ?? "id",
    },
    guard,
    proxySocket: async () => "",
    machine: systemMachine({ homeFolder: stateFolder, environment: {} }),
    executablePath: () => undefined,
    waits: {},
    core: {
      settings,
      relay: undefined as unknown as CoreOptions["relay"],
      stateFolder,
      secrets: undefined,
      hidden: new Hidden(),
      hasAutomationLibrary: () => true,
    },
  })
  context.after(() => browsers.stop())
  return { browsers, moment, sessions, boxes, background }
}

test("a browser is not idle while a person has a tab of it in their hands, or is still to take it", async (context) => {
  const { browsers, moment } = startBench(context, { max: 2, idleMinutes: 10 })
  const core = browsers.coreFor("session", "main")
  await core.start({ profile: undefined })
  await core.takeoverTab({ profile: undefined }, "TAB")
  moment.at += 29 * 60_000
  browsers.sweep()
  assert.equal(browsers.coreFor("session", "main"), core)
  const takeover = await core.takeOver({ profile: undefined }, "TAB")
  moment.at += 11 * 60_000
  browsers.sweep()
  assert.equal(browsers.coreFor("session", "main"), core)
  await takeover.end()
  moment.at += 11 * 60_000
  browsers.sweep()
  assert.notEqual(browsers.coreFor("session", "main"), core)
})

test("a browser is its session's: it ends with that, with the one used longest ago for another's place, and with all", async (context) => {
  const { browsers, moment, sessions, boxes, background } = startBench(context, { max: 2, idleMinutes: 10 })
  const of = (session: string) => {
    moment.at += 1
    return browsers.coreFor(session, "main")
  }
  const [one, two] = [of("one"), of("two")]
  assert.equal(of("one"), one)
  assert.notEqual(one, two)
  // A third takes the place of the second, which was used before the first.
  const three = of("three")
  assert.deepEqual([of("one") === one, of("three") === three], [true, true])
  assert.notEqual(of("two"), two)

  // A session that begins anew finds nothing of the one before.
  await of("two").start({ profile: undefined })
  const before = of("two")
  sessions.set("two", "another")
  assert.notEqual(of("two"), before)
  await boxes[0]?.ended
  // One that nobody asks for any more ends all the same, and the others stay.
  const kept = of("one")
  await of("two").start({ profile: undefined })
  sessions.set("two", "a third")
  browsers.sweep()
  await boxes[1]?.ended
  assert.equal(of("one"), kept)

  await of("one").start({ profile: undefined })
  await browsers.stop()
  await boxes[2]?.ended
  assert.throws(() => of("one"), { code: "not-ready" })
  await background.idle()
})
