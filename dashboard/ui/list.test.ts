import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Run {
  id: number
  state: string
}

interface Page {
  items: Run[]
  next: null
}

interface Modules {
  startStream(): void
  createList(options: { topic?: string; touchedBy?: string; load: () => Promise<Page> }): {
    items: { current: readonly Run[] }
    refresh(): Promise<void>
    stop(): void
  }
}

const browser = startBrowser()
const { createList, startStream } = await loadPageModules<Modules>("stream.ts", "ui/list.ts")

test("what the stream says while a page is on its way that never comes is not older than what comes later", async () => {
  startStream()
  const loads: PromiseWithResolvers<Page>[] = []
  const list = createList({
    topic: "run",
    load: () => {
      const load = Promise.withResolvers<Page>()
      loads.push(load)
      return load.promise
    },
  })
  loads[0]?.resolve({ items: [{ id: 1, state: "ready" }], next: null })
  await settled()
  void list.refresh()
  browser.tell("run", { id: 1, state: "running" })
  await settled()
  loads[1]?.reject(new Error("The gateway does not answer"))
  await settled()
  assert.deepEqual(list.items.current, [{ id: 1, state: "running" }])
  browser.tell("run", { id: 1, state: "done" })
  await settled()
  assert.deepEqual(list.items.current, [{ id: 1, state: "done" }])
  void list.refresh()
  loads[2]?.resolve({ items: [{ id: 1, state: "done" }], next: null })
  await settled()
  assert.deepEqual(list.items.current, [{ id: 1, state: "done" }])
  list.stop()
})

test("a list that is touched while a page is on its way shows that page, and reads anew after it", async ({ mock }) => {
  startStream()
  const loads: PromiseWithResolvers<Page>[] = []
  const load = () => {
    const one = Promise.withResolvers<Page>()
    loads.push(one)
    return one.promise
  }
  await settled()
  mock.timers.enable({ apis: ["setTimeout"] })
  const list = createList({ touchedBy: "hook", load })
  for (let n = 0; n < 3; n += 1) {
    browser.tell("hook", { id: n })
    await settled()
    mock.timers.tick(1_000)
  }
  loads[0]?.resolve({ items: [{ id: 1, state: "ready" }], next: null })
  await settled()
  assert.deepEqual(list.items.current, [{ id: 1, state: "ready" }])
  assert.equal(loads.length, 1)
  mock.timers.tick(1_000)
  assert.equal(loads.length, 2)
  list.stop()
})
