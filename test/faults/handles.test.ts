// Handles run out: nothing that was being done is to blame, nothing is lost or in doubt, strangers cannot bring it about,
// and the start says when the limit is low.
import assert from "node:assert/strict"
import { execFile, spawnSync } from "node:child_process"
import { readdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo, type Socket, connect } from "node:net"
import { join } from "node:path"
import { once } from "node:events"
import { type TestContext, test } from "node:test"
import { promisify } from "node:util"
import { temporaryFolder } from "../support/temporary.ts"
import { createWorld } from "../support/world.ts"

test("a process without handles has sent nothing, blames nobody, and goes on when it has some again", async (context) => {
  const answer = JSON.stringify({ ok: true, result: { message_id: 1 } })
  const server = createServer((request, response) => {
    response.setHeader("connection", "close")
    request.resume().on("end", () => response.end(answer))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => (server.closeAllConnections(), server.close()))
  const folder = temporaryFolder()
  writeFileSync(join(folder, "file"), "x")
  const program = join(import.meta.dirname, "../support/out-of-handles.ts")
  const { port } = server.address() as AddressInfo
  const words = ["-c", 'ulimit -n 64; exec "$0" "$@"', process.execPath, program, String(port), folder]
  const { stdout } = await promisify(execFile)("sh", words, { timeout: 60_000 })
  const { used, without, after } = JSON.parse(stdout) as {
    used: number
    without: Record<"send" | "model" | "write" | "media" | "mcp", { isOutOfHandles?: boolean }>
    after: object
  }
  assert.ok(used > 5 && used < 64, `${used} handles`)
  const { reason, ...send } = without.send as { reason?: string }
  assert.match(reason ?? "", /EMFILE/)
  assert.deepEqual(send, { kind: "unsent", isOutOfHandles: true })
  const ours = { isDone: false, isOurs: true, code: "storage-handles" }
  assert.deepEqual([without.model, without.write, without.media, without.mcp], [ours, ours, ours, ours])
  const done = { isDone: true }
  assert.deepEqual(after, { send: "sent", model: done, write: done, media: done, mcp: done })
  assert.deepEqual(readdirSync(folder).toSorted(), ["file", "written"])
})

test("a gateway that runs out of handles in a turn answers when it has some again", async (context) => {
  const world = await createWorld(context, { config: { models: { retry: { attempts: 1 } } } })
  const gateway = await world.start()
  const said = world.say("first")
  await world.reply(/./, { after: said })
  const pid = String(gateway.process.pid)
  const limit = (handles: number) => {
    const { status, stderr } = spawnSync("prlimit", ["--pid", pid, `--nofile=${handles}:`], { encoding: "utf8" })
    assert.equal(status, 0, stderr)
  }
  // Fewer than it holds already: whatever it opens now fails.
  limit(readdirSync(`/proc/${pid}/fd`).length - 5)
  world.model.closeIdleConnections()
  const second = world.say("second")
  await world.until("the job is put back", () =>
    gateway.log().includes("No more files or connections can be opened") ? true : undefined,
  )
  limit(1_024)
  await world.reply(/./, { after: second })
  assert.deepEqual(world.rows("select state from outbox where state in ('dead', 'uncertain')"), [])
  const jobs = world.rows<{ state: string; attempts: number }>("select state, attempts from job order by id")
  assert.deepEqual(
    jobs.map(({ state, attempts }) => [state, attempts]),
    [
      ["done", 1],
      ["done", 1],
    ],
  )
})

test("strangers' connections are capped below the limit, and the start says that it is low", async (context) => {
  const world = await createWorld(context)
  const gateway = await world.start({ handleLimit: 256 })
  assert.match(gateway.output(), /may open 256 files and connections.*ulimit -n 4096/)
  const sockets = await flood(context, world.port, 400)
  const said = world.say("hello")
  await world.reply(/./, { after: said })
  assert.ok(readdirSync(`/proc/${gateway.process.pid}/fd`).length < 128)
  assert.equal(gateway.log().includes("EMFILE"), false)
  for (const socket of sockets) socket.destroy()
  await world.until("it takes connections again", async () => {
    const answer = await world.hook("wake", { text: "x" }).catch(() => undefined)
    return answer?.status === 200 ? true : undefined
  })
})

/** Connections that say nothing; those that are refused close by themselves. */
async function flood(context: TestContext, port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: "127.0.0.1" }))
  for (const socket of sockets) socket.on("error", () => undefined)
  context.after(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])))
  return sockets
}
