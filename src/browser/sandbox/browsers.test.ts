// How long browsers of sandboxed sessions are kept. The browser is a small program that answers at the end of a pipe.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { test } from "node:test"
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

test("a browser is not idle while a person has a tab of it in their hands, or is still to take it", async (context) => {
  let at = 0
  const clock = { ...systemClock, monotonic: () => at }
  const background = createBackground(silentLog)
  const limits = { max: 2, idleMinutes: 10, memoryMb: 500, maxTasks: 100 }
  const parts = { clock, ids: systemIds, log: silentLog, background }
  const settings = browserSchema.parse({})
  const guard = new Guard({ ...parts, navigation: () => settings.navigation, isOwnPort: () => false, isSealed: true })
  const stateFolder = temporaryFolder()
  const browsers = new SandboxBrowsers({
    ...parts,
    links: {
      sandbox: { start: async () => startBox() } as unknown as Sandbox,
      settings: () => ({ backend: "docker", browser: limits }) as unknown as SandboxSettings,
      isSandboxed: async () => true,
      sessionId: () => "id",
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
  const core = browsers.coreFor("session", "main")
  await core.start({ profile: undefined })
  await core.takeoverTab({ profile: undefined }, "TAB")
  at += 29 * 60_000
  browsers.sweep()
  assert.equal(browsers.coreFor("session", "main"), core)
  const takeover = await core.takeOver({ profile: undefined }, "TAB")
  at += 11 * 60_000
  browsers.sweep()
  assert.equal(browsers.coreFor("session", "main"), core)
  await takeover.end()
  at += 11 * 60_000
  browsers.sweep()
  assert.notEqual(browsers.coreFor("session", "main"), core)
})
