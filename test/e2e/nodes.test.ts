// Another machine's browser: a gateway behind TLS and a node as processes of their own, the owner's chat, the command line and the
// control service. The node has a state folder and browsers of its own, so that it can be seen where a thing was done.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { before, describe, test } from "node:test"
import { type Running, runProgram, startProgram } from "../../cli/testing/run-program.ts"
import { type ChaosProxy, startChaosProxy } from "../support/chaos-proxy.ts"
import { browsersOf, endBrowsersOf } from "../support/left-browsers.ts"
import { lastResults, obey } from "../support/obedient-model.ts"
import { type PagesServer, startPagesServer } from "../support/pages-server.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { type World, createWorld, fileContext, until } from "../support/world.ts"

const shared = fileContext()
/** As it is shipped; a program made of its sources costs seconds at each start. */
const program = join(import.meta.dirname, "..", "..", "dist", "svc.cjs")
const tlsFile = (name: string) => join(import.meta.dirname, "..", "fixtures", "tls", name)
const nodeFolder = temporaryFolder()
/** Where the node keeps what is its own. */
const own = join(nodeFolder, "node")
let world: World
let pages: PagesServer
let node: Running
/** In front of the gateway, as a reverse proxy is; its certificate is of an authority of the owner's own. */
let front: ChaosProxy

interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

function configureNode(browserProxy: object = {}): void {
  const noSandbox = process.getuid?.() === 0
  const config = { browser: { headless: true, noSandbox, defaultProfile: "managed" }, nodeHost: { browserProxy } }
  mkdirSync(nodeFolder, { recursive: true })
  writeFileSync(join(nodeFolder, "svc.json"), JSON.stringify(config), { mode: 0o600 })
}

function runNode(...words: string[]): Running {
  const gateway = ["--gateway", `wss://localhost:${front.port}`, "--state-dir", nodeFolder]
  // Of this machine's own, whose ports it must not share with the gateway.
  const environment = { SVC_GATEWAY_PORT: String(world.port + 10), NODE_EXTRA_CA_CERTS: tlsFile("cert.pem") }
  const started = startProgram(["node", "run", ...gateway, ...words], { program, environment })
  shared.after(async () => {
    if (started.child.exitCode === null) started.child.kill("SIGTERM")
    await started.ended
    endBrowsersOf(own)
  })
  return started
}

