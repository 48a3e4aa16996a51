// What is shipped runs on every Node.js release that package.json promises, not only on the pinned one.
import assert from "node:assert/strict"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, before, test } from "node:test"
import { fileURLToPath } from "node:url"
import { isLong } from "../support/long.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld } from "../support/world.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** The oldest is where something is missing first; `npm run test:nodes` tries the others, too. */
const releases = isLong ? ["22", "26"] : ["22"]

/** Once for all: without a network each try takes its time. */
let problem: string | undefined

before(() => {
  const { platform, arch } = process
  if (platform !== "linux" || !["x64", "arm64"].includes(arch)) {
    problem = `no npm packages of other Node.js releases exist for ${platform} ${arch}`
    return
  }
  const install = spawnSync(process.execPath, [join(root, "scripts/test-nodes.mjs"), "--install"], { encoding: "utf8" })
  if (install.status !== 0) problem = `they cannot be installed from the registry: ${install.stderr}`
})

/** The program of a release, or the reason why it cannot be had. */
function program(release: string): { path: string } | { skip: string } {
  const { arch } = process
  if (problem !== undefined) return { skip: problem }
  const path = join(root, "scripts/other-nodes/node_modules", `node-${release}-linux-${arch}`, "bin/node")
  return existsSync(path) ? { path } : { skip: `Node ${release} was not installed` }
}

/** As a user starts it: the built command line, with a fresh state folder on the first start. */
async function startBuilt(context: TestContext, world: World, node: string): Promise<ChildProcess> {
  const child = spawn(node, [join(root, "dist/svc.cjs"), "gateway", "--quiet"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...process.env,
      SVC_STATE_DIR: world.stateFolder,
      SVC_GATEWAY_PORT: String(world.port),
      SVC_RUNTIME_DIR: join(world.stateFolder, "run"),
      CHATAPP_BOT_TOKEN: "",
    },
  })
  let output = ""
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
  context.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await once(child, "exit")
  })
  await world.until(
    "the gateway is ready",
    async () => {
      assert.equal(child.exitCode, null, output)
      const answer = await fetch(`http://127.0.0.1:${world.port}/readyz`).catch(() => undefined)
      return answer?.ok ? true : undefined
    },
    30_000,
  )
  return child
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  assert.deepEqual(await ended, [0, null])
}

for (const release of releases) {
  test(`the main road works on Node ${release}, and its state is read by the pinned one`, async (context) => {
    const found = program(release)
    if ("skip" in found) return context.skip(found.skip)
    const build = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--if-changed"], { encoding: "utf8" })
    assert.equal(build.status, 0, build.stderr)
    const world = await createWorld(context)
    world.model.script((request) => text(`echo ${lastPrompt(request).split("\n").at(-1)}`))
    const gateway = await startBuilt(context, world, found.path)
    world.say("hello")
    await world.reply("echo hello", { timeoutMs: 30_000 })
    const hook = await world.hook("agent", { message: "from a webhook", wakeMode: "next-heartbeat" })
    assert.equal(hook.status, 202)
    await world.reply("echo", { timeoutMs: 30_000 })
    await world.settle()
    const version = spawnSync(found.path, [join(root, "dist/svc.cjs"), "status", "--json"], {
      encoding: "utf8",
      env: { ...process.env, SVC_STATE_DIR: world.stateFolder },
    })
    assert.equal(version.status, 0, version.stderr)
    // A poll of thirty seconds hangs here: a stop that waits for it would not end.
    await end(gateway)
    const log = readFileSync(join(world.stateFolder, "logs/gateway.log"), "utf8")
    assert.doesNotMatch(log, /polling failed/)
    const pinned = await startBuilt(context, world, process.execPath)
    world.say("and now")
    await world.reply("echo and now", { timeoutMs: 30_000 })
    await end(pinned)
  })

  test(`calls of the platform are made and given up on Node ${release}, directly and through proxies`, async (context) => {
    const found = program(release)
    if ("skip" in found) return context.skip(found.skip)
    const files = ["transport", "network"].map((name) => join(root, `src/channels/chatapp/${name}.test.ts`))
    // Node tells its own runs apart by this; what is started here is a run of its own.
    const { NODE_TEST_CONTEXT: _own, ...env } = process.env
    const child = spawn(found.path, ["--test", "--test-reporter=tap", ...files], { cwd: root, env })
    let output = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, "exit")) as [number]
    assert.equal(code, 0, output)
    assert.match(output, /^# pass [1-9]\d*$/m)
  })
}
