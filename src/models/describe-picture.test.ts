import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { AppError } from "../kernel/index.ts"
import type { ModelRegistry, ModelRequest, ModelSelection } from "./contract.ts"
import { createDescribePicture } from "./describe-picture.ts"

const asker = { agentId: "main", sessionKey: "agent:main:main", origin: "owner" }
const picture = { mediaType: "image/webp", data: "AAAA" }

/** Models by name; undefined is the agent's own. Those that see answer with their name. */
function registry(vision: Record<string, boolean>, answer?: (request: ModelRequest) => string) {
  const asked: { model: string; request: ModelRequest }[] = []
  const models: ModelRegistry = {
    describe({ model = "own" }: ModelSelection) {
      const sees = vision[model]
      if (sees === undefined) throw new AppError("model-not-allowed", model)
      return { id: model, contextTokens: 1_000, promptTokens: 1_000, vision: sees, thinking: "off", fallbacks: [] }
    },
    async complete({ model = "own" }, request) {
      asked.push({ model, request })
      const text = answer ? answer(request) : ` A cat\n seen by ${model} `
      const unknown = { cacheReadTokens: undefined, cacheWriteTokens: undefined, reasoningTokens: undefined }
      const usage = { inputTokens: 1, outputTokens: 1, ...unknown }
      return { text, reasoning: "", toolCalls: [], finishReason: "stop", usage, model }
    },
  }
  return { models, asked }
}

test("the agent's own model looks if it can, else the first allowed one that does", async () => {
  const cases: [Record<string, boolean>, string | undefined][] = [
    [{ own: true, a: true }, "A cat seen by own"],
    [{ own: false, a: false, b: true, c: true }, "A cat seen by b"],
    [{ a: true }, "A cat seen by a"],
    [{ own: false, a: false }, undefined],
  ]
  for (const [vision, wanted] of cases) {
    const { models, asked } = registry(vision)
    const describePicture = createDescribePicture({ models, allowed: () => ["a", "b", "c"], log: silentLog })
    assert.equal(await describePicture(asker, picture, AbortSignal.timeout(5_000)), wanted)
    assert.equal(asked.length, wanted === undefined ? 0 : 1)
    for (const { request } of asked) {
      assert.equal(request.maxOutputTokens, 150)
      assert.deepEqual(request.usedFor, { purpose: "picture", sessionKey: "agent:main:main", origin: "owner" })
      assert.deepEqual(request.messages, [{ role: "user", content: [{ type: "image", ...picture }] }])
    }
  }
})

test("a model that fails or says nothing leaves the picture undescribed; one that says too much is cut", async () => {
  const run = (answer: () => string) => {
    const { models } = registry({ own: true }, answer)
    return createDescribePicture({ models, allowed: () => [], log: silentLog })(
      asker,
      picture,
      AbortSignal.timeout(5_000),
    )
  }
  const fail = () => {
    throw new AppError("model-failed", "no")
  }
  assert.equal(await run(fail), undefined)
  assert.equal(await run(() => "  "), undefined)
  assert.equal((await run(() => "x".repeat(5_000)))?.length, 600)
})
