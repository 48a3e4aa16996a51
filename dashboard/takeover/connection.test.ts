import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled } from "../../test/support/page-modules.ts"

interface Modules {
  follow(key: string, listener: { ended(isOver: boolean, why: string): void }): Promise<void>
  sender(key: string, failed: (why: string) => void): (event: object) => void
  createView(stage: object, canvas: object): { draw(picture: object): Promise<void> }
}

const requests: { path: string; body: unknown; answer(response: Response): void }[] = []
const browser = {
  fetch: (path: string, { body, signal }: { body?: string; signal: AbortSignal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    signal.addEventListener("abort", () => reject(signal.reason as Error))
    requests.push({ path, body: JSON.parse(body ?? "null"), answer: resolve })
    return promise
  },
  ResizeObserver: class {
    observe = () => undefined
  },
}
Object.assign(globalThis, browser)
const { follow, sender, createView } = await loadPageModules<Modules>("takeover/connection.ts", "takeover/view.ts")

test("a stream on which nothing is heard any more is begun anew", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] })
  requests.length = 0
  const ended: boolean[] = []
  const followed = follow("key", { ended: (isOver) => void ended.push(isOver) })
  mock.timers.tick(25_000)
  await settled()
  assert.deepEqual(ended, [false])
  mock.timers.tick(1_000)
  await settled()
  assert.equal(requests.length, 2)
  requests[1]?.answer(new Response(new Uint8Array([3, 0, 0, 0, 0])))
  await followed
  assert.deepEqual(ended, [false, true])
})

test("what hands do goes on after a post that was never answered", async ({ mock }) => {
  const late = new AbortController()
  mock.method(AbortSignal, "timeout", () => late.signal)
  requests.length = 0
  const failures: string[] = []
  const send = sender("key", (why) => void failures.push(why))
  send({ kind: "back" })
  send({ kind: "reload" })
  late.abort(new Error("signal timed out"))
  await settled()
  assert.deepEqual(
    requests.map(({ body }) => body),
    [{ events: [{ kind: "back" }] }, { events: [{ kind: "reload" }] }],
  )
  assert.equal(failures[0], "signal timed out")
})

test("no picture is drawn over a later one that was ready before it", async () => {
  const drawn: unknown[] = []
  const canvas = { style: {}, getContext: () => ({ drawImage: ({ name }: { name: string }) => drawn.push(name) }) }
  const ready = new Map<unknown, (picture: object) => void>()
  Object.assign(globalThis, {
    createImageBitmap: (jpeg: unknown) => new Promise((resolve) => ready.set(jpeg, resolve)),
  })
  const view = createView({}, canvas)
  const jpegs = ["first", "second", "third"].map((name) => ({ name }))
  const draws = jpegs.map((jpeg) => view.draw(jpeg))
  for (const n of [1, 0, 2]) {
    ready.get(jpegs[n])?.({ ...jpegs[n], width: 1, height: 1, close: () => undefined })
    await draws[n]
  }
  assert.deepEqual(drawn, ["second", "third"])
})
