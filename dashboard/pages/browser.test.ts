import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  showLine(line: object, frame: { current: unknown }, problem: { current: unknown }): void
  watch(
    profile: string,
    targetId: string,
    signal: AbortSignal,
    watching: { take(line: object): void; lost(error: unknown): void },
  ): Promise<void>
}

startBrowser()
const { showLine, watch } = await loadPageModules<Modules>("pages/browser.tsx")

test("why a tab is not shown is told for as long as it is not", () => {
  const frame = { current: undefined as unknown }
  const problem = { current: undefined as unknown }
  showLine({ hidden: "This site may not be read" }, frame, problem)
  assert.match(String(problem.current), /may not be read/)
  showLine({ image: "picture" }, frame, problem)
  assert.deepEqual([frame.current, problem.current], [{ image: "picture" }, undefined])
})

test("a live picture of which nothing is heard any more is told to be lost, and begun anew by itself", async ({
  mock,
}) => {
  mock.timers.enable({ apis: ["setTimeout"] })
  mock.method(Math, "random", () => 0.5)
  const { fetch } = globalThis
  let begun = 0
  let isCut = false
  mock.method(globalThis, "fetch", async (path: string, init: RequestInit) => {
    if (!path.includes("/live?")) return await fetch(path, init)
    begun += 1
    if (isCut) throw new TypeError("fetch failed")
    if (begun > 4) return Response.json({ error: { message: "The tab is gone" } }, { status: 404 })
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"hidden":"why"}\n'))
        init.signal?.addEventListener("abort", () => controller.error(init.signal?.reason))
      },
    })
    return new Response(body)
  })
  const pass = async (ms: number) => {
    mock.timers.tick(ms)
    await settled()
  }
  const lines: object[] = []
  const problems: string[] = []
  const watched = watch("main", "tab", new AbortController().signal, {
    take: (line) => void lines.push(line),
    lost: (error) => void problems.push(String(error)),
  })
  const refused = assert.rejects(watched, /The tab is gone/)
  await settled()
  await pass(44_000)
  assert.deepEqual([lines, problems], [[{ hidden: "why" }], []])
  isCut = true
  await pass(1_000)
  assert.match(problems.join(), /does not answer/)
  // Later and later.
  await pass(250)
  assert.equal(begun, 2)
  await pass(499)
  assert.equal(begun, 2)
  await pass(1)
  assert.deepEqual([begun, problems.length], [3, 3])
  isCut = false
  await pass(1_000)
  assert.deepEqual([begun, lines.length], [4, 2])
  // What the gateway answers is not asked again.
  await pass(45_000)
  await pass(250)
  await refused
})
