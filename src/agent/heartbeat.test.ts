import assert from "node:assert/strict"
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError } from "../kernel/index.ts"
import {
  type AgentParts,
  call,
  chat,
  main,
  movableClock,
  promptOf,
  scriptedModels,
  smallTool,
  startAgent,
  stuckAnswer,
} from "./agent.fixture.ts"
import { heartbeatOutcome } from "./heartbeat.ts"
import { TurnStopped } from "./stopped.ts"
import { heartbeatJob } from "./turn-input.ts"

const hour = 60 * 60 * 1000
/** Noon, so that a day's reset of the session and the ends of active hours are far away. */
const noon = new Date(2026, 5, 10, 12, 0).getTime()

function clockAt(time: number) {
  const clock = movableClock()
  clock.forward(time - clock.now())
  return clock
}

/** `HH:MM` of the clock in UTC, moved by some hours. */
const timeOfDay = (time: number, hours: number) => new Date(time + hours * hour).toISOString().slice(11, 16)

function workspaceWith(text: string): string {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "HEARTBEAT.md"), text)
  return workspace
}

const skipped = (job: { result: string | null }) => (JSON.parse(job.result ?? "{}") as { skipped?: string }).skipped
const outcome = (job: { result: string | null }) => (JSON.parse(job.result ?? "{}") as { delivered?: string }).delivered

describe("a heartbeat is skipped", () => {
  test("when HEARTBEAT.md holds nothing to do", async (context) => {
    for (const text of ["", "# Tasks\n\n- \n* [ ]\n+ [x]\n", "\n \n"]) {
      const agent = await startAgent(context, { workspace: workspaceWith(text) })
      assert.equal(skipped(await agent.wake()), "HEARTBEAT.md is empty")
      assert.equal(agent.models.requests.length, 0)
    }
  })

  test("outside its active hours", async (context) => {
    const activeHours = { start: timeOfDay(noon, 2), end: timeOfDay(noon, 4), timezone: "user" as const }
    const agent = await startAgent(context, { clock: clockAt(noon), heartbeat: { activeHours } })
    assert.equal(skipped(await agent.wake()), "outside active hours")
  })

  test("when what woke it was shown by another turn in the meantime", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["seen"]) })
    await agent.addEvent("the door is open")
    await agent.say("hello")
    assert.equal(skipped(await agent.wake("wake")), "no events are waiting")
    assert.equal(skipped(await agent.wake("hook")), "no events are waiting")
  })
})