async function control(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(world.gateway.controlUrl + path, {
    method,
    headers: { authorization: `Bearer ${world.gateway.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

/** At the node, unless a node is named. */
const there = (method: "GET" | "POST", path: string, body: object = {}) =>
  method === "GET"
    ? control(method, `${path}${path.includes("?") ? "&" : "?"}node=studio`)
    : control(method, path, { node: "studio", ...body })

const svc = (...words: string[]) => runProgram([...words, "--state-dir", world.stateFolder], { program })

async function refOf(name: string): Promise<string> {
  const { body } = await there("GET", "/snapshot")
  const found = Object.entries(body.refs as Record<string, { name?: string }>).find(([, ref]) => ref.name === name)
  assert.ok(found, `${name} in ${body.snapshot}`)
  return found[0]
}

interface NodeRow {
  name: string
  state: string
  connected: boolean
  browser: { profiles: string[]; defaultProfile: string } | null
}

async function nodes(): Promise<NodeRow[]> {
  return (await world.gateway.call<{ nodes: NodeRow[] }>("GET", "/api/nodes")).nodes
}

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "..", "fixtures", "pages") })
  shared.after(() => pages.stop())
  world = await createWorld(shared, { config: { browser: { enabled: true, defaultProfile: "managed" } } })
  shared.after(() => endBrowsersOf(world.stateFolder))
  world.configure({ channels: { chatapp: { capabilities: { inlineButtons: "all" } } } })
  await world.start()
  const tls = { key: readFileSync(tlsFile("key.pem"), "utf8"), cert: readFileSync(tlsFile("cert.pem"), "utf8") }
  front = await startChaosProxy({ target: world.port, tls })
  shared.after(() => front.stop())
  configureNode()
})

test("the owner lets a node in by a button in the chat, once, and by nothing else", async () => {
  obey(world, {})
  // Where the owner was last heard from is where an owner is asked.
  await world.reply("ok", { after: world.say("hello") })
  node = runNode("--name", "stu\u202edio!")
  const code = /approve (\S{4}-\S{4})/.exec(await node.printed("waiting to be let in", "stderr"))?.[1] ?? ""
  const question = await world.reply(/A machine asks to be a node/)
  assert.match(question.text ?? "", new RegExp(`^.*\\n\\nstu dio \\(linux\\), from 127\\.0\\.0\\.1.*${code}`, "s"))
  assert.equal((await there("GET", "/tabs")).status, 404)
  const stranger = await world.addPerson({ firstName: "Mallory" })
  world.say(`/nodes approve ${code}`, stranger)
  await world.settle()
  assert.equal((await nodes())[0]?.state, "asked")
  const { id: chatId } = question.chat
  world.emulator.control.click({ userId: world.ada.id, chatId, messageId: question.message_id, text: "Let it in" })
  await node.printed("connected to", "stderr")
  const renamed = await svc("nodes", "rename", "stu dio", "studio")
  assert.equal(renamed.stdout, "renamed: studio\n", renamed.stderr)
  assert.match((await svc("nodes", "list")).stdout, /studio +\w{16} +connected .*managed, relay/)
  const audit = await world.gateway.call<{ items: { action: string }[] }>("GET", "/api/audit?action=node")
  assert.deepEqual(audit.items.map(({ action }) => action).toSorted(), ["node.approve", "node.rename"])
})

describe("what the control service does, it does on the node too", () => {
  test("pages, actions and pictures; errors keep their status, code and hint", async () => {
    const opened = await there("POST", "/tabs/open", { url: `${pages.url}/files.html` })
    assert.equal(opened.status, 200, JSON.stringify(opened.body))
    assert.deepEqual([browsersOf(world.stateFolder), browsersOf(own).length > 0], [[], true])
    const { body: picture } = await there("POST", "/screenshot", { targetId: opened.body.targetId })
    assert.ok(picture.path.startsWith(join(world.stateFolder, "media", "browser")), picture.path)
    assert.equal(readFileSync(picture.path).subarray(1, 4).toString(), "PNG")
    const { body: document } = await there("POST", "/pdf")
    assert.equal(readFileSync(document.path).subarray(0, 4).toString(), "%PDF")
    const { body: labelled } = await there("GET", "/snapshot?labels=true")
    assert.ok(existsSync(labelled.imagePath))
    for (const [method, path, body] of [
      ["POST", "/act", { kind: "click", ref: "e999" }],
      ["POST", "/act", { kind: "dance" }],
      ["POST", "/navigate", { url: "file:///etc/passwd" }],
      ["GET", "/tabs?profile=nobody", {}],
      ["POST", "/tabs/focus", { targetId: "none" }],
      ["POST", "/hooks/file-chooser", { paths: ["../../../etc/passwd"] }],
    ] as const) {
      // The same page here, so that both have the same to say.
      if ((await control("GET", "/tabs")).body.tabs.length === 0) {
        await control("POST", "/tabs/open", { url: `${pages.url}/files.html` })
      }
      const [here, far] = [
        await control(method, path, method === "GET" ? undefined : body),
        await there(method, path, body),
      ]
      assert.deepEqual([far.status, far.body.error?.code], [here.status, here.body.error?.code], path)
    }
    await control("POST", "/stop")
  })

  test("no page there goes to the gateway, where the node reaches it on its own machine", async () => {
    const { status, body } = await there("POST", "/tabs/open", { url: `https://127.0.0.1:${front.port}/dashboard/` })
    assert.deepEqual([status, body.error.code], [400, "navigation-refused"], JSON.stringify(body))
  })

  test("a script is done there in one call, goes on in the tab that it opens, and is kept there", async () => {
    pages.basket.length = 0
    await there("POST", "/navigate", { url: `${pages.url}/files.html` })
    const fn = `() => { document.body.innerHTML = '<a target=_blank href=shop/>To the shop</a>' }`
    await there("POST", "/act", { kind: "evaluate", fn })
    const steps = [
      { kind: "click", find: "link To the shop" },
      { kind: "follow" },
      { kind: "click", find: "button", in: "{{product}}" },
      { kind: "wait", find: "Basket: 1 item" },
      { kind: "read", find: "status", as: "basket" },
    ]
    const { body } = await there("POST", "/act", { kind: "run", steps, values: { product: "Honey" } })
    assert.deepEqual([body.stopped, body.done, body.url], [undefined, 5, `${pages.url}/shop/`], JSON.stringify(body))
    assert.equal(body.values.basket, "Basket: 1 item")
    assert.deepEqual(
      pages.basket.map(({ product }) => product),
      ["Honey"],
    )
    const { body: gone } = await there("POST", "/act", { kind: "run", steps: [{ kind: "click", ref: "e999" }] })
    assert.deepEqual([gone.stopped.step, gone.stopped.code], ["1", "ref-not-found"])
    const navigate = { kind: "navigate", url: `${pages.url}/shop/` }
    const again = await there("POST", "/act", {
      kind: "run",
      steps: [navigate, ...steps.slice(2, 3)],
      keep: "shop",
      values: { product: "Honey" },
    })
    assert.equal(again.body.kept, "shop", JSON.stringify(again.body))
    const ran = await svc("browser", "scripts", "run", "shop", "--value", "product=Sea Salt", "--node", "studio")
    assert.equal(ran.code, 0, ran.stderr)
    assert.deepEqual(pages.basket.at(-1)?.product, "Sea Salt")
    const names = ({ body: list }: Answer) => list.scripts.map(({ name }: { name: string }) => name)
    assert.deepEqual([names(await control("GET", "/scripts")), names(await there("GET", "/scripts"))], [[], ["shop"]])
    await there("POST", "/act", { kind: "close", targetId: body.targetId })
  })

  test("a file goes there for an upload, and comes from there as a download", async () => {
    const file = join(temporaryFolder(), "three words.txt")
    writeFileSync(file, "for the node\n".repeat(100_000))
    await there("POST", "/navigate", { url: `${pages.url}/files.html` })
    const chosen = await svc("browser", "upload", file, "--element", "input[type=file]", "--node", "studio")
    assert.equal(chosen.code, 0, chosen.stderr)
    const fn = "() => { const f = document.querySelector('input[type=file]').files[0]; return [f.name, f.size] }"
    const { body } = await there("POST", "/act", { kind: "evaluate", fn })
    assert.deepEqual(body.result, ["three words.txt", 1_300_000])
    const target = join(temporaryFolder(), "kept.zip")
    const fetched = await svc("browser", "download", await refOf("Get zip"), target, "--node", "studio")
    assert.equal(fetched.code, 0, fetched.stderr)
    assert.equal(readFileSync(target, "utf8"), "PK")
  })

  test("svc browser explain says where a call would go, and why", async () => {
    assert.match((await svc("browser", "explain")).stdout, /node studio\nbecause: studio is the only node/)
    assert.match(
      (await svc("browser", "explain", "--target", "host")).stdout,
      /the gateway's machine\nbecause: the target host/,
    )
    assert.match(
      (await svc("browser", "explain", "--for", "others")).stdout,
      /gateway's machine\nbecause: turns that act on words of others/,
    )
    const { stdout } = await svc("browser", "explain", "--node", "attic", "--json")
    assert.deepEqual(JSON.parse(stdout).place, "none")
    const wrong = await svc("browser", "tabs", "--node", "attic")
    assert.deepEqual([wrong.code, /No node has the code, name or id "attic"/.test(wrong.stderr)], [1, true])
  })
})

