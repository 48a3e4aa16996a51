import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { AppError, createBackground } from "../kernel/index.ts"
import { createNodeTabs } from "./node-tabs.ts"

test("a disk that does not say for a moment who waits for a tab ends nothing, and is asked again", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] })
  const answers = [() => assert.fail(new AppError("storage-failed", "input/output error")), () => ["n"]]
  const asked: string[] = []
  const tabs = createNodeTabs(
    { background: createBackground(silentLog), log: silentLog },
    {
      waits: {
        ask: async () => 0,
        attached: async () => undefined,
        expire: () => assert.fail(),
        nodes: () => answers.shift()?.() ?? [],
      },
      isConnected: () => true,
      tabs: async (node) => (asked.push(node), []),
    },
  )
  context.after(() => tabs.stop())
  tabs.start()
  context.mock.timers.tick(2_000)
  assert.deepEqual(asked, [])
  context.mock.timers.tick(2_000)
  assert.deepEqual(asked, ["n"])
})
