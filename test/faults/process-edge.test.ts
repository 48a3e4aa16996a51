// What surrounds the process goes away under it: the readers of its output, its state folder, the space on its disk.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, openSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { bundleGateway } from "../support/gateway-bundle.ts"
import { type RunningGateway, freePort, spawnGateway, startGateway, writeConfig } from "../support/gateway.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { hookToken, until } from "../support/world.ts"

const config = { hooks: { enabled: true, token: hookToken }, browser: { enabled: false } }

async function wake(port: number, text: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/hooks/wake`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
    body: JSON.stringify({ text, mode: "next-heartbeat" }),
  })
  await response.arrayBuffer()
  return response.status
}

async function metric({ url, token }: Pick<RunningGateway, "url" | "token">, name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  const line = text.split("\n").find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}{`))
  return Number(line?.split(" ").at(-1) ?? Number.NaN)
}

/** A gateway whose standard error is what the test says, with a log of many lines. */
async function startWithOutput(context: TestContext, stderr: "pipe" | number) {
  const stateFolder = temporaryFolder()
  const port = await freePort()
  writeConfig(stateFolder, { ...config, logging: { level: "trace", consoleLevel: "trace" } })
  const child = spawn(process.execPath, [await bundleGateway()], {
    stdio: ["ignore", "pipe", stderr, "ipc"],
    env: { ...process.env, SVC_STATE_DIR: stateFolder, SVC_GATEWAY_PORT: String(port), CHATAPP_BOT_TOKEN: "" },
  })
  const exited = once(child, "exit")
  context.after(async () => {
    child.kill("SIGKILL")
    await exited
  })
  return { child, port, stateFolder, exited, ready: once(child, "message") }
}

for (const { name, spoil } of [
  { name: "closed", spoil: (child: { stderr: { destroy(): void } | null }) => child.stderr?.destroy() },
  { name: "never read", spoil: () => undefined },
]) {
  test(`standard error that is ${name} costs its lines and nothing else`, async (context) => {
    const gateway = await startWithOutput(context, "pipe")
    gateway.child.stdout?.destroy()
    spoil(gateway.child)
    await gateway.ready
    const url = `http://127.0.0.1:${gateway.port}`
    const token = readFileSync(join(gateway.stateFolder, "gateway-token"), "utf8").trim()
    const long = "x".repeat(20_000)
    for (let n = 0; n < 40; n += 1) {
      await fetch(`${url}/hooks/${long.slice(0, 4_000)}${n}`, { method: "POST" })
      assert.equal(await wake(gateway.port, `event ${n}`), 200)
    }
    assert.match(readFileSync(join(gateway.stateFolder, "logs", "gateway.log"), "utf8"), /gateway ready/)
    if (name === "closed") {
      assert.ok((await metric({ url, token }, 'svc_log_lines_lost_total{to="console"}')) > 0, "counted")
    }
    gateway.child.kill("SIGTERM")
    assert.deepEqual(await gateway.exited, [0, null])
  })
}

test(
  "standard error on a full disk costs its lines and nothing else",
  { skip: process.platform !== "linux" },
  async (context) => {
    const gateway = await startWithOutput(context, openSync("/dev/full", "w"))
    await gateway.ready
    assert.equal(await wake(gateway.port, "event"), 200)
    gateway.child.kill("SIGTERM")
    assert.deepEqual(await gateway.exited, [0, null])
  },
)

test("when its state folder is moved away the gateway accepts nothing more, says so and ends; a second one is refused until then", async (context) => {
  const stateFolder = join(temporaryFolder(), "state")
  const gateway = await startGateway(context, { stateFolder, config })
  assert.equal(await wake(gateway.port, "before"), 200)
  // Held still: a start that takes longer than the first needs to notice would find nobody, and rightly run.
  gateway.process.kill("SIGSTOP")
  renameSync(stateFolder, `${stateFolder}-away`)
  const second = await spawnGateway(context, { stateFolder, config })
  assert.equal(await second.ready, undefined, "the second one ends instead of becoming ready")
  assert.equal(await second.ended, 1)
  assert.match(second.output(), /already runs on this state folder/)
  gateway.process.kill("SIGCONT")
  assert.equal(await gateway.ended, 1)
  assert.match(gateway.output(), /error: .*(removed|replaced) while the gateway ran on it; nothing more is accepted/)
  assert.match(gateway.output(), /hint: .*restore a backup/)
})

test("a gateway whose file for the command line was removed writes it again, and its own alone", async (context) => {
  const stateFolder = join(temporaryFolder(), "state")
  const gateway = await startGateway(context, { stateFolder, config })
  const path = join(stateFolder, "gateway.json")
  const before = readFileSync(path, "utf8")
  rmSync(path)
  await until("it is there again", () => (existsSync(path) ? true : undefined))
  assert.equal(readFileSync(path, "utf8"), before)
  assert.equal(await gateway.kill("SIGTERM"), 0)
  assert.equal(existsSync(path), false, "gone with the gateway")
})

test("the figures of the event loop and the memory are for whoever has the token", async (context) => {
  const gateway = await startGateway(context, { config })
  assert.equal((await fetch(`${gateway.url}/metrics`)).status, 401)
  await until("the loop has been looked at", async () =>
    (await metric(gateway, "svc_event_loop_delay_seconds_count")) > 0 ? true : undefined,
  )
  assert.equal(await metric(gateway, "svc_store_accepting"), 1)
  assert.ok((await metric(gateway, "process_resident_memory_bytes")) > 1_000_000)
})
