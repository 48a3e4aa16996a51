import assert from "node:assert/strict"
import { test } from "node:test"
import type { HandsView } from "./contract.ts"
import { streamOf } from "./stream.ts"

test("a tab that cannot be watched leaves no stream behind that beats on for nobody", async () => {
  let viewer: (HandsView & { stream?: ReadableStream<Uint8Array> }) | undefined
  const watch = async (given: HandsView) => {
    viewer = given
    throw new Error("the tab is gone")
  }
  await assert.rejects(streamOf({ watch, input: async () => undefined, ended: new AbortController().signal }), {
    message: "the tab is gone",
  })
  // It ends: a reader of one that beats on would wait for its next beat.
  const pieces: Uint8Array[] = []
  for await (const piece of viewer?.stream ?? []) pieces.push(piece)
  assert.deepEqual(
    pieces.map(([kind]) => kind),
    [3],
  )
})
