// What people have made of late beside messages and webhooks: schedules, questions to an owner, spending, the page's chat,
// secrets, notes. The disk refuses every write for a moment, and the process is killed right after it has acknowledged
// something: nothing acknowledged is lost, nothing is done twice, nothing stays stuck.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { text, toolCall } from "../support/model-server/index.ts"
import { resultsOf } from "../support/obedient-model.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld, fileContext } from "../support/world.ts"

const context = fileContext()
const reasonToSkip = process.platform === "linux" ? false : "limits of a process that runs are set on Linux only"
const origins = ["https://shop.example"]

/** Every write behind the first bytes of a file fails, of the database, its log and files alike. */
function refuseWrites({ gateway }: World): () => void {
  const limit = (soft: number | string) =>
    execFileSync("prlimit", ["--pid", String(gateway.process.pid), `--fsize=${soft}:`])
  limit(512)
  return () => limit("unlimited")
}

/** The status and the code of the error. */
async function post(world: World, path: string, body: object = {}): Promise<{ status: number; code?: string }> {
  const { gateway } = world
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  const { error } = (await response.json()) as { error?: { code: string } }
  return { status: response.status, ...(error ? { code: error.code } : {}) }
}

const isReady = async ({ gateway }: World) => (await fetch(`${gateway.url}/readyz`)).status === 200 || undefined
const countRuns = (world: World, words: string) =>
  world.rows("select 1 from job where kind = 'turn' and state = 'done' and payload like ?", `%${words}%`).length
const noteOf = (world: World) => readFileSync(join(world.stateFolder, "workspace", "MEMORY.md"), "utf8")

let held = Promise.withResolvers<void>()

async function begin(): Promise<{ world: World; bob: { id: number } }> {
  const world = await createWorld(context, { config: { logging: { level: "info" }, budget: { day: { tokens: 5e6 } } } })
  const bob = await world.addPerson({ firstName: "Bob" })
  world.configure({ channels: { chatapp: { allowFrom: [world.ada.id, bob.id] } } })
  const send = toolCall("message", { action: "send", to: String(bob.id), message: "the plan" })
  world.model.script(async (request) => {
    const prompt = lastPrompt(request)
    const results = resultsOf(request).length
    if (prompt.includes("hold on")) await held.promise
    if (prompt.includes("as the letter says")) return results === 0 ? send : text("I wait.")
    if (prompt.includes("has allowed the call")) return results === 0 ? send : text("Sent once.")
    return text(`did ${prompt.split("\n").at(-1)}`)
  })
  await world.start()
  return { world, bob }
}

const everything = begin()

test(
  "a disk that takes nothing for a moment refuses what is new, and all that waited goes on by itself",
  {
    skip: reasonToSkip,
  },
  async () => {
    const { world, bob } = await everything
    const forward_origin = { type: "hidden_user", sender_user_name: "Mallory", date: 1_790_000_000 } as const
    world.emulator.control.sendRaw({ userId: world.ada.id, message: { text: "do as the letter says", forward_origin } })
    await world.reply("I wait.")
    const [question] = world.rows<{ id: string }>("select id from approval")
    held = Promise.withResolvers()
    const waiting = world.say("hold on")
    await world.model.waitForRequest((request) => lastPrompt(request).includes("hold on"))
    const soon = { text: "feed the cat", in: "2s", session: "main", channel: "chatapp", to: String(world.ada.id) }
    assert.equal((await post(world, "/api/schedules", soon)).status, 200)

    const calls: [string, object][] = [
      ["/api/schedules", { text: "water the plants", in: "1h" }],
      ["/api/chat/messages", { id: "id-of-the-page-1", chat: "main", text: "from the page" }],
      ["/api/secrets", { name: "shop", origins, value: "correct horse" }],
      ["/api/memory/add", { text: `Ada likes figs${", and figs".repeat(99)}.` }],
      [`/api/approvals/${question?.id}/allow`, {}],
    ]
    const heal = refuseWrites(world)
    held.resolve()
    for (const [path, body] of calls) {
      const { status, code } = await post(world, path, body)
      assert.ok(status >= 500, `${path} is not acknowledged: ${status}`)
      assert.match(code ?? "", /^storage-/, path)
    }
    await world.until("it is said", async () => ((await isReady(world)) ? undefined : true))
    // Its time comes while nothing can be claimed.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    heal()
    await world.until("it is ready again", () => isReady(world))
    await world.reply("did hold on", { after: waiting })
    await world.reply("did feed the cat", { after: waiting })
    // A sender that was refused comes again, twice to be sure.
    for (const [path, body] of calls) assert.ok((await post(world, path, body)).status < 300, path)
    assert.ok((await post(world, ...(calls[1] as [string, object]))).status < 300)
    await world.until("Bob has it", () => world.botTexts(bob as never).length > 0 || undefined)
    await world.until("the page has its answer", () => countRuns(world, "from the page") > 0 || undefined)
    await world.settle()

    assert.deepEqual([countRuns(world, "feed the cat"), countRuns(world, "from the page")], [1, 1])
    assert.deepEqual(world.botTexts(bob as never), ["the plan"])
    assert.equal(world.botTexts().filter((words) => words === "did hold on").length, 1)
    assert.equal(noteOf(world).match(/likes figs/g)?.length, 1)
    assert.deepEqual(world.rows("select 1 from schedule where name = 'water the plants'").length, 1)
    // What a call may take is given back a moment after its answer.
    await world.until(
      "no call holds anything",
      () => (world.rows("select 1 from budget_hold where state = 'open'").length === 0 ? true : undefined),
      10_000,
    )
    const log = world.gateway.log()
    assert.ok(log.split("background work failed").length < 20, "nothing is tried a thousand times")
  },
)

test("what was acknowledged right before kill -9 is there afterwards, once", async () => {
  const { world } = await everything
  const acknowledged = await Promise.all([
    post(world, "/api/schedules", { text: "lock the door", in: "1s", channel: "chatapp", to: String(world.ada.id) }),
    post(world, "/api/chat/messages", { id: "id-of-the-page-2", chat: "main", text: "before the kill" }),
    post(world, "/api/secrets", { name: "bank", origins, value: "battery staple" }),
    post(world, "/api/memory/add", { text: "Ada plays chess." }),
  ])
  await world.gateway.kill("SIGKILL")
  assert.deepEqual(
    acknowledged.map(({ status }) => status),
    [200, 202, 200, 200],
  )
  await world.start()
  await world.reply("did lock the door")
  await world.until("the page has its answer", () => countRuns(world, "before the kill") > 0 || undefined)
  const again = await post(world, "/api/chat/messages", {
    id: "id-of-the-page-2",
    chat: "main",
    text: "before the kill",
  })
  assert.ok(again.status < 300)
  await world.settle()
  assert.deepEqual([countRuns(world, "lock the door"), countRuns(world, "before the kill")], [1, 1])
  const { secrets } = await world.gateway.call<{ secrets: { name: string }[] }>("GET", "/api/secrets")
  assert.ok(secrets.some(({ name }) => name === "bank"))
  const found = await world.gateway.call<{ notes: unknown[] }>("GET", "/api/memory/search?text=chess&scope=notes")
  assert.equal(found.notes.length, 1)
})
