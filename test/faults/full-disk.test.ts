// A full disk: nothing is accepted, nobody is lied to, and when there is space again everything goes on by itself.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { fillDiskAndLog } from "../support/full-disk.ts"
import { spawnGateway } from "../support/gateway.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld } from "../support/world.ts"

const reasonToSkip =
  process.platform !== "linux" || process.getuid?.() !== 0
    ? "a file system of a fixed size can be mounted by root on Linux only"
    : false

/** A file system of twelve megabytes: the reserve, the database and its log fit, and are soon out of room. */
function smallDisk(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-disk-"))
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=12m,mode=700", "tmpfs", folder])
  context.after(() => {
    // Lazily: the gateway, which still holds files open, is ended by a hook after this one.
    execFileSync("umount", ["-l", folder])
    rmdirSync(folder)
  })
  return folder
}

async function fullWorld(context: TestContext): Promise<World> {
  const stateFolder = smallDisk(context)
  const world = await createWorld(context, { stateFolder, config: { logging: { level: "warn" } } })
  world.model.script((request) => text(`did ${lastPrompt(request).split("\n").at(-1)}`))
  await world.start()
  return world
}

const status = (world: World) =>
  world.gateway.call<{
    store: { accepting: boolean }
    problems: { part: string; problem: string; next?: string }[]
  }>("GET", "/api/status")

test(
  "refuses webhooks while the disk is full, and goes on by itself when there is space",
  { skip: reasonToSkip },
  async (context) => {
    const world = await fullWorld(context)
    const wake = (id: string) =>
      world.hook("wake", { text: `event ${id}`, mode: "next-heartbeat" }, { "idempotency-key": id })
    const accepted: string[] = []
    for (let n = 0; n < 20; n += 1) {
      assert.equal((await wake(`before-${n}`)).status, 200)
      accepted.push(`event before-${n}`)
    }
    fillDiskAndLog(world.stateFolder)
    const seen = await world.until(
      "the full disk is seen before anything was refused",
      async () => (await status(world)).problems.find(({ part }) => part === "disk"),
      15_000,
    )
    assert.match(`${seen.problem} ${seen.next}`, /is full: \d+ KB are left Free some space there/)
    // The last free room of the write-ahead log may take one or two more.
    const refused = await world.until("a webhook is refused", async () => {
      const id = `during-${accepted.length}`
      const answer = await wake(id)
      if (answer.status !== 200) return answer
      accepted.push(`event ${id}`)
      return undefined
    })
    assert.equal(refused.status, 503)
    assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/)
    assert.equal((refused.body["error"] as { code: string }).code, "storage-full")
    assert.equal((await wake("again")).status, 503)
    const { store, problems } = await status(world)
    assert.equal(store.accepting, false)
    const told = problems.filter(({ part }) => part === "store").map(({ problem, next }) => `${problem} ${next ?? ""}`)
    assert.deepEqual(told.join("\n").match(/free some space/gi)?.length, 1, "what to do is said once")
    assert.equal((await fetch(`${world.gateway.url}/healthz`)).status, 200, "the process lives")

    rmSync(join(world.stateFolder, "filler"))
    const answer = await world.until("a webhook is accepted again", async () => {
      const next = await wake("after")
      return next.status === 503 ? undefined : next
    })
    assert.equal(answer.status, 200)
    accepted.push("event after")
    assert.equal((await status(world)).store.accepting, true)
    const kept = world.rows<{ text: string }>("select text from event order by id").map((row) => row.text)
    assert.deepEqual(kept, accepted)
  },
)

