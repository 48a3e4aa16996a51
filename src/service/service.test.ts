import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError } from "../kernel/index.ts"
import type { Command, ServicePlan } from "./contract.ts"
import { checkAgent, createLaunchd, renderAgent } from "./launchd.ts"
import { type PlanOptions, makePlan } from "./plan.ts"
import { parsePlist, renderPlist } from "./plist.ts"
import type { RunCommand } from "./run-command.ts"
import { installService, uninstallService } from "./service.ts"

const plan: ServicePlan = {
  name: "svc",
  scope: "user",
  user: undefined,
  home: "/Users/a <b> & c",
  node: "/opt/homebrew/bin/node",
  program: "/opt/homebrew/lib/node_modules/svc-gateway/dist/svc.cjs",
  stateFolder: "/Users/a <b> & c/.svc",
  configPath: undefined,
  writable: [],
  chromiumSandbox: "namespaces",
}

test("the property list says the same to another reader, whatever stands in the paths", (context) => {
  const text = renderAgent({ ...plan, name: "svc-work", configPath: '/tmp/"quoted" é.json', user: "me" })
  const own = parsePlist(text) as Record<string, Record<string, unknown>>
  assert.equal(own["EnvironmentVariables"]?.["SVC_STATE_DIR"], plan.stateFolder)
  assert.equal(own["EnvironmentVariables"]?.["SVC_CONFIG_PATH"], '/tmp/"quoted" é.json')
  const script = "import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)"
  const other = spawnSync("python3", ["-c", script], { input: text, encoding: "utf8" })
  if (other.error || other.status !== 0) return context.diagnostic("python3 is not installed: one reader less")
  assert.deepEqual(JSON.parse(other.stdout), own)
})

test("a property list that launchd would refuse or read otherwise is refused", () => {
  const good = renderAgent(plan)
  const wrong: [string, string][] = [
    ["<true/>", "<yes/>"],
    ["<key>Label</key>", "<key>Lable</key>"],
    ["<key>Umask</key>", "<key>Label</key>"],
    ["<key>RunAtLoad</key>", ""],
    ["<integer>20</integer>", "<string>20</string>"],
    ["<integer>20</integer>", "<integer>20 s</integer>"],
    ["&amp;", "&"],
    ["</dict>\n</plist>", "</plist>"],
    ["</plist>", "</plist>\n<plist/>"],
    ["-->", "-- -->"],
    ["<!DOCTYPE plist", "<!DOCTYPE list"],
    ["local.svc-gateway.svc", "local svc"],
  ]
  checkAgent(good)
  for (const [from, to] of wrong) {
    assert.ok(good.includes(from), from)
    assert.throws(() => checkAgent(good.replace(from, to)), AppError, `${from} -> ${to}`)
  }
  assert.throws(() => renderPlist("\u0007", ""), { hint: /control characters/ })
})

test("launchd is told to load, start and forget the service, in this order", async () => {
  const home = temporaryFolder()
  const told: Command[] = []
  let loaded = false
  const run: RunCommand = async (command) => {
    const isLook = command[1] === "print"
    if (!isLook) told.push(command.slice(1))
    if (command[1] === "bootstrap" || command[1] === "bootout") loaded = command[1] === "bootstrap"
    const isThere = command[2] === "gui/501" || loaded
    return { code: isThere || !isLook ? 0 : 113, stdout: loaded ? "\tstate = running\n\tpid = 4242\n" : "", stderr: "" }
  }
  const stateFolder = join(home, ".svc")
  const manager = createLaunchd({ name: "svc", scope: "user", home, uid: 501, stateFolder, run })
  const parts = { manager, run, stateFolder, progress: () => undefined, signal: new AbortController().signal }
  const readGateway = () => undefined
  const options = { start: true, force: false, timeoutMs: 1 }
  // No gateway stands behind it: what is told to launchd is all that can be seen here.
  await assert.rejects(installService({ ...parts, readGateway }, { ...plan, home, stateFolder }, options), {
    code: "not-ready",
  })
  const file = join(home, "Library/LaunchAgents/local.svc-gateway.svc.plist")
  const target = "gui/501/local.svc-gateway.svc"
  assert.deepEqual(told, [
    ["enable", target],
    ["bootstrap", "gui/501", file],
  ])
  assert.ok(existsSync(file))
  told.length = 0
  assert.equal(await uninstallService({ ...parts, readGateway }, false), true)
  assert.deepEqual(told, [
    ["bootout", target],
    ["disable", target],
  ])
  assert.equal(existsSync(file), false)
})

test("a program that will not stay is refused, and what the service would not see is named", () => {
  const home = temporaryFolder()
  mkdirSync(join(home, ".svc"))
  const facts = { platform: "linux", uid: 1000, userName: "me", node: process.execPath } as const
  const words = { name: "svc", scope: "user", runAs: undefined, stateDir: undefined, config: undefined } as const
  const planFor = (program: string, more: Partial<PlanOptions> = {}, uid = 1000) =>
    makePlan({ ...words, ...more }, { ...facts, uid, variables: { HOME: home }, program })
  assert.throws(() => planFor("/home/me/.npm/_npx/ab12/node_modules/svc-gateway/dist/svc.cjs"), {
    code: "conflict",
    hint: /npm install --global svc-gateway/,
  })
  assert.throws(() => planFor("/home/me/svc/cli/main.ts"), { code: "conflict", hint: /npm run build/ })
  assert.throws(() => planFor("/usr/lib/svc.cjs", { scope: "system" }), {
    code: "forbidden",
    hint: /^sudo .* --run-as me/,
  })
  assert.throws(() => planFor("/usr/lib/svc.cjs", { name: "Svc!" }), { code: "bad-request" })
  assert.throws(() => planFor("/usr/lib/svc.cjs", { runAs: "me" }), /--run-as belongs to --system/)
  assert.throws(() => planFor("/usr/lib/svc.cjs", { scope: "system" }, 0), { hint: /adduser --system/ })
  assert.throws(() => planFor("/usr/lib/svc.cjs", { scope: "system", runAs: "nobody-here" }, 0), {
    code: "not-found",
    hint: /adduser --system .* nobody-here/,
  })
  const made = planFor("/usr/lib/svc.cjs")
  assert.deepEqual([made.home, made.stateFolder, made.user], [home, join(home, ".svc"), undefined])
})
