import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  createTrial(): { result: { current: unknown }; post(body: object): Promise<unknown> }
}

const browser = startBrowser()
const { createTrial } = await loadPageModules<Modules>("pages/webhooks.tsx")

test("of two trials the answer to the second stands there in the end, also where the first has failed", async () => {
  const { result, post } = createTrial()
  const failed = assert.rejects(post({ body: "first" }), /wrong path/)
  const second = post({ body: "second" })
  const third = post({ body: "third" })
  for (const n of [1, 2, 3]) {
    await settled()
    const [request, ...others] = browser.asked.splice(0)
    assert.equal(others.length, 0)
    if (n === 1) request?.answer({ error: { message: "wrong path" } }, 400)
    else request?.answer({ answers: request.body })
  }
  await Promise.all([failed, second, third])
  assert.deepEqual(result.current, { answers: { body: "third" } })
})