test(
  "leaves updates at the platform while the disk is full, and takes each once afterwards",
  { skip: reasonToSkip },
  async (context) => {
    const world = await fullWorld(context)
    world.say("first")
    await world.reply("did first")
    await world.settle()
    fillDiskAndLog(world.stateFolder)
    await world.until("the store notices", async () => {
      const answer = await world.hook("wake", { text: "filler ".repeat(500), mode: "next-heartbeat" })
      return answer.status === 503 ? true : undefined
    })
    const sent = world.say("waiting")
    await world.until("the channel says why it waits", async () => {
      const { channels } = await world.gateway.call<{ channels: { state: string; error?: string }[] }>(
        "GET",
        "/api/channels",
      )
      return channels[0]?.state === "waiting" && /full/i.test(channels[0].error ?? "") ? true : undefined
    })
    assert.equal(world.emulator.control.updates().length, 1, "the update is not confirmed")
    assert.deepEqual(world.botTexts(world.ada, sent), [])

    rmSync(join(world.stateFolder, "filler"))
    await world.reply("did waiting", { after: sent })
    await world.settle()
    assert.deepEqual(world.botTexts(world.ada, sent).filter((words) => words === "did waiting").length, 1)
    assert.equal(world.emulator.control.updates().length, 0)
    const runs = world.rows<{ state: string }>("select state from job where payload like '%\"waiting\"%'")
    assert.deepEqual(
      runs.map((run) => run.state),
      ["done"],
    )
  },
)

interface StoreStatus {
  parts: Record<string, string>
  store: { accepting: boolean; problem?: string; unwritten?: number }
}

const rounds = Number(process.env["SVC_TEST_DISK_ERRORS"] ?? 2)

test(
  `answers that could not be written ${rounds} times while the disk was full are written and sent when there is space`,
  { skip: reasonToSkip, timeout: 60_000 + rounds * 20_000 },
  async (context) => {
    const world = await fullWorld(context)
    let held = Promise.withResolvers<void>()
    world.model.script(async (request) => {
      const said = lastPrompt(request).split("\n").at(-1) ?? ""
      if (said.startsWith("hold")) await held.promise
      return text(`did ${said}`)
    })
    const ready = async () => (await fetch(`${world.gateway.url}/readyz`)).status
    for (let round = 0; round < rounds; round += 1) {
      held = Promise.withResolvers()
      const sent = world.say(`hold ${round}`)
      await world.model.waitForRequest((request) => lastPrompt(request).endsWith(`hold ${round}`))
      fillDiskAndLog(world.stateFolder)
      // The reserve is given up for what runs, and then that is used up as well.
      await world.until("the store notices", async () => {
        const answer = await world.hook("wake", { text: "filler ".repeat(500), mode: "next-heartbeat" })
        return answer.status === 503 ? true : undefined
      })
      fillDiskAndLog(world.stateFolder)
      held.resolve()
      const status = await world.until("the end of the turn is kept", async () => {
        const now = await world.gateway.call<StoreStatus>("GET", "/api/status")
        return (now.store.unwritten ?? 0) > 0 ? now : undefined
      })
      assert.match(status.store.problem ?? "", /disk is full/i)
      assert.equal(status.parts["store"], "failed")
      assert.equal(await ready(), 503)

      rmSync(join(world.stateFolder, "filler"))
      await world.reply(`did hold ${round}`, { after: sent })
      await world.until("it is ready again", async () => ((await ready()) === 200 ? true : undefined))
    }
    await world.settle()
    const texts = world.botTexts().filter((words) => words.startsWith("did hold"))
    assert.equal(texts.length, rounds, "each answer came once")
    assert.deepEqual(world.rows("select state from job where state != 'done'"), [])
  },
)

test(
  "a start on a full disk fails and says why, and leaves everything as it was",
  { skip: reasonToSkip },
  async (context) => {
    const world = await fullWorld(context)
    // The log of the first start is large, and would leave room when it is taken over.
    await world.gateway.kill("SIGTERM")
    await world.start()
    const wake = (text: string) => world.hook("wake", { text, mode: "next-heartbeat" })
    assert.equal((await wake("kept")).status, 200)
    await world.gateway.kill("SIGKILL")
    rmSync(join(world.stateFolder, "reserve"))
    fillDiskAndLog(world.stateFolder)
    const second = await spawnGateway(context, { stateFolder: world.stateFolder, port: world.port })
    assert.equal(await second.ended, 1)
    assert.match(second.output(), /no space left/i)
    rmSync(join(world.stateFolder, "filler"))
    await world.start()
    assert.equal((await wake("new")).status, 200)
    const kept = world.rows<{ text: string }>("select text from event order by id").map((row) => row.text)
    assert.deepEqual(kept, ["kept", "new"])
  },
)
