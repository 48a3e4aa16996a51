import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../../test/support/page-modules.ts"

interface Draft {
  chat: string
  runId: string
  stream: string
  at: number
  text: string
  isOver?: true
}
interface Modules {
  startStream(): void
  createLive(chat: string): { drafts: { current: readonly Draft[] }; reload(): void; listen(): () => void }
}

const browser = startBrowser()
const { createLive, startStream } = await loadPageModules<Modules>("stream.ts", "pages/chat/live.ts")
startStream()

const chat = "agent:main:main"
const draft = (at: number, text: string, stream = "s"): Draft => ({ chat, runId: "run", stream, at, text })

/** What was asked for next, with what the gateway answers to it. */
async function begin() {
  await settled()
  browser.asked.splice(0)
  const live = createLive(chat)
  const end = live.listen()
  const answer = async (...drafts: Draft[]) => {
    browser.asked.shift()?.answer({ items: [], drafts, unsent: [] })
    await settled()
  }
  const tell = async (entry: Draft) => {
    browser.tell("draft", entry)
    await settled()
  }
  return { live, end, answer, tell, texts: () => live.drafts.current.map(({ text }) => text) }
}

test("an answer that ends while the conversation is read is over, though what was read does not know it", async ({
  mock,
}) => {
  const { live, end, answer, tell } = await begin()
  mock.timers.enable({ apis: ["setTimeout"] })
  live.reload()
  await tell({ ...draft(0, ""), isOver: true })
  await answer(draft(0, "It is"))
  assert.deepEqual(live.drafts.current, [{ ...draft(0, "It is"), isOver: true }])
  mock.timers.tick(3_000)
  assert.deepEqual(live.drafts.current, [])
  end()
})

test("an answer that goes on while the conversation is read is not cut, and asked for once", async () => {
  const { live, end, answer, tell, texts } = await begin()
  live.reload()
  await tell(draft(5, " four"))
  await tell(draft(10, " o'clock"))
  assert.equal(browser.asked.length, 1)
  await answer(draft(0, "It is"))
  assert.deepEqual(texts(), ["It is four o'clock"])
  assert.equal(browser.asked.length, 0)
  // What is still missing is asked for.
  await tell(draft(40, " sharp"))
  assert.equal(browser.asked.length, 1)
  end()
})
