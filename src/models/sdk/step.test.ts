import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { afterEach, beforeEach, describe, test } from "node:test"
import { promisify } from "node:util"
import { systemClock, systemIds } from "../../kernel/index.ts"
import type { ProviderSettings } from "../view.ts"
import { createSdkInterface } from "./index.ts"
import { frames, makeCall, type ReplayServer, runCall, startReplay } from "./sdk.fixture.ts"

let server: ReplayServer
beforeEach(async () => {
  server = await startReplay()
})
afterEach(() => server.stop())

const starts: [ProviderSettings["kind"], string][] = [
  [
    "anthropic",
    frames(
      { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
    ),
  ],
  [
    "openai",
    frames(
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m" } },
      { type: "response.output_text.delta", item_id: "m", output_index: 0, delta: "Hi" },
    ),
  ],
  ["google", frames({ candidates: [{ content: { parts: [{ text: "Hi" }] } }] })],
]

for (const [kind, start] of starts) {
  describe(`a step of kind ${kind}`, () => {
    const call = (signal: AbortSignal) =>
      makeCall({ kind, model: "m", settings: { baseUrl: server.origin } }, { signal })

    test("hands text on while the rest is being written, and ends the request of whoever stops reading", async () => {
      server.queue({ pieces: [start], isHeld: true })
      const ask = createSdkInterface({ environment: {}, clock: systemClock, ids: systemIds })
      for await (const event of ask(call(new AbortController().signal))) {
        assert.deepEqual(event.type === "text" && event.text, "Hi")
        break
      }
      await server.last().closed
    })

    test("ends with the signal's reason when it is aborted between two pieces", async () => {
      server.queue({ pieces: [start], isHeld: true })
      const controller = new AbortController()
      const ask = createSdkInterface({ environment: {}, clock: systemClock, ids: systemIds })
      const reading = async () => {
        for await (const event of ask(call(controller.signal))) {
          if (event.type === "text") controller.abort(new Error("enough"))
        }
      }
      await assert.rejects(reading(), { message: "enough" })
      await server.last().closed
    })
  })
}

test("a provider of another interface is not asked here", async () => {
  await assert.rejects(runCall(makeCall({ kind: "openai-compatible", model: "m" })), { code: "internal" })
})

test("no package of a provider is loaded before one of its kind is asked", async () => {
  const script = `
    const { registerHooks } = await import("node:module")
    const loaded = []
    registerHooks({ resolve: (name, context, next) => { loaded.push(name); return next(name, context) } })
    const { createSdkInterface } = await import("./src/models/sdk/index.ts")
    createSdkInterface({ environment: {}, clock: {}, ids: {} })
    console.log(JSON.stringify(loaded.filter((name) => name.startsWith("@ai-sdk/") || name === "jose")))`
  const argv = [...process.execArgv.filter((flag) => flag.startsWith("--import")), "--input-type=module", "-e", script]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: new URL("../../..", import.meta.url) })
  assert.deepEqual(JSON.parse(stdout), [])
})
