import assert from "node:assert/strict"
import { test } from "node:test"
import { createBackground } from "./background.ts"
import type { Log } from "./log.ts"

test("failures of work that nobody awaits are told with its name, and a stop can wait for all of it", async () => {
  const told: unknown[] = []
  const { run, idle } = createBackground({ error: (fields: unknown) => told.push(fields) } as unknown as Log)
  const gate = Promise.withResolvers<void>()
  const failure = new Error("no")
  let isDone = false
  run("first", async () => {
    await gate.promise
    // Begun while a stop already waits.
    run("second", async () => {
      await new Promise((resolve) => setImmediate(resolve))
      isDone = true
    })
    throw failure
  })
  run("thrown at once", () => {
    throw failure
  })
  const stopped = idle()
  gate.resolve()
  await stopped
  assert.ok(isDone)
  assert.deepEqual(told, [
    { err: failure, work: "thrown at once" },
    { err: failure, work: "first" },
  ])
})
