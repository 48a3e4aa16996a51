import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Message {
  id: number
}
interface Where {
  after?: number
  before?: number
}
interface Modules {
  createPages(
    options: { page: number; at?: number; load: (where: Where) => Promise<Message[]> },
    keepPlace: () => void,
  ): {
    items: { current: readonly Message[] | undefined }
    get(where: "older" | "newer" | "begin"): Promise<void>
    follow(): void
    listen(to: { grows?: (entry: { key: string }) => boolean }): () => void
  }
  startStream(): void
}

const browser = startBrowser()
const { createPages, startStream } = await loadPageModules<Modules>("stream.ts", "ui/paged.ts")
const messages = (...ids: number[]) => ids.map((id) => ({ id }))

function start(at?: number) {
  const asked: (PromiseWithResolvers<Message[]> & { where: Where })[] = []
  const load = (where: Where) => {
    const one = { where, ...Promise.withResolvers<Message[]>() }
    asked.push(one)
    return one.promise
  }
  const pages = createPages({ page: 2, load, ...(at === undefined ? {} : { at }) }, () => undefined)
  const answer = async (n: number, ...ids: number[]) => {
    asked[n]?.resolve(messages(...ids))
    await settled()
  }
  return { pages, answer, asked, places: () => asked.map(({ where }) => where) }
}

test("that there is something new while a page is on its way is asked for after it", async () => {
  const { pages, answer, places } = start()
  void pages.get("begin")
  pages.follow()
  await answer(0, 1, 2)
  await answer(1, 3)
  void pages.get("older")
  pages.follow()
  pages.follow()
  await answer(2)
  await answer(3, 4)
  assert.deepEqual(pages.items.current, messages(1, 2, 3, 4))
  assert.deepEqual(places(), [{}, { after: 2 }, { before: 1 }, { after: 3 }])
})

test("what is to be read anew while a page is on its way is read anew after it, whatever becomes of that page", async () => {
  const { pages, answer, asked } = start()
  void pages.get("begin")
  await answer(0, 1, 2)
  void pages.get("newer")
  void pages.get("begin")
  pages.follow()
  asked[1]?.reject(new Error("The gateway does not answer"))
  await settled()
  await answer(2, 7, 8)
  assert.deepEqual(pages.items.current, messages(7, 8))
  assert.equal(asked.length, 3)
})

test("what is new is left to whoever scrolls there where the end is not shown", async () => {
  const { pages, answer, places } = start(5)
  void pages.get("begin")
  pages.follow()
  await answer(0, 5, 6)
  assert.deepEqual(places(), [{ after: 4 }])
  void pages.get("begin")
  await answer(1, 8, 9)
  assert.deepEqual(places().slice(1), [{}])
})

test("a stream that begins, or that has missed something, is read behind, from the end or at the place that is looked at", async () => {
  const [atEnd, above] = [start(), start(5)]
  const stops = [atEnd, above].map(({ pages }) => pages.listen({ grows: ({ key }) => key === "mine" }))
  for (const { pages } of [atEnd, above]) void pages.get("begin")
  await atEnd.answer(0, 7)
  await above.answer(0, 5)
  void above.pages.get("newer")
  await above.answer(1, 6)
  const said = async (event: string, data: object = {}) => {
    const before = [atEnd.asked.length, above.asked.length] as const
    browser.tell(event, data)
    await settled()
    const places = [atEnd.places().slice(before[0]), above.places().slice(before[1])]
    for (const [index, one] of [atEnd, above].entries())
      for (let n = before[index] ?? 0; n < one.asked.length; n += 1) await one.answer(n)
    return places
  }
  startStream()
  await settled()
  // The first answer of the gateway: what has come between the page and the stream.
  assert.deepEqual(await said("ready"), [[{ after: 7 }], [{ after: 6 }]])
  // It goes on where it was cut.
  assert.deepEqual(await said("ready"), [[], []])
  assert.deepEqual(await said("session", { key: "other" }), [[], []])
  assert.deepEqual(await said("session", { key: "mine" }), [[{ after: 7 }], [{ after: 6 }]])
  assert.deepEqual(await said("reset"), [[{}], [{ after: 6 }]])
  for (const stop of stops) stop()
  assert.deepEqual(await said("reset"), [[], []])
})