describe("a heartbeat asks the model", () => {
  test("at its interval, with the words of HEARTBEAT.md", async (context) => {
    const workspace = workspaceWith("- look after the oven\n")
    const agent = await startAgent(context, { workspace, models: scriptedModels(["HEARTBEAT_OK"]) })
    await agent.wake()
    const prompt = promptOf(agent.models.requests[0])
    assert.match(prompt, /^\[heartbeat \w{3} \S+Z\. Nobody asks[^\]]+\]\nIs anything amiss\?/)
    assert.match(prompt, /HEARTBEAT\.md:\n- look after the oven\n$/)
  })

  test("with the beginning of a HEARTBEAT.md that is longer than anybody reads every half hour", async (context) => {
    const agent = await startAgent(context, {
      workspace: workspaceWith(`- ${"x".repeat(20_000)}`),
      models: scriptedModels(["HEARTBEAT_OK"]),
    })
    await agent.wake()
    assert.match(promptOf(agent.models.requests[0]), /HEARTBEAT\.md:\n- x{15998}$/)
  })

  test("that the configuration names for heartbeats, and never with a file that a link leads to", async (context) => {
    const workspace = temporaryFolder()
    const elsewhere = join(temporaryFolder(), "notes.md")
    writeFileSync(elsewhere, "- a secret of somebody else")
    symlinkSync(elsewhere, join(workspace, "HEARTBEAT.md"))
    const models = scriptedModels(["HEARTBEAT_OK", "HEARTBEAT_OK"])
    const agent = await startAgent(context, { workspace, models, heartbeat: { model: "small" } })
    await agent.wake()
    const [asked] = agent.models.requests
    assert.equal(asked?.selection.model, "small")
    assert.match(promptOf(asked), /\(There is no HEARTBEAT\.md\.\)$/)
  })

  test("when there is no HEARTBEAT.md, and says so", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["HEARTBEAT_OK"]) })
    await agent.wake()
    assert.match(promptOf(agent.models.requests[0]), /\(There is no HEARTBEAT\.md\.\)$/)
  })

  test("within its active hours, also across midnight", async (context) => {
    for (const [start, end] of [
      [-1, 1],
      [-20, 1],
      [0, 8],
    ] as const) {
      const activeHours = { start: timeOfDay(noon, start), end: timeOfDay(noon, end), timezone: "UTC" }
      const models = scriptedModels(["HEARTBEAT_OK"])
      const agent = await startAgent(context, { clock: clockAt(noon), heartbeat: { activeHours }, models })
      assert.equal(skipped(await agent.wake()), undefined)
    }
  })

  test("when events wait, whatever the hour and however empty HEARTBEAT.md is", async (context) => {
    const activeHours = { start: timeOfDay(noon, 2), end: timeOfDay(noon, 4), timezone: "user" as const }
    for (const reason of ["wake", "hook", "interval"] as const) {
      const agent = await startAgent(context, {
        clock: clockAt(noon),
        heartbeat: { activeHours },
        workspace: workspaceWith("# nothing\n"),
        models: scriptedModels(["The door is open."]),
      })
      await agent.addEvent("door opened", { trusted: false, origin: "webhook" })
      await agent.wake(reason)
      assert.match(promptOf(agent.models.requests[0]), /door opened/)
      assert.equal(agent.replies()[0]?.text, "The door is open.")
    }
  })

  test("once for several wakes that wait", async (context) => {
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<string>()
    const models = scriptedModels([
      async () => {
        asked.resolve()
        return await answered.promise
      },
      "The door is open.",
    ])
    const agent = await startAgent(context, { models })
    const first = agent.say("hello")
    await asked.promise
    await agent.addEvent("door opened")
    const wakes = [agent.wake("wake"), agent.wake("wake"), agent.wake("hook")]
    answered.resolve("hi")
    await Promise.all([first, ...wakes])
    assert.deepEqual(
      agent.replies().map((reply) => reply.text),
      ["hi", "The door is open."],
    )
  })

  test("by itself at the interval that is set, until it is stopped", async (context) => {
    const asked = Promise.withResolvers<void>()
    const models = scriptedModels([
      async () => {
        asked.resolve()
        return "HEARTBEAT_OK"
      },
    ])
    const agent = await startAgent(context, { models, heartbeat: { every: "5ms" } })
    // The interval alone keeps no process alive.
    const hold = setTimeout(() => asked.reject(new Error("no heartbeat within 5 s")), 5_000)
    agent.heartbeat.start()
    await asked.promise
    agent.heartbeat.stop()
    clearTimeout(hold)
    assert.match(promptOf(models.requests[0]), /^\[heartbeat /)
  })
})

test("a change of the configuration puts off no heartbeat whose interval stays, and a stop ends all", async (context) => {
  const clock = clockAt(noon)
  const heartbeat = { every: "1h" }
  const agent = await startAgent(context, { clock, heartbeat })
  const set = context.mock.method(globalThis, "setInterval")
  const cleared = context.mock.method(globalThis, "clearInterval")
  const running = () => {
    const ended = new Set<unknown>(cleared.mock.calls.map((call) => call.arguments[0]))
    return set.mock.calls.filter((call) => !ended.has(call.result)).length
  }
  const nextAt = () => agent.heartbeat.look("main").nextAt
  agent.heartbeat.start()
  const first = nextAt() ?? 0
  for (let change = 0; change < 3; change += 1) {
    clock.forward(hour / 4)
    agent.heartbeat.start()
    assert.equal(running(), 1)
    assert.equal(nextAt(), first)
  }
  heartbeat.every = "2h"
  agent.heartbeat.start()
  assert.equal(running(), 1)
  assert.ok((nextAt() ?? 0) > first + hour)
  heartbeat.every = "0"
  agent.heartbeat.start()
  assert.equal(running(), 0)
  assert.equal(nextAt(), undefined)
  heartbeat.every = "1h"
  agent.heartbeat.start()
  agent.heartbeat.stop()
  assert.equal(running(), 0)
})

test("a heartbeat runs at its interval, in the session that is named", async (context) => {
  const heartbeat = { every: "20ms", session: "watch" }
  const agent = await startAgent(context, { heartbeat, models: scriptedModels(["HEARTBEAT_OK", "HEARTBEAT_OK"]) })
  const added = new Promise<void>((resolve) => agent.store.onAdded(({ jobs }) => jobs && resolve()))
  agent.heartbeat.start()
  await added
  agent.heartbeat.stop()
  const lanes = await agent.store.db.selectFrom("job").select("lane_key").distinct().execute()
  assert.deepEqual(
    lanes.map((row) => row.lane_key),
    ["agent:main:watch"],
  )
})

