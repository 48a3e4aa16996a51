import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { testStore } from "../../../test/support/store.ts"
import type { TurnObserver } from "../../agent/turn-input.ts"
import { systemIds } from "../../kernel/index.ts"
import { planTerminalMessage } from "./intake.ts"
import { type TerminalOptions, createTerminal, createTerminalOutlet } from "./terminal.ts"

async function begin(context: TestContext) {
  const store = await testStore(context)
  const listeners = new Set<(runId: string) => void>()
  const stopped: string[] = []
  const outlet = createTerminalOutlet({ newStream: () => `stream-${(streams += 1)}` })
  let streams = 0
  let isPaused = false
  const options = {
    store,
    onJobStopped(listener: (runId: string) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isPaused: () => isPaused,
    stopTurn: async ({ runId }: { runId: string }) => void stopped.push(runId),
  } as unknown as TerminalOptions
  const route = { channel: "terminal", account: "default", chatId: "1", chatKind: "private" }
  await store.write(async ({ addJob }) => {
    addJob({ runId: "run-1", kind: "turn", laneKey: "lane", payload: { sessionKey: "s", purpose: "chat", route } })
    addJob({
      runId: "run-2",
      kind: "turn",
      laneKey: "lane",
      payload: { sessionKey: "s", purpose: "chat", route: null },
    })
  })
  const set = (state: string) =>
    store.write(async ({ prepare }) => void prepare("update job set state = ?, error = 'why' where id = 1").run(state))
  return {
    store,
    outlet,
    terminal: createTerminal(options, outlet),
    listeners,
    stopped,
    set,
    route,
    pause: (value: boolean) => (isPaused = value),
  }
}
const never = new AbortController().signal

test("a run is told as it stands, and whoever has asked leaves nobody listening", async (context) => {
  const { terminal, listeners, set } = await begin(context)
  for (const [state, told] of [
    ["ready", "waiting"],
    ["running", "running"],
    ["done", "done"],
    ["dead", "failed"],
    ["cancelled", "stopped"],
  ] as const) {
    await set(state)
    const waitSeconds = told === "waiting" || told === "running" ? 0 : 60
    const progress = await terminal.follow("run-1", { after: 0, waitSeconds }, never)
    assert.deepEqual(
      [progress.state, progress.session, progress.error],
      [told, "s", told === "failed" ? "why" : undefined],
    )
    assert.equal(listeners.size, 0)
  }
  for (const runId of ["run-2", "nothing"])
    await assert.rejects(terminal.follow(runId, { after: 0, waitSeconds: 0 }, never), { code: "turn-not-found" })
  assert.equal(listeners.size, 0)
})

test("what a run waits for is told with it", async (context) => {
  const { terminal, store, pause, set } = await begin(context)
  const waitsFor = async () => (await terminal.follow("run-1", { after: 0, waitSeconds: 0 }, never)).waitsFor
  assert.equal(await waitsFor(), undefined)
  await store.write(async ({ prepare }) => void prepare("update job set state = 'running' where id = 2").run())
  assert.equal(await waitsFor(), "turn")
  pause(true)
  assert.equal(await waitsFor(), "pause")
  await set("running")
  assert.equal(await waitsFor(), undefined)
})

test("whoever waits is told of words, of the end, and may go", async (context) => {
  const { terminal, outlet, listeners, set, route } = await begin(context)
  const observer = outlet.observe({ route, purpose: "chat" } as never, "run-1") as Required<TurnObserver>
  assert.equal(
    outlet.observe({ route: { ...route, channel: "chatapp" }, purpose: "chat" } as never, "run-9"),
    undefined,
  )
  const follow = (more: object = {}, signal = never) =>
    terminal.follow("run-1", { after: 0, waitSeconds: 60, ...more }, signal)
  const words = follow()
  observer.onDelta({ kind: "text", text: "one two " } as never)
  const { text, stream, after } = await words
  assert.deepEqual([text, after], ["one two", 7])
  assert.equal((await follow({ after: 4, stream, waitSeconds: 0 })).text, "two")
  assert.equal((await follow({ after: 4, stream: "another", waitSeconds: 0 })).text, "one two")
  const end = follow({ after, stream })
  await set("done")
  for (const listener of listeners) listener("run-1")
  assert.equal((await end).state, "done")
  await set("running")
  const abort = new AbortController()
  const gone = follow({ after, stream }, abort.signal)
  abort.abort()
  assert.equal((await gone).text, "")
  assert.equal(listeners.size, 0)
})

test("only a run that has not ended is stopped", async (context) => {
  const { terminal, stopped, set } = await begin(context)
  assert.equal((await terminal.stop("run-1")).state, "waiting")
  await set("running")
  await terminal.stop("run-1")
  await set("done")
  assert.equal((await terminal.stop("run-1")).state, "done")
  assert.deepEqual(stopped, ["run-1", "run-1"])
})

test("a message is for an agent that there is, and for a session of that agent", () => {
  const options = {
    ids: systemIds,
    mediaRoot: "/media",
    defaultAgentId: () => "main",
    isAgent: (agentId: string) => agentId !== "nobody",
    isModel: () => false,
    maxPictureBytes: () => 1,
    now: () => ({ ms: 0, text: "noon" }),
  }
  const session = (more: object) => planTerminalMessage(options, { id: "1", message: "hello", ...more }).answer.session
  assert.equal(session({}), "agent:main:main")
  assert.equal(session({ agent: "work" }), "agent:work:main")
  assert.equal(session({ session: " Notes " }), "agent:main:terminal:notes")
  assert.throws(() => session({ agent: "nobody" }), /no agent named "nobody"/)
  assert.throws(() => session({ agent: "main", session: "agent:work:main" }), /another agent/)
  assert.throws(() => session({ session: "a b" }), /no name of a session/)
})