describe("the agent", () => {
  test("works on the only node, says so, sends its pictures, and stays where it has begun", async () => {
    obey(world, {
      "look at the shop": [
        ["browser", { action: "open", url: `${pages.url}/shop/` }],
        ["browser", { action: "snapshot" }],
        ["browser", { action: "screenshot" }],
        ([, , shot = ""]) => `Seen.\n${/MEDIA:\S+/.exec(shot)?.[0] ?? "no file"}`,
      ],
    })
    const picture = await world.emulator.control.waitForMessage(
      {
        chatId: world.ada.id,
        from: "bot",
        after: world.say("look at the shop").message_id,
        match: (message) => message.photo !== undefined,
      },
      { timeoutMs: 30_000 },
    )
    assert.ok((picture.photo?.at(-1)?.width ?? 0) > 100)
    const [opened = "", page = ""] = lastResults(world, "look at the shop")
    assert.match(opened, /This was the browser of the node studio/)
    assert.match(page, /Green Tea/)
    assert.deepEqual(browsersOf(world.stateFolder), [])
  })

  test("is kept on the gateway's machine by target host, and refused a node that is not there", async () => {
    obey(world, {
      "once here": [
        ["browser", { action: "tabs", target: "host" }],
        ["browser", { action: "tabs", target: "node", node: "attic" }],
        ["browser", { action: "tabs", target: "host", node: "studio" }],
        "Done.",
      ],
    })
    await world.reply("Done.", { after: world.say("once here") })
    const [here = "", far = "", both = ""] = lastResults(world, "once here")
    assert.doesNotMatch(here, /node studio/)
    assert.match(far, /No node has the code, name or id/)
    assert.match(both, /target is host/)
  })

  test("goes to a node only when it says so where the mode is manual, and never where it is off", async () => {
    obey(world, {
      "try manual": [["browser", { action: "tabs" }], ["browser", { action: "tabs", target: "node" }], "Tried manual."],
      "try off": [["browser", { action: "tabs", target: "node" }], "Tried off."],
    })
    await world.reconfigure({ gateway: { nodes: { browser: { mode: "manual" } } } })
    await world.reply("Tried manual.", { after: world.say("try manual") })
    const [silent = "", said = ""] = lastResults(world, "try manual")
    assert.doesNotMatch(silent, /node studio/)
    assert.match(said, /node studio/)
    await world.reconfigure({ gateway: { nodes: { browser: { mode: "off" } } } })
    await world.reply("Tried off.", { after: world.say("try off") })
    assert.match(lastResults(world, "try off")[0] ?? "", /uses no browsers of nodes/)
    await world.reconfigure({ gateway: { nodes: { browser: { mode: "auto" } } } })
  })
})