test("the system prompt of a session is the same to the byte, whoever speaks and whenever", async (context) => {
  const clock = clockAt(noon)
  const models = scriptedModels(["hi", "HEARTBEAT_OK", "yes", "no"])
  const agent = await startAgent(context, { clock, models })
  await agent.say("hello", { header: "[test private chat 5, message 1]" })
  clock.forward(hour)
  await agent.addEvent("the door is open")
  await agent.wake()
  clock.forward(hour)
  await agent.say("who is there?", { trusted: false, origin: "approved-sender", text: "who?" })
  await agent.say("and now?")
  assert.equal(models.requests.length, 4)
  assert.equal(new Set(models.requests.map(({ system }) => system)).size, 1)
})

describe("the answer to a heartbeat", () => {
  test("is not delivered when nothing needs attention, and keeps no session fresh", async (context) => {
    const clock = clockAt(noon)
    const agent = await startAgent(context, { clock, models: scriptedModels(["hi", "HEARTBEAT_OK all is quiet"]) })
    await agent.say("hello")
    const before = agent.sessions.find(main)?.updatedAt
    clock.forward(hour)
    assert.equal(outcome(await agent.wake()), "nothing needs attention")
    assert.equal(agent.replies().length, 1)
    assert.equal(agent.sessions.find(main)?.updatedAt, before)
  })

  test("leaves no trace in the transcript when nothing was shown and nothing needs attention", async (context) => {
    const clock = clockAt(noon)
    const models = scriptedModels(["hi", "HEARTBEAT_OK", "again hi"])
    const agent = await startAgent(context, { clock, models })
    await agent.say("hello")
    clock.forward(hour)
    await agent.wake()
    await agent.say("hello again")
    const roles = models.requests.at(-1)?.messages.map((message) => message.role)
    assert.deepEqual(roles, ["user", "assistant", "user"])
  })

  test("is remembered by later turns where it was shown something, though nothing needs attention", async (context) => {
    const models = scriptedModels(["HEARTBEAT_OK", "It was the postman."])
    const agent = await startAgent(context, { models })
    await agent.addEvent("the bell has rung", { trusted: true, origin: "system" })
    await agent.wake()
    await agent.say("who was that?")
    assert.match(JSON.stringify(models.requests.at(-1)?.messages[0]), /the bell has rung/)
  })

  test("is delivered when it is an alert, marks the session as used, and is known to the next turn", async (context) => {
    const clock = clockAt(noon)
    const models = scriptedModels(["hi", "The oven is hot.", "since noon"])
    const agent = await startAgent(context, { clock, models })
    await agent.say("hello")
    clock.forward(hour)
    assert.equal(outcome(await agent.wake()), "queued for test chat 5")
    assert.equal(agent.replies()[1]?.text, "The oven is hot.")
    assert.ok((agent.sessions.find(main)?.updatedAt ?? 0) >= noon + hour)
    // Else the answer to "since when?" would be about nothing.
    await agent.say("since when?")
    const messages = models.requests.at(-1)?.messages ?? []
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "user"],
    )
    assert.match(JSON.stringify(messages[3]), /The oven is hot\./)
  })

  test("is an alert when it sends a picture beside the acknowledgment", async (context) => {
    const snap = smallTool("snap", { run: async () => ({ content: [], note: "MEDIA:/m/a.png" }) })
    const models = scriptedModels([[call("snap")], "HEARTBEAT_OK\n MEDIA:/m/a.png"])
    const agent = await startAgent(context, { models, tools: [snap] })
    await agent.wake()
    assert.deepEqual(agent.replies()[0]?.media, ["/m/a.png"])
  })

  test("is no alert for a picture that it did not take", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["HEARTBEAT_OK\nMEDIA:/etc/passwd"]) })
    assert.equal(outcome(await agent.wake()), "nothing needs attention")
  })

  test("is not delivered again within a day when it is the same, and then is", async (context) => {
    const clock = clockAt(noon)
    const hot = "The oven is hot."
    const models = scriptedModels([hot, hot, hot, "The oven is very hot.", hot])
    const agent = await startAgent(context, { clock, models })
    await agent.wake()
    clock.forward(25 * hour)
    await agent.wake()
    clock.forward(hour)
    assert.equal(outcome(await agent.wake()), "the same alert was sent within a day")
    await agent.wake()
    clock.forward(25 * hour)
    await agent.wake()
    assert.deepEqual(
      agent.replies().map((reply) => reply.text),
      [hot, hot, "The oven is very hot.", hot],
    )
  })

  test("leaves what was chosen for its session meanwhile as it is", async (context) => {
    const models = scriptedModels([
      async () => {
        await agent.choose({ reasoning: "on" })
        return "The oven is hot."
      },
    ])
    const agent = await startAgent(context, { models })
    await agent.wake()
    const { reasoning, lastAlert } = agent.sessions.find(main)?.settings ?? {}
    assert.deepEqual([reasoning, lastAlert?.text], ["on", "The oven is hot."])
  })

  test("is remembered where something was done for it, and told as words of others where such were read", async (context) => {
    const tainted: unknown[] = []
    const deliver: AgentParts["deliver"] = (_write, { isTainted }) => `told ${tainted.push(isTainted)}`
    const tools = [smallTool("look"), smallTool("page", { output: "untrusted" })]
    const models = scriptedModels([[call("look")], "HEARTBEAT_OK", [call("page")], "The page is red."])
    const agent = await startAgent(context, { models, tools, deliver })
    await agent.wake()
    assert.match(JSON.stringify(agent.history()), /look done/)
    await agent.wake()
    assert.deepEqual(tainted, [true])
  })

  test("that had nowhere to go may come again", async (context) => {
    const parts: AgentParts = { models: scriptedModels(["The oven is hot.", "The oven is hot."]), alertRoute: null }
    const first = await startAgent(context, parts)
    assert.equal(outcome(await first.wake()), "not delivered: there is no chat for the target last yet")
    await first.stop()
    const { alertRoute: _none, ...rest } = parts
    const second = await startAgent(context, { ...rest, folder: first.folder })
    assert.equal(outcome(await second.wake()), "queued for test chat 5")
  })
})

