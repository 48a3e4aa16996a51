import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  createAsked(ask: () => Promise<string>): { known: string | undefined; error: unknown; again(): Promise<void> }
  createQuestion(): {
    answer: { current: unknown }
    problem: { current: unknown }
    put(asked: Promise<string>): Promise<void>
  }
}

startBrowser()
const { createAsked, createQuestion } = await loadPageModules<Modules>("ui/asked.tsx")

function start() {
  const asks: PromiseWithResolvers<string>[] = []
  const asked = createAsked(() => {
    const one = Promise.withResolvers<string>()
    asks.push(one)
    return one.promise
  })
  return { asks, asked }
}

test("an answer is shown also when it was asked for again meanwhile, and no older one after it", async () => {
  const { asks, asked } = start()
  for (let n = 0; n < 3; n += 1) void asked.again()
  asks[1]?.resolve("second")
  await settled()
  assert.equal(asked.known, "second")
  asks[0]?.resolve("first")
  await settled()
  assert.equal(asked.known, "second")
  asks[2]?.resolve("third")
  await settled()
  assert.equal(asked.known, "third")
})

test("a question that failed is no longer told of once a later one is answered, nor in the place of a later one", async () => {
  const { asks, asked } = start()
  for (let n = 0; n < 3; n += 1) void asked.again()
  asks[0]?.reject(new Error("first"))
  await settled()
  assert.equal(asked.error, undefined)
  asks[2]?.reject(new Error("third"))
  await settled()
  assert.match(String(asked.error), /third/)
  void asked.again()
  asks[3]?.resolve("fourth")
  await settled()
  assert.deepEqual([asked.known, asked.error], ["fourth", undefined])
})

test("a form shows the answer to its last question, whatever comes after it", async () => {
  const { answer, problem, put } = createQuestion()
  const asks = Array.from({ length: 3 }, () => Promise.withResolvers<string>())
  const puts = asks.map(({ promise }) => put(promise))
  asks[2]?.resolve("third")
  asks[0]?.resolve("first")
  asks[1]?.reject(new Error("second"))
  await Promise.all(puts)
  assert.deepEqual([answer.current, problem.current], ["third", undefined])
  await put(Promise.reject(new Error("fourth")))
  assert.equal(answer.current, undefined)
  assert.match(String(problem.current), /fourth/)
})
