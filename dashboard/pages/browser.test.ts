import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  showLine(line: object, frame: { current: unknown }, problem: { current: unknown }): void
  watch(profile: string, targetId: string, signal: AbortSignal, take: (line: object) => void): Promise<void>
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

test("a live picture of which nothing is heard any more is told to be lost", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] })
  const { fetch } = globalThis
  mock.method(globalThis, "fetch", async (path: string, init: RequestInit) => {
    if (!path.includes("/live?")) return await fetch(path, init)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"hidden":"why"}\n'))
        init.signal?.addEventListener("abort", () => controller.error(init.signal?.reason))
      },
    })
    return new Response(body)
  })
  const lines: object[] = []
  let problem: unknown
  void watch("main", "tab", new AbortController().signal, (line) => void lines.push(line)).catch((thrown: unknown) => {
    problem = thrown
  })
  await settled()
  mock.timers.tick(44_000)
  await settled()
  assert.deepEqual([lines, problem], [[{ hidden: "why" }], undefined])
  mock.timers.tick(1_000)
  await settled()
  assert.match(String(problem), /does not answer/)
})