describe("what of heartbeats is shown", () => {
  const off = { showOk: false, showAlerts: false, useIndicator: false }

  test("is the acknowledgment where that is wanted, and no alert where none is", async (context) => {
    const models = scriptedModels(["HEARTBEAT_OK, all is quiet", "The oven is hot."])
    const agent = await startAgent(context, { models, visibility: { showOk: true, showAlerts: false } })
    assert.equal(outcome(await agent.wake()), "nothing needs attention")
    assert.equal(outcome(await agent.wake()), "an alert that is not shown: showAlerts is off")
    assert.deepEqual(
      agent.replies().map((reply) => reply.text),
      ["HEARTBEAT_OK"],
    )
  })

  test("is the thinking behind an alert, as a message of its own", async (context) => {
    const scripted = scriptedModels(["The oven is hot.", "HEARTBEAT_OK"])
    const complete: typeof scripted.complete = async (selection, request) => ({
      ...(await scripted.complete(selection, request)),
      reasoning: "The sensor says 300.",
    })
    const told: (string | undefined)[] = []
    const deliver: AgentParts["deliver"] = (_write, { text, reasoning, isReasoningApart }) => {
      told.push(text, reasoning, String(isReasoningApart))
      return "told"
    }
    const heartbeat = { includeReasoning: true }
    const agent = await startAgent(context, { models: { ...scripted, complete }, heartbeat, deliver })
    await agent.wake()
    await agent.wake()
    assert.deepEqual(told, ["The oven is hot.", "The sensor says 300.", "true"])
  })

  test("nothing at all: no model is asked, unless events wait or somebody wants one now", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["seen", "HEARTBEAT_OK"]), visibility: off })
    assert.equal(skipped(await agent.wake()), "nothing of it would be shown")
    await agent.addEvent("the door is open")
    assert.equal(outcome(await agent.wake()), "an alert that is not shown: showAlerts is off")
    assert.equal(outcome(await agent.wake("manual")), "nothing needs attention")
    assert.equal(agent.models.requests.length, 2)
  })
})

test("the operator's name for the main session means the main session", async (context) => {
  const agent = await startAgent(context, { heartbeat: { session: "Home" }, mainName: "home" })
  assert.equal(agent.heartbeat.look("main").session, main)
  for (const session of ["Watch", "agent:main:watch"]) {
    const other = await startAgent(context, { heartbeat: { session } })
    assert.equal(other.heartbeat.look("main").session, "agent:main:watch")
  }
})

