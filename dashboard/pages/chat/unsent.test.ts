import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../../test/support/page-modules.ts"

interface Modules {
  startStream(): void
  say(item: { id: string; chat: string; text: string; files: [] }): Promise<void>
  forget(id: string): void
  unsent: { current: Record<string, { problem?: string }> }
}

const browser = startBrowser()
const { startStream, say, forget, unsent } = await loadPageModules<Modules>("stream.ts", "pages/chat/unsent.ts")
const saying = (id: string, chat = "one") => ({ id, chat, text: `words of ${id}`, files: [] as [] })
/** Takes what was asked since the last time. */
const posted = () => browser.asked.splice(0)
const ids = (asked: ReturnType<typeof posted>) => asked.map(({ body }) => (body as { id: string }).id)

test("what is written in a conversation arrives in its order, also after a cut", async () => {
  startStream()
  await settled()
  browser.tell("ready", {})
  await settled()
  void say(saying("a"))
  void say(saying("b"))
  void say(saying("c", "two"))
  await settled()
  const first = posted()
  assert.deepEqual(ids(first), ["a", "c"])
  first[0]?.answer({})
  await settled()
  const second = posted()
  assert.deepEqual(ids(second), ["b"])
  forget("a")
  forget("c")
  // It hangs on the connection that was lost, and keeps neither itself nor what was written since from being sent.
  void say(saying("d"))
  await settled()
  assert.deepEqual(ids(posted()), [])
  browser.tell("ready", {})
  await settled()
  const again = posted()
  assert.deepEqual(ids(again), ["b"])
  assert.equal(unsent.current["b"]?.problem, undefined)
  again[0]?.fail()
  await settled()
  assert.match(unsent.current["b"]?.problem ?? "", /does not answer/)
  const last = posted()
  assert.deepEqual(ids(last), ["d"])
  last[0]?.answer({})
})
