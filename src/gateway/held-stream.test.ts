import assert from "node:assert/strict"
import { test } from "node:test"
import { setImmediate as turnOfTheLoop } from "node:timers/promises"
import { heldStream } from "./held-stream.ts"

function source() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let reason: unknown
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: (given) => void (reason = given ?? "cancelled"),
  })
  return { stream, controller: controller as ReadableStreamDefaultController<Uint8Array>, cancelled: () => reason }
}
const text = (words: string) => new TextEncoder().encode(words)
const read = async (reader: ReadableStreamDefaultReader<Uint8Array>) => {
  const { done, value } = await reader.read()
  return done ? "over" : new TextDecoder().decode(value)
}

test("pieces pass as long as what let the listener in holds, and none after", async () => {
  const { stream, controller, cancelled } = source()
  let holds = true
  const reader = heldStream(stream, () => holds, 60_000).getReader()
  controller.enqueue(text("one"))
  assert.equal(await read(reader), "one")
  holds = false
  controller.enqueue(text("two"))
  assert.equal(await read(reader), "over")
  assert.equal(cancelled(), "cancelled")
})

test("it ends while nothing comes, too, and with its source, and leaves the source with its listener", async () => {
  const quiet = source()
  let holds = true
  const waiting = read(heldStream(quiet.stream, () => holds, 1).getReader())
  holds = false
  assert.equal(await waiting, "over")
  assert.equal(quiet.cancelled(), "cancelled")
  const short = source()
  const reader = heldStream(short.stream, () => true, 60_000).getReader()
  short.controller.enqueue(text("all"))
  short.controller.close()
  assert.deepEqual([await read(reader), await read(reader)], ["all", "over"])
  const left = source()
  await heldStream(left.stream, () => true, 60_000).cancel("gone")
  assert.equal(left.cancelled(), "gone")
})

test("a source that fails is told to its listener, and nobody is asked about any more", async () => {
  const { stream, controller } = source()
  let asked = 0
  const reader = heldStream(stream, () => (asked += 1) > 0, 1).getReader()
  const failing = read(reader)
  controller.error(new Error("cut"))
  await assert.rejects(failing, /cut/)
  const before = asked
  const later = Date.now() + 20
  while (Date.now() < later) await turnOfTheLoop()
  assert.equal(asked, before)
})
