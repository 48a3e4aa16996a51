import assert from "node:assert/strict"
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createLogConsole } from "./log-console.ts"

/** No descriptor of this process has the number. */
const noDescriptor = 1_000_000

const asStream = (stream: PassThrough) => stream as unknown as NodeJS.WriteStream

test("lines for a slow reader wait up to a bound; beyond it they are lost, and come again when there is room", () => {
  const stream = new PassThrough({ highWaterMark: 1 })
  const { write, close } = createLogConsole(asStream(stream), noDescriptor)
  const line = "x".repeat(64 * 1024)
  const taken = Array.from({ length: 10 }, () => write(line))
  assert.ok(taken[0] && taken[3] && !taken[9], JSON.stringify(taken))
  while (stream.read() !== null);
  assert.ok(write("again\n"))
  close()
})

test("a reader that has gone costs its lines and nothing else", () => {
  const stream = new PassThrough()
  const { write } = createLogConsole(asStream(stream), noDescriptor)
  assert.equal(stream.listenerCount("error"), 1)
  createLogConsole(asStream(stream), noDescriptor)
  assert.equal(stream.listenerCount("error"), 1)
  stream.destroy()
  assert.equal(write("line\n"), false)
})

test("a file is written past its stream, and is still open when the console is closed", () => {
  const file = join(temporaryFolder(), "stderr")
  const descriptor = openSync(file, "a")
  const stream = new PassThrough()
  const { write, close } = createLogConsole(asStream(stream), descriptor)
  assert.ok(write("one\n"))
  close()
  writeSync(descriptor, "two\n")
  closeSync(descriptor)
  assert.equal(readFileSync(file, "utf8"), "one\ntwo\n")
  assert.equal(stream.readableLength, 0)
  assert.equal(write("three\n"), false, "its descriptor is closed")
})