test("a heartbeat that somebody wants is one of its own beside those that wait", async (context) => {
  const agent = await startAgent(context, { models: scriptedModels([]) })
  await agent.store.write(async (write) => {
    for (const id of ["one", "two"]) write.addJob({ ...heartbeatJob(id, main, "interval"), runAt: 4e12 })
  })
  await agent.heartbeat.runNow("main")
  const jobs = await agent.store.db.selectFrom("job").select("payload").orderBy("id").execute()
  assert.deepEqual(
    jobs.map(({ payload }) => (JSON.parse(payload) as { reason: string }).reason),
    ["interval", "manual"],
  )
})

test("somebody who wants a heartbeat now gets one at night and with an empty file, and can look how they stand", async (context) => {
  const activeHours = { start: timeOfDay(noon, 2), end: timeOfDay(noon, 4), timezone: "user" as const }
  const agent = await startAgent(context, {
    clock: clockAt(noon),
    heartbeat: { activeHours, every: "30m" },
    workspace: workspaceWith("# Tasks\n"),
    models: scriptedModels(["The oven is hot."]),
  })
  agent.heartbeat.start()
  const before = agent.heartbeat.look("main")
  assert.deepEqual(
    [
      before.everyMs,
      Math.round(((before.nextAt ?? 0) - noon) / hour / 0.5),
      before.wouldSkip,
      before.last,
      before.open,
      before.session,
    ],
    [hour / 2, 1, "outside active hours", undefined, undefined, main],
  )
  const job = await agent.wake("manual")
  assert.equal(outcome(job), "queued for test chat 5")
  const { last } = agent.heartbeat.look("main")
  assert.deepEqual([last?.runId, last?.reason, last?.outcome], [job.run_id, "manual", "queued for test chat 5"])
  // What has been looked through is not read again: the last stays, until a later one has ended.
  assert.deepEqual(agent.heartbeat.look("main").last, last)
  await agent.store.write(async (write) =>
    write.prepare("update outbox set state = 'dead', error = 'the bot was blocked' where job_id = ?").run(job.id),
  )
  assert.equal(agent.heartbeat.look("main").last?.outcome, "not delivered to test chat 5: the bot was blocked")
  const next = await agent.wake()
  const looked = agent.heartbeat.look("main")
  assert.deepEqual([looked.last?.runId, looked.last?.reason], [next.run_id, "interval"])
  await agent.store.write(async (write) =>
    write.prepare("update job set state = 'ready', finished_at = null where run_id = ?").run(next.run_id),
  )
  const again = agent.heartbeat.look("main")
  assert.deepEqual([again.last?.runId, again.open], [job.run_id, "ready"])
  agent.heartbeat.stop()
  assert.equal(agent.heartbeat.look("main").nextAt, undefined)
})

test("how heartbeats stand is told of what runs, of what waits for them, and of where an alert would go", async (context) => {
  const { asked, answer } = stuckAnswer()
  const heartbeat = { target: "test", to: "9" }
  const agent = await startAgent(context, { models: scriptedModels([answer]), heartbeat })
  const before = agent.heartbeat.look("main")
  assert.deepEqual(
    [before.target, before.route, before.shows, before.waitingEvents],
    ["test 9", chat, { showOk: false, showAlerts: true, useIndicator: true }, false],
  )
  await agent.heartbeat.runNow("main")
  await asked
  await agent.addEvent("the door is open")
  const now = agent.heartbeat.look("main")
  assert.deepEqual([now.open, now.waitingEvents], ["running", true])
})

test("a turn of a person is no heartbeat that runs", async (context) => {
  const { asked, answer } = stuckAnswer()
  const agent = await startAgent(context, { models: scriptedModels([answer]) })
  await agent.enqueue({ text: "hello" })
  await asked
  assert.equal(agent.heartbeat.look("main").open, undefined)
})

test("what came of a heartbeat is told in a few words, and once nothing of it waits any more they stay", async (context) => {
  const agent = await startAgent(context, { models: scriptedModels(["The oven is hot."]) })
  const row = { id: 0, state: "done", error: null, result: null } as const
  const ends: [Partial<Parameters<typeof heartbeatOutcome>[1]>, string][] = [
    [{}, "done"],
    [{ result: "{}" }, "done"],
    [{ result: '{"skipped":"outside active hours"}' }, "skipped: outside active hours"],
    [{ result: '{"text":"x","delivered":"nothing needs attention"}' }, "nothing needs attention"],
    [{ result: "stopped" }, "stopped"],
    [{ state: "dead", error: "No model could answer" }, "failed: No model could answer"],
    [{ state: "cancelled" }, "cancelled: no reason given"],
  ]
  for (const [end, words] of ends)
    assert.deepEqual(heartbeatOutcome(agent.store, { ...row, ...end }), { words, isSettled: true })
  const job = await agent.wake()
  const queued = { words: "queued for test chat 5", isSettled: false }
  assert.deepEqual(heartbeatOutcome(agent.store, job), queued)
  await agent.store.write(async (write) => write.prepare("update outbox set state = 'sent'").run())
  const { words, isSettled } = heartbeatOutcome(agent.store, job)
  assert.deepEqual([isSettled, words === queued.words], [true, false])
})

