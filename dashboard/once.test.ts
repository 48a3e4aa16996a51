import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../test/support/page-modules.ts"

interface Modules {
  press(message: { chat: string; ref: string }, row: number, column: number): Promise<unknown>
  repeat(runId: string, step?: number): Promise<unknown>
  replayOf(id: number): Promise<unknown>
  perform(what: "run", id: string): Promise<unknown>
  add(wish: object): Promise<unknown>
  allowMore(cap: object, more: object): Promise<unknown>
}

const browser = startBrowser()
const { press, repeat, replayOf, perform, add, allowMore } = await loadPageModules<Modules>(
  "pages/chat/said.tsx",
  "pages/run.tsx",
  "pages/webhooks.tsx",
  "pages/schedules.tsx",
  "pages/usage.tsx",
)

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

test("a replay, a run of a schedule, and a new schedule are one each after a lost answer", async () => {
  for (const act of [() => replayOf(1), () => perform("run", "tea"), () => add({ text: "Tea", in: "20m" })]) {
    const [first, second, third] = await postsOf(act)
    assert.deepEqual(second, first)
    assert.notDeepEqual(third, first)
  }
  assert.notDeepEqual((await postsOf(() => perform("run", "tea")))[0], (await postsOf(() => perform("run", "milk")))[0])
})

test("more is allowed beyond the cap that is shown", async () => {
  const cap = { id: "day", nearest: "dollars", dollars: { limit: 5, allowed: 1 }, tokens: null }
  const [post] = await postsOf(() => allowMore(cap, { dollars: 1 }))
  assert.deepEqual(post, { cap: "day", dollars: 1, ifMostIs: 6 })
})

test("what is pressed again long after a lost answer is meant anew", async ({ mock }) => {
  mock.timers.enable({ apis: ["Date"] })
  const lose = async () => {
    const done = perform("run", "tea")
    await settled()
    const [post] = browser.asked.splice(0)
    post?.fail()
    await assert.rejects(done)
    return post?.body
  }
  const first = await lose()
  mock.timers.tick(599_999)
  assert.deepEqual(await lose(), first)
  mock.timers.tick(1)
  assert.notDeepEqual(await lose(), first)
})
