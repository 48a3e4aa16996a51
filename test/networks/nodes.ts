// Nodes in networks of their own (`npm run test:networks`, as root on Linux): each in a network namespace with a wire to the
// gateway's, which is cut, made slow and lossy, and made deaf in one direction by the kernel. The built programs, real browsers.
// The short form, with a proxy in place of the network, is in src/nodes/nodes.test.ts.
import assert from "node:assert/strict"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, after, before, test } from "node:test"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { type World, createWorld, fileContext, until } from "../support/world.ts"

const program = join(import.meta.dirname, "..", "..", "dist", "svc.cjs")
const shared = fileContext()
let world: World

const ip = (...words: string[]) => execFileSync("ip", words, { stdio: ["ignore", "pipe", "pipe"] })

/** An address of no interface. */
const nobody = "02:00:00:00:00:99"

/** A machine: its network, the wire to it, and the node on it. */
class Machine {
  readonly name: string
  readonly #space: string
  /** The gateway's end of the wire. */
  readonly #wire: string
  readonly #far: string
  readonly #address: string
  readonly #index: number
  readonly #folder = temporaryFolder()
  #node: ChildProcess | undefined
  said = ""

  constructor(name: string, index: number) {
    const own = `${process.pid % 10_000}${index}`
    this.name = name
    this.#index = index
    this.#space = `svc-test-${own}`
    this.#wire = `svct${own}a`
    this.#far = `svct${own}b`
    this.#address = `10.203.${index}.1`
    ip("netns", "add", this.#space)
    ip("link", "add", this.#wire, "type", "veth", "peer", "name", this.#far, "netns", this.#space)
    ip("address", "add", `${this.#address}/30`, "dev", this.#wire)
    ip("link", "set", this.#wire, "up")
    ip("-n", this.#space, "address", "add", `10.203.${index}.2/30`, "dev", this.#far)
    ip("-n", this.#space, "link", "set", this.#far, "up")
    ip("-n", this.#space, "link", "set", "lo", "up")
  }

  /** Starts the node, lets it in, and resolves when it is connected. */
  async start(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true })
    const config = { browser: { headless: true, noSandbox: true, defaultProfile: "managed" } }
    writeFileSync(join(this.#folder, "svc.json"), JSON.stringify(config), { mode: 0o600 })
    const gateway = ["--gateway", `ws://${this.#address}:${world.port}`, "--allow-plain"]
    const words = ["node", "run", ...gateway, "--name", this.name, "--state-dir", this.#folder]
    const inside = ["netns", "exec", this.#space, process.execPath, program, ...words]
    const node = spawn("ip", inside, { stdio: ["ignore", "ignore", "pipe"] })
    this.#node = node
    node.stderr.on("data", (data: Buffer) => (this.said += data.toString()))
    const code = await until("it asks", () => /approve (\S{4}-\S{4})/.exec(this.said)?.[1])
    await world.gateway.call("POST", "/api/nodes/approve", { node: code })
    await until("it is let in", () => this.said.includes("connected to") || undefined)
  }

  cut(): void {
    ip("link", "set", this.#wire, "down")
  }

  mend(): void {
    ip("link", "set", this.#wire, "up")
  }

  /** Nothing of the gateway's reaches the node: it goes to an interface that does not exist. */
  deafen(): void {
    ip("neigh", "replace", `10.203.${this.#index}.2`, "lladdr", nobody, "dev", this.#wire, "nud", "permanent")
  }

  /** Nothing of the node's reaches the gateway. */
  silence(): void {
    ip("-n", this.#space, "neigh", "replace", this.#address, "lladdr", nobody, "dev", this.#far, "nud", "permanent")
  }

  heal(): void {
    ip("neigh", "flush", "dev", this.#wire, "nud", "permanent")
    ip("-n", this.#space, "neigh", "flush", "dev", this.#far, "nud", "permanent")
  }

  /** Both ways as slow, and what waits longer than a moment is lost: a full line. */
  slow(rate: string): void {
    const words = ["root", "tbf", "rate", rate, "burst", "16kb", "latency", "100ms"]
    execFileSync("tc", ["qdisc", "replace", "dev", this.#wire, ...words])
    execFileSync("tc", ["-n", this.#space, "qdisc", "replace", "dev", this.#far, ...words])
  }

  hurry(): void {
    execFileSync("tc", ["qdisc", "del", "dev", this.#wire, "root"])
    execFileSync("tc", ["-n", this.#space, "qdisc", "del", "dev", this.#far, "root"])
  }

  async stop(): Promise<void> {
    const node = this.#node
    if (node && node.exitCode === null && node.signalCode === null) {
      const gone = once(node, "exit")
      node.kill("SIGTERM")
      await gone
    }
    endBrowsersOf(join(this.#folder, "node"))
    ip("netns", "del", this.#space)
  }
}

interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
  ms: number
}

async function ask(machine: Machine, path: string, body: object = {}): Promise<Answer> {
  const began = performance.now()
  const response = await fetch(world.gateway.controlUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${world.gateway.token}`, "content-type": "application/json" },
    body: JSON.stringify({ node: machine.name, ...body }),
  })
  return { status: response.status, body: await response.json(), ms: performance.now() - began }
}

const evaluate = (machine: Machine, fn: string) => ask(machine, "/act", { kind: "evaluate", fn, timeoutMs: 60_000 })
const endless = "() => new Promise(() => undefined)"

async function isConnected({ name }: Machine): Promise<boolean> {
  const { nodes } = await world.gateway.call<{ nodes: { name: string; connected: boolean }[] }>("GET", "/api/nodes")
  return nodes.some((node) => node.name === name && node.connected)
}

const connected = (machine: Machine) =>
  until(`${machine.name} is connected`, async () => (await isConnected(machine)) || undefined, 60_000)

let attic: Machine
let studio: Machine

before(async () => {
  if (process.getuid?.() !== 0) throw new Error("network namespaces are made by root: sudo npm run test:networks")
  world = await createWorld(shared, {
    config: { gateway: { bind: "lan" }, browser: { enabled: true, defaultProfile: "managed" } },
  })
  await world.start()
  ;[attic, studio] = [new Machine("attic", 1), new Machine("studio", 2)]
  await Promise.all([attic.start(), studio.start()])
})

after(async () => {
  await Promise.all([attic, studio].map((machine) => machine?.stop()))
})

test("two nodes: each call goes to the browser of its own machine", async () => {
  for (const machine of [attic, studio]) {
    assert.equal((await ask(machine, "/tabs/open", { url: "about:blank" })).status, 200)
    await evaluate(machine, `() => { document.title = "of the ${machine.name}" }`)
  }
  for (const machine of [attic, studio]) {
    assert.equal((await evaluate(machine, "() => document.title")).body.result, `of the ${machine.name}`)
  }
})

/** A call waits, its wire is disturbed: it is told so within seconds, the other node notices nothing, and all comes back. */
async function loses(
  context: TestContext,
  machine: Machine,
  other: Machine,
  disturb: () => void,
  mend: () => void,
): Promise<void> {
  const waiting = evaluate(machine, endless)
  // Asked after it, on the same wire: the answer says that it has arrived.
  await tabsOf(machine)
  const began = performance.now()
  disturb()
  const beside = await evaluate(other, "() => 1 + 1")
  assert.equal(beside.body.result, 2)
  const { status, body } = await waiting
  const told = performance.now() - began
  assert.deepEqual([status, body.error.code], [503, "node-lost"])
  assert.ok(told < 15_000, `told after ${Math.round(told)} ms`)
  assert.equal((await evaluate(machine, "() => 1")).body.error.code, "node-not-connected")
  mend()
  await connected(machine)
  const again = performance.now() - began - told
  assert.equal((await evaluate(machine, "() => 2 + 2")).body.result, 4)
  context.diagnostic(`told after ${Math.round(told)} ms, back ${Math.round(again)} ms after it was mended`)
}

async function tabsOf({ name }: Machine): Promise<void> {
  const headers = { authorization: `Bearer ${world.gateway.token}` }
  const response = await fetch(`${world.gateway.controlUrl}/tabs?node=${name}`, { headers })
  assert.equal(response.status, 200)
}

test("a wire that is cut", async (context) => {
  await loses(
    context,
    attic,
    studio,
    () => attic.cut(),
    () => attic.mend(),
  )
})

test("a link that is half open: nothing reaches the node any more", async (context) => {
  await loses(
    context,
    studio,
    attic,
    () => studio.deafen(),
    () => studio.heal(),
  )
})

test("a link that is half open: nothing of the node arrives any more", async (context) => {
  await loses(
    context,
    attic,
    studio,
    () => attic.silence(),
    () => attic.heal(),
  )
})

test("a slow and lossy link carries calls and files, and a short call does not wait for a long one", async (context) => {
  studio.slow("4mbit")
  const fill =
    "() => { document.body.innerHTML = '<canvas width=1200 height=700></canvas>'; const c = document.querySelector('canvas').getContext('2d'); const p = c.createImageData(1200, 700); for (let i = 0; i < p.data.length; i++) p.data[i] = i % 4 === 3 ? 255 : Math.random() * 255; c.putImageData(p, 0, 0) }"
  assert.equal((await evaluate(studio, fill)).status, 200)
  const picture = ask(studio, "/screenshot")
  const beside = await evaluate(studio, "() => 'beside'")
  assert.equal(beside.body.result, "beside")
  const { status, body, ms } = await picture
  assert.equal(status, 200, JSON.stringify(body))
  const bytes = readFileSync(body.path)
  assert.deepEqual([bytes.subarray(1, 4).toString(), bytes.subarray(-8, -4).toString()], ["PNG", "IEND"])
  assert.ok(bytes.length > 1_000_000, `${bytes.length} bytes`)
  context.diagnostic(`${bytes.length} bytes in ${Math.round(ms)} ms; a call beside it ${Math.round(beside.ms)} ms`)
  studio.hurry()
})

test("a gateway that is killed while both wires are slow has both again", async () => {
  for (const machine of [attic, studio]) machine.slow("1mbit")
  await world.gateway.kill("SIGKILL")
  await world.start()
  await Promise.all([connected(attic), connected(studio)])
  for (const machine of [attic, studio]) {
    assert.equal((await evaluate(machine, "() => document.readyState")).body.result, "complete")
    machine.hurry()
  }
})
