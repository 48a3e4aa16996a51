// Profiles of a running gateway by the shipped program and by hand: written into the configuration file as a person would,
// in use at once, and the browsers of other profiles run on.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { before, test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import { startChaosProxy } from "../support/chaos-proxy.ts"
import { type RunningGateway, startGateway } from "../support/gateway.ts"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { startRemoteBrowser } from "../support/remote-browser.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { until } from "../support/world.ts"
import { inLongForm } from "../support/long.ts"

const root = dirname(dirname(import.meta.dirname))
const program = join(root, "dist", "svc.cjs")
const token = "tok-3b1f77a9e0"

before(() => {
  execFileSync(process.execPath, [join(root, "scripts", "build.mjs"), "--if-changed"], { cwd: root })
})

async function svc(gateway: RunningGateway, ...words: string[]) {
  const environment = { SVC_STATE_DIR: gateway.stateFolder, NO_COLOR: "1" }
  const result = await runProgram(["browser", ...words], { program, environment })
  assert.equal(
    `${result.stdout}${result.stderr}`.includes(token),
    false,
    `svc browser ${words.join(" ")} shows a secret`,
  )
  return result
}

async function pidOf(gateway: RunningGateway, profile: string): Promise<number | null> {
  const { stdout } = await svc(gateway, "status", "--browser-profile", profile, "--json")
  return JSON.parse(stdout).pid
}

const config = (noSandbox: boolean) => `// My gateway.
{
  logging: { level: "debug" },
  agents: { defaults: { heartbeat: { every: "0" } } },
  browser: {
    defaultProfile: "managed", // not my own browser
    headless: true,
    noSandbox: ${noSandbox},
  },
}
`

test(
  "makes, uses and removes profiles while another one's browser runs on",
  { timeout: 180_000, ...inLongForm },
  async (context) => {
    const remote = await startRemoteBrowser()
    const proxy = await startChaosProxy({ target: remote.port, token })
    const stateFolder = temporaryFolder()
    const path = join(stateFolder, "svc.json")
    writeFileSync(path, config(process.getuid?.() === 0), { mode: 0o600 })
    context.after(async () => {
      endBrowsersOf(stateFolder)
      await proxy.stop()
      await remote.stop()
    })
    const gateway = await startGateway(context, { stateFolder, environment: { FAR_TOKEN: token } })
    await svc(gateway, "start")
    const pid = await pidOf(gateway, "managed")
    assert.ok(pid)
    for (const port of [gateway.port, gateway.port + 2, gateway.port + 3]) {
      const refused = await svc(gateway, "open", `http://localhost:${port}/healthz`)
      assert.match(refused.stderr, new RegExp(`Port ${port} of this machine is the gateway's own`))
    }

    const made = await svc(gateway, "create-profile", "work", "--color", "0066cc")
    assert.match(made.stdout, /^created profile work \(managed, #0066CC\)\n$/)
    const theirs = await svc(gateway, "create-profile", "theirs", "--driver", "existing")
    assert.match(theirs.stdout, /^created profile theirs \(existing, /)
    assert.equal((await svc(gateway, "delete-profile", "theirs")).code, 0)
    assert.equal((await svc(gateway, "start", "--browser-profile", "work")).code, 0)
    const work = await pidOf(gateway, "work")
    const address = `http://127.0.0.1:${proxy.port}?token=\${FAR_TOKEN}`
    assert.equal((await svc(gateway, "create-profile", "--name", "far", "--cdp-url", address)).code, 0)
    assert.match((await svc(gateway, "tabs", "--browser-profile", "far")).stdout, /about:blank/)

    const text = readFileSync(path, "utf8")
    assert.match(text, /^\/\/ My gateway\.[^]*\/\/ not my own browser/, "comments stay")
    assert.ok(text.includes("${FAR_TOKEN}") && !text.includes(token), "the variable stays a variable")
    const { stdout: list } = await svc(gateway, "profiles")
    assert.match(list, /^managed: running \(\d+ tabs\) \[default\] .*#FF4500$/m)
    assert.match(list, /^work: running .*#0066CC$/m)
    assert.match(list, /^far: running \(\d+ tabs\) \[remote\] http:\/\/127\.0\.0\.1:\d+\?token=\*\*\* #9933FF$/m)

    const again = await svc(gateway, "create-profile", "work")
    assert.equal(again.code, 1)
    assert.match(again.stderr, /There is a profile work already/)
    const unset = await svc(
      gateway,
      "create-profile",
      "bad",
      "--cdp-url",
      `http://ada:${token}@127.0.0.1/\${NOT_SET_HERE}`,
    )
    assert.equal(unset.code, 1)
    assert.match(unset.stderr, /NOT_SET_HERE/)
    assert.equal(readFileSync(path, "utf8"), text, "nothing is written that would not hold")
    assert.match((await svc(gateway, "create-profile")).stderr, /Give the profile one name/)
    assert.match((await svc(gateway, "delete-profile", "managed")).stderr, /default profile/)

    // By hand: the colour of one, and the other gone.
    writeFileSync(path, text.replace("#0066CC", "#9933FF").replace(/,?\s*far: \{[^}]*\}[^}]*\}/, ""))
    const isGone = async () => ((await svc(gateway, "profiles")).stdout.includes("far:") ? undefined : true)
    await until("the change by hand is taken up", isGone, 30_000)
    assert.match((await svc(gateway, "profiles")).stdout, /^work: running .*#9933FF$/m)
    assert.equal(remote.isAlive(), true)
    assert.deepEqual([await pidOf(gateway, "managed"), await pidOf(gateway, "work")], [pid, work])

    const removed = await svc(gateway, "delete-profile", "work")
    const trash = /its data is now in (\S+)\n$/.exec(removed.stdout)?.[1] ?? ""
    assert.ok(existsSync(join(trash, "user-data")), removed.stdout)
    assert.equal(await pidOf(gateway, "managed"), pid)
    assert.match((await svc(gateway, "reset-profile")).stdout, /^reset profile managed; its data is now in /)
    assert.equal(gateway.log().includes(token), false)
    assert.equal(await gateway.kill("SIGTERM"), 0)
  },
)
