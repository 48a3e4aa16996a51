import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { type Clock, createBackground, systemClock } from "../../../kernel/index.ts"
import type { Client } from "../client.ts"
import { Downloads } from "./downloads.ts"
import { MediaFolder } from "./keep.ts"

const patienceMs = 10_000

test("what a stopped turn was waiting for is fetched anew for one that comes much later", async () => {
  let isThere = false
  let ahead = 0
  const client = {
    async call() {
      if (isThere) return { ok: true, value: { file_path: "a" } }
      return { ok: false, failure: { kind: "refused", code: 500, description: "Internal Server Error" } }
    },
    async download(_path: string, _limits: object, consume: (bytes: AsyncIterable<Buffer>) => Promise<unknown>) {
      const bytes = async function* () {
        yield Buffer.from("abc")
      }
      return { ok: true, value: await consume(bytes()) }
    },
  } as unknown as Client
  const clock: Clock = {
    ...systemClock,
    monotonic: () => ahead,
    sleep: async (ms, signal) => (ms < patienceMs ? undefined : await systemClock.sleep(ms, signal)),
  }
  const background = createBackground(pino({ level: "silent" }))
  const folder = new MediaFolder(temporaryFolder())
  const downloads = new Downloads({ folder, clock, background, pruneTime: () => 0 })
  const get = (signal: AbortSignal) =>
    downloads.get(
      "default",
      [{ fileId: "f", uniqueId: "u" }],
      { client: () => client, maxBytes: 1_000, timeoutMs: 60_000, localRoots: [] },
      { patienceMs, holdMs: 30_000, signal },
    )
  const turn = new AbortController()
  const waiting = get(turn.signal)
  turn.abort(new Error("stopped"))
  await assert.rejects(waiting, /stopped/)
  await background.idle()
  isThere = true
  ahead = 3_600_000
  const { files } = await get(new AbortController().signal)
  assert.equal(files[0]?.kind, "kept")
  await background.idle()
})
