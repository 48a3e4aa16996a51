import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../test/support/page-modules.ts"

interface Modules {
  press(message: { chat: string; ref: string }, row: number, column: number): Promise<unknown>
  repeat(runId: string, step?: number): Promise<unknown>
}

const browser = startBrowser()
const { press, repeat } = await loadPageModules<Modules>("pages/chat/said.tsx", "pages/run.tsx")

/** What was posted when it was done twice, of which the first has lost its answer, and once more. */
async function postsOf(act: () => Promise<unknown>) {
  const posts: object[] = []
  for (const isLost of [true, false, false]) {
    const done = act()
    await settled()
    const [post] = browser.asked.splice(0)
    posts.push(post?.body as object)
    if (isLost) post?.fail()
    else post?.answer({})
    await done.catch(() => undefined)
  }
  return posts
}

test("a button whose answer was lost is pressed again as the same press, and later as another", async () => {
  const [first, second, third] = await postsOf(() => press({ chat: "one", ref: "m1" }, 0, 1))
  assert.deepEqual(second, first)
  assert.notDeepEqual(third, first)
  assert.notDeepEqual((await postsOf(() => press({ chat: "one", ref: "m1" }, 0, 0)))[0], first)
})

test("a run that is wanted again after a lost answer is one run", async () => {
  const [first, second, third] = await postsOf(() => repeat("run", 2))
  assert.deepEqual(second, first)
  assert.notDeepEqual(third, first)
})
