import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { testStore } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import type { TurnInput, TurnObserver } from "../../agent/turn-input.ts"
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

const intake = {
  ids: systemIds,
  mediaRoot: "/media",
  defaultAgentId: () => "main",
  isAgent: (agentId: string) => agentId !== "nobody",
  isModel: () => false,
  maxPictureBytes: () => 100,
  now: () => ({ ms: 5, text: "noon" }),
}

test("a message is for an agent that there is, and for a session of that agent", () => {
  const session = (more: object) => planTerminalMessage(intake, { id: "1", message: "hello", ...more }).answer.session
  assert.equal(session({}), "agent:main:main")
  assert.equal(session({ agent: "work" }), "agent:work:main")
  assert.equal(session({ session: " Notes " }), "agent:main:terminal:notes")
  assert.equal(session({ session: "agent:work:chatapp:group:-1" }), "agent:work:chatapp:group:-1")
  assert.throws(() => session({ agent: "nobody" }), /no agent named "nobody"/)
  assert.throws(() => session({ agent: "main", session: "agent:work:main" }), /another agent/)
  assert.throws(() => session({ session: "a b" }), /no name of a session/)
  for (const rest of ["hook:mail", "guest:5", "chatapp:guest:5"])
    assert.throws(() => session({ session: `agent:main:${rest}` }), /belongs to a guest or to a webhook/, rest)
})

test("words are the owner's, what they are about is somebody else's, and sites that they name are told", () => {
  const inputOf = (more: object) => {
    const { entry } = planTerminalMessage(intake, { id: "1", message: "see https://a.example", ...more })
    const [job] = entry.jobs ?? []
    return job?.payload as unknown as TurnInput
  }
  const plain = inputOf({})
  assert.deepEqual([plain.origin, plain.trusted, plain.context, plain.sentAt], ["owner", true, undefined, 5])
  assert.ok(plain.sites?.some((site) => site.includes("a.example")))
  assert.equal(inputOf({ message: "hello" }).sites, undefined)
  assert.deepEqual(inputOf({ context: "a mail" }).context, [{ label: "[What the message is about:]", text: "a mail" }])
})

test("a picture is one of the media folder that models take, and what stands beside it is no command", () => {
  const mediaRoot = join(temporaryFolder(), "media")
  mkdirSync(mediaRoot)
  const file = (name: string, content: Buffer) => (writeFileSync(join(mediaRoot, name), content), join(mediaRoot, name))
  const gif = file("a.gif", Buffer.from("GIF89a".padEnd(20)))
  const jobsOf = (picture: string) =>
    planTerminalMessage({ ...intake, mediaRoot }, { id: "1", message: "/new", pictures: [picture] }).entry.jobs ?? []
  const [job, ...more] = jobsOf(gif)
  const { text, media } = (job ?? assert.fail()).payload as unknown as TurnInput
  assert.deepEqual([text, media?.map(({ mediaType }) => mediaType), more], ["/new", ["image/gif"], []])
  for (const [path, reason] of [
    [file("a.txt", Buffer.from("words")), /is no picture that models take/],
    [file("big.gif", Buffer.from("GIF89a".padEnd(101))), /big\.gif/],
    [join(mediaRoot, "gone.gif"), /does not exist/],
    [`${mediaRoot}-other/a.gif`, /not in the media folder/],
    ["/etc/passwd", /not in the media folder/],
  ] as const)
    assert.throws(() => jobsOf(path), { code: "media-refused", message: reason }, path)
})

test("a message that comes again under its id is the first one; an answer is read in order, files by their paths", async (context) => {
  const { store, outlet } = await begin(context)
  const terminal = createTerminal(
    { ...intake, store, onJobStopped: () => () => undefined, isPaused: () => false } as unknown as TerminalOptions,
    outlet,
  )
  const first = await terminal.accept({ id: "m1", message: "hello" })
  assert.deepEqual(await terminal.accept({ id: "m1", message: "other", session: "notes" }), {
    ...first,
    isRepeat: true,
  })
  const row = store.handle.prepare("select id from job where run_id = ?").get(first.runId)
  const route = { channel: "terminal", account: "default", chatId: first.session, chatKind: "private" } as const
  const { sender } = outlet
  const replies = [
    { text: " done ", reasoning: "one\ntwo", media: [{ path: "/a.png", mediaType: "image/png" }] },
    { text: "", media: [{ path: "/b.png", mediaType: "image/png" }] },
    { text: "", reasoning: " why ", media: [] },
  ]
  await store.write(async ({ addOutbox }) => {
    for (const each of replies.flatMap((reply) => sender.plan(route, reply)))
      addOutbox({ ...each, jobId: Number(row?.["id"]) })
  })
  const { messages } = await terminal.follow(first.runId, { after: 0, waitSeconds: 0 }, never)
  assert.deepEqual(
    messages.map(({ text, file }) => [text, file]),
    [
      ["> one\n> two\n\ndone", undefined],
      ["", "/a.png"],
      ["", "/b.png"],
      ["> why", undefined],
    ],
  )
  assert.throws(() => sender.resolveTarget("anybody", undefined), { code: "target-invalid" })
  const kinds = store.handle.prepare("select kind from outbox order by id").all()
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ["text", "file", "file", "text"],
  )
})