describe("the node's owner decides what it offers", () => {
  test("profiles that are not listed are not there, wherever they are named", async () => {
    configureNode({ allowProfiles: ["managed"] })
    await until(
      "the offer has changed",
      async () => (await nodes())[0]?.browser?.profiles.join() === "managed" || undefined,
    )
    const refused = [
      await there("GET", "/tabs?profile=relay"),
      await there("POST", "/start", { profile: "relay" }),
      await control("POST", "/start?profile=managed&node=studio", { profile: "relay" }),
      await control("DELETE", "/profiles/managed?node=studio"),
      await there("POST", "/profiles/create", { name: "mine" }),
      await there("POST", "/extension/pair"),
    ]
    assert.deepEqual(
      refused.map(({ status, body }) => `${status} ${body.error?.code}`),
      refused.map(() => "403 node-refused"),
    )
    const { body } = await there("GET", "/profiles")
    assert.deepEqual(
      body.profiles.map((profile: { name: string }) => profile.name),
      ["managed"],
    )
    assert.equal((await there("GET", "/")).body.profile, "managed")
  })

  test("switched off, nothing is offered; the node stays connected", async () => {
    configureNode({ enabled: false })
    await until("nothing is offered", async () => (await nodes())[0]?.browser === null || undefined)
    const { status, body } = await there("GET", "/tabs")
    assert.deepEqual([status, body.error.code, (await nodes())[0]?.connected], [503, "node-not-connected", true])
    configureNode()
    await until("it is offered again", async () => (await nodes())[0]?.browser?.profiles.length === 2 || undefined)
  })
})

describe("what fails comes back", () => {
  test("a call whose browser control is killed is told so, and the next one works", async () => {
    await there("POST", "/start")
    const hanging = there("POST", "/navigate", { url: `${pages.url}/hang`, timeoutMs: 60_000 })
    const pid = await until("the worker", () => childOf(node.child.pid ?? 0))
    await until("it loads", () => pages.requests.some(({ url }) => url === "/hang") || undefined)
    process.kill(pid, "SIGKILL")
    const { status, body } = await hanging
    assert.deepEqual([status, body.error.code], [503, "node-lost"])
    assert.equal((await there("GET", "/tabs")).status, 200)
  })

  test("after a restart of the gateway it is there again, without being let in once more", async () => {
    await world.gateway.kill("SIGKILL")
    await world.start()
    await until("it is connected", async () => (await nodes())[0]?.connected || undefined)
    assert.equal((await there("GET", "/profiles")).status, 200)
  })

  test("a second process of the node is refused; one that is told to stop ends its browsers and itself", async () => {
    const second = await runNode().ended
    assert.deepEqual([second.code, /runs already, as process \d+/.test(second.stderr)], [1, true])
    await there("POST", "/start")
    assert.ok(browsersOf(own).length > 0)
    node.child.kill("SIGTERM")
    assert.equal((await node.ended).code, 0)
    assert.deepEqual(browsersOf(own), [])
    await until("it is gone", async () => (await nodes())[0]?.connected === false || undefined)
    assert.equal((await there("GET", "/tabs")).body.error.code, "node-not-connected")
  })

  test("one that was put out is told so and stays out", async () => {
    const revoked = await svc("nodes", "revoke", "studio")
    assert.equal(revoked.stdout, "may not connect any more: studio\n")
    const again = runNode()
    await again.printed("has revoked this node; it is asked again every minute", "stderr")
    assert.deepEqual(
      (await nodes()).map(({ state, connected }) => [state, connected]),
      [["revoked", false]],
    )
    const back = await svc("nodes", "approve", "studio")
    assert.deepEqual([back.stdout, /within a minute/.test(back.stderr)], ["let in: studio\n", true])
  })
})

function childOf(pid: number): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")
  return Number(children[0]) || undefined
}