test("a heartbeat is that of the agent whose session it is", async (context) => {
  const agent = await startAgent(context, { models: scriptedModels(["HEARTBEAT_OK"]) })
  await agent.store.write(async (write) => write.addJob(heartbeatJob("other", "agent:second:main", "manual")))
  await agent.settle("other")
  assert.equal(agent.models.requests[0]?.selection.agentId, "second")
})

describe("a heartbeat that is cut short", () => {
  test("by a stop of the gateway shows its events after the start", async (context) => {
    const { asked, answer } = stuckAnswer()
    const models = scriptedModels([answer, "The door is open."])
    const first = await startAgent(context, { models })
    await first.addEvent("door opened")
    const waking = first.wake("wake")
    await asked
    await first.runner.stop(0)
    const { run_id: runId } = await waking
    await first.stop()
    const second = await startAgent(context, { models, folder: first.folder })
    assert.equal((await second.settle(runId)).state, "done")
    assert.match(promptOf(models.requests[1]), /door opened/)
    assert.equal(second.replies()[0]?.text, "The door is open.")
  })

  test("for a reason nobody foresaw says nothing, and leaves its events to the next", async (context) => {
    let shift = 0
    // Waits of the lane are skipped: each look at the clock is a minute later.
    const clock = { ...movableClock(), now: () => Date.now() + (shift += 60_000) }
    const fails = () => Promise.reject(new TypeError("a bug"))
    const models = scriptedModels([fails, fails, fails, "The door is open."])
    const agent = await startAgent(context, { models, clock })
    await agent.addEvent("door opened")
    await agent.store.write(async (write) => write.addJob(heartbeatJob("one", main, "wake")))
    while ((await agent.settle("one")).state !== "dead") await new Promise((resolve) => setImmediate(resolve))
    while (models.requests.length < 4) await agent.settle("one")
    await agent.settle("one")
    assert.match(promptOf(models.requests[3]), /door opened/)
    assert.equal(agent.replies()[0]?.text, "The door is open.")
  })

  test("for want of a model says nothing, and leaves its events to the next", async (context) => {
    const away = new AppError("model-failed", "No model could answer", { status: 503 })
    const models = scriptedModels([() => Promise.reject(away), "The door is open."])
    const agent = await startAgent(context, { models })
    await agent.addEvent("door opened")
    const job = await agent.wake("wake")
    assert.deepEqual([job.state, job.attempts], ["dead", 1])
    assert.deepEqual(agent.replies(), [])
    await agent.wake()
    assert.equal(agent.replies()[0]?.text, "The door is open.")
  })

  for (const wasSeen of [false, true]) {
    test(`by a person ${wasSeen ? "who looks at its run" : "in its chat"} leaves its events to the next, and says nothing`, async (context) => {
      const { asked, answer } = stuckAnswer((request) => request.onDelta?.({ kind: "text", text: "The do" }))
      const models = scriptedModels([answer, "The door is open."])
      const agent = await startAgent(context, { models })
      await agent.addEvent("door opened")
      const waking = agent.wake("wake")
      await asked
      agent.runner.abortLane(main, new TurnStopped({ wasSeen }))
      assert.equal((await waking).state, "cancelled")
      await agent.wake("wake")
      assert.deepEqual(
        agent.replies().map(({ text }) => text),
        ["The door is open."],
      )
    })
  }

  test("after a tool was called keeps its events: they may have been acted upon", async (context) => {
    const away = new AppError("model-failed", "No model could answer", { status: 503 })
    const models = scriptedModels([[call("buy")], () => Promise.reject(away)])
    const agent = await startAgent(context, { models, tools: [smallTool("buy")] })
    await agent.addEvent("buy milk")
    await agent.wake("wake")
    assert.equal(skipped(await agent.wake("wake")), "no events are waiting")
  })
})
