import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { slowDisk } from "../../test/support/slow-disk.ts"
import { silentLog } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError, type Clock, systemClock } from "../kernel/index.ts"
import { KeptWrites } from "../store/index.ts"
import type { SendOutcome } from "./contract.ts"
import { isSettled, recordingSender, startOutbox, textOf } from "./delivery.fixture.ts"

/** Waits of the worker are skipped: each look at the clock is a minute later. */
function leapingClock(): Clock {
  let shift = 0
  return { ...systemClock, now: () => Date.now() + (shift += 60_000) }
}

const retry = (error = "429"): SendOutcome => ({ kind: "retry", delayMs: 10, error })

describe("the order of messages", () => {
  test("is kept inside a chat, one call at a time", async (context) => {
    const busy = new Set<string>()
    const sender = recordingSender(async (row) => {
      assert.ok(!busy.has(row.chat_id), "two calls for one chat at once")
      busy.add(row.chat_id)
      await new Promise((resolve) => setImmediate(resolve))
      busy.delete(row.chat_id)
      return { kind: "sent", remoteId: `m${row.id}` }
    })
    const outbox = await startOutbox(context, { sender })
    await outbox.put(
      ...["1", "2"].flatMap((chat) => Array.from({ length: 6 }, (_, n): [string, string] => [chat, `${n}`])),
    )
    await outbox.until(isSettled)
    for (const chat of ["1", "2"]) {
      const own = sender.calls.filter((each) => each.startsWith(`${chat}: `))
      assert.deepEqual(
        own,
        ["0", "1", "2", "3", "4", "5"].map((n) => `${chat}: ${n}`),
      )
    }
    assert.ok(outbox.rows().every((row) => row.state === "sent" && row.remote_id === `m${row.id}` && row.sent_at))
  })

  test("holds while the first message is put off, and other chats do not wait for it", async (context) => {
    let isDown = true
    const sender = recordingSender((row) => (row.chat_id === "1" && isDown ? retry() : { kind: "sent" }))
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "first"], ["1", "second"], ["2", "other"], ["2", "another"])
    await outbox.until((rows) => rows.slice(2).every((row) => row.state === "sent") && (rows[0]?.attempts ?? 0) >= 1)
    assert.deepEqual(outbox.states().slice(1), ["second new", "other sent", "another sent"])
    isDown = false
    await outbox.until(isSettled)
    const [last, ...tries] = sender.calls.filter((each) => each.startsWith("1: ")).toReversed()
    assert.equal(last, "1: second")
    assert.ok(tries.length >= 2 && tries.every((each) => each === "1: first"), tries.join())
  })

  test("is no reason for one chat to wait for a call of another that hangs", async (context) => {
    const hanging = Promise.withResolvers<SendOutcome>()
    const sender = recordingSender((row) => (row.chat_id === "1" ? hanging.promise : { kind: "sent" }))
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "stuck"], ["2", "a"], ["3", "b"])
    await outbox.until((rows) => rows.slice(1).every((row) => row.state === "sent"))
    await outbox.put(["2", "c"])
    await outbox.until((rows) => rows[3]?.state === "sent")
    assert.equal(outbox.states()[0], "stuck sending")
    hanging.resolve({ kind: "sent" })
    await outbox.until(isSettled)
  })

  test("allows at most 32 calls at once", async (context) => {
    let running = 0
    let most = 0
    const go = Promise.withResolvers<void>()
    const sender = recordingSender(async () => {
      running += 1
      most = Math.max(most, running)
      if (running === 32) setImmediate(go.resolve)
      await go.promise
      running -= 1
      return { kind: "sent" }
    })
    const outbox = await startOutbox(context, { sender })
    await outbox.put(...Array.from({ length: 40 }, (_, n): [string, string] => [`${n}`, "hi"]))
    await outbox.until(isSettled)
    assert.deepEqual([most, sender.calls.length], [32, 40])
  })
})

describe("a message", () => {
  test("that cannot have arrived is tried again until it has", async (context) => {
    const sender = recordingSender((row) => (row.attempts < 4 ? retry("connection refused") : { kind: "sent" }))
    const outbox = await startOutbox(context, { sender, clock: leapingClock() })
    await outbox.put(["1", "hello"])
    await outbox.until(isSettled)
    assert.equal(outbox.rows()[0]?.attempts, 4)
    assert.deepEqual(outbox.states(), ["hello sent"])
  })

  test("waits as long as the platform says", async (context) => {
    const sender = recordingSender(() => ({ kind: "retry", delayMs: 30_000, error: "429" }))
    const outbox = await startOutbox(context, { sender })
    const before = Date.now()
    await outbox.put(["1", "hello"])
    await outbox.until((rows) => rows[0]?.state === "new" && rows[0].attempts === 1)
    const [row] = outbox.rows()
    assert.ok((row?.run_at ?? 0) >= before + 30_000)
    assert.equal(row?.error, "429")
  })

  test("is given up after eight tries in six hours, and its chat goes on", async (context) => {
    // An hour passes between two tries.
    let passedMs = 0
    const clock: Clock = { ...systemClock, monotonic: () => performance.now() + passedMs }
    const sender = recordingSender((row) => {
      if (textOf(row) !== "lost") return { kind: "sent" }
      passedMs += 60 * 60 * 1000
      return retry("unreachable")
    })
    const outbox = await startOutbox(context, { sender, clock })
    await outbox.put(["1", "lost"], ["1", "later"])
    await outbox.until(isSettled)
    assert.deepEqual(outbox.states(), ["lost dead", "later sent"])
    assert.equal(outbox.rows()[0]?.error, "unreachable")
    assert.equal(outbox.rows()[0]?.attempts, 8)
  })

  test("is not given up because the clock says that years have passed", async (context) => {
    let shift = 0
    const clock: Clock = { ...systemClock, now: () => Date.now() + shift }
    const sender = recordingSender((row) => {
      shift += 365 * 24 * 60 * 60 * 1000
      return row.attempts < 10 ? retry("unreachable") : { kind: "sent" }
    })
    const outbox = await startOutbox(context, { sender, clock })
    await outbox.put(["1", "patient"])
    await outbox.until(isSettled)
    assert.deepEqual(outbox.states(), ["patient sent"])
  })

  test("that may arrive twice and never has for sure is repeated in longer and longer pauses", async (context) => {
    const sender = recordingSender(() => ({ kind: "uncertain", error: "no answer" }))
    const outbox = await startOutbox(context, { sender: { ...sender, isRepeatable: () => true } })
    await outbox.put(["1", "an edit"])
    await outbox.until((rows) => rows[0]?.state === "new" && rows[0].attempts === 4)
    assert.equal(outbox.rows()[0]?.delay_ms, 400)
  })

  test("that may arrive twice and never has for sure is given up like others, and its chat goes on", async (context) => {
    const sender = recordingSender((row) =>
      textOf(row) === "an edit" ? { kind: "uncertain", error: "no answer" } : { kind: "sent" },
    )
    let shift = 0
    const clock = { ...leapingClock(), monotonic: () => systemClock.monotonic() + (shift += 20 * 60_000) }
    const outbox = await startOutbox(context, { sender: { ...sender, isRepeatable: () => true }, clock })
    await outbox.put(["1", "an edit"], ["1", "what follows"])
    await outbox.until(isSettled)
    assert.deepEqual(outbox.states(), ["an edit dead", "what follows sent"])
  })

  test("that no call can be made of is given up after three tries", async (context) => {
    const sender = recordingSender()
    sender.send = async (row) => {
      sender.calls.push(textOf(row))
      throw new TypeError("a bug")
    }
    const outbox = await startOutbox(context, { sender, clock: leapingClock() })
    await outbox.put(["1", "hello"])
    await outbox.until(isSettled)
    assert.deepEqual(outbox.states(), ["hello dead"])
    assert.equal(sender.calls.length, 3)
  })

  test("that is refused in one form is sent in another, before those behind it", async (context) => {
    const sender = recordingSender((row) => {
      if (textOf(row) !== "<b>hi") return { kind: "sent" }
      return { kind: "replace", payload: { text: "hi" }, error: "can't parse entities" }
    })
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "<b>hi"], ["1", "next"])
    await outbox.until(isSettled)
    assert.deepEqual(sender.calls, ["1: <b>hi", "1: hi", "1: next"])
    assert.deepEqual(outbox.states(), ["hi sent", "next sent"])
  })

  test("that will never arrive is given up, and its chat goes on", async (context) => {
    const sender = recordingSender((row) =>
      textOf(row) === "no" ? { kind: "rejected", error: "bot was blocked" } : { kind: "sent" },
    )
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "no"], ["1", "yes"])
    await outbox.until(isSettled)
    assert.deepEqual(outbox.states(), ["no dead", "yes sent"])
    assert.equal(outbox.rows()[0]?.error, "bot was blocked")
  })

  test("that may have arrived is not repeated, not even by the next start", async (context) => {
    const folder = temporaryFolder()
    const sender = recordingSender((row) =>
      textOf(row) === "maybe" ? { kind: "uncertain", error: "cut after the request" } : { kind: "sent" },
    )
    const first = await startOutbox(context, { sender, folder })
    await first.put(["1", "maybe"], ["1", "next"])
    await first.until(isSettled)
    assert.deepEqual(first.states().slice(0, 2), ["maybe uncertain", "next sent"])
    await first.worker.stop(0)
    await first.store.close()
    const second = await startOutbox(context, { sender, folder })
    await second.put(["1", "later"])
    await second.until(isSettled)
    assert.deepEqual(
      sender.calls.filter((each) => !each.includes("may not have arrived")),
      ["1: maybe", "1: next", "1: later"],
    )
  })

  test("whose sender fails in a way that it should not counts as one that may have arrived", async (context) => {
    const sender = recordingSender((row) => {
      if (textOf(row) === "bug") throw new TypeError("a bug")
      return { kind: "sent" }
    })
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "bug"], ["1", "next"])
    await outbox.until(isSettled)
    assert.deepEqual(outbox.states().slice(0, 2), ["bug uncertain", "next sent"])
  })

  test("of a channel that is not running waits for it", async (context) => {
    const sender = recordingSender(undefined, "elsewhere")
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "hello"])
    await outbox.until((rows) => rows[0]?.state === "new" && rows[0].attempts === 1)
    assert.match(outbox.rows()[0]?.error ?? "", /channel test is not running/)
    assert.deepEqual(sender.calls, [])
  })
})

describe("a disk that takes nothing for a while", () => {
  test("costs no second copy of what was sent meanwhile, and its chat goes on", async (context) => {
    const kept = new KeptWrites({ clock: systemClock, log: silentLog })
    context.after(() => kept.stop())
    const sender = recordingSender((row) => {
      if (textOf(row) === "first") outbox.store.handle.raw.exec("pragma query_only = on")
      return { kind: "sent", remoteId: `m${row.id}` }
    })
    const outbox: Awaited<ReturnType<typeof startOutbox>> = await startOutbox(context, { sender, kept })
    await outbox.put(["1", "first"], ["1", "second"])
    await outbox.until(() => kept.problem()?.waiting === 1)
    assert.deepEqual(outbox.states(), ["first sending", "second new"])
    outbox.store.handle.raw.exec("pragma query_only = off")
    await outbox.until(isSettled)
    assert.deepEqual(sender.calls, ["1: first", "1: second"])
    assert.equal(outbox.rows()[0]?.remote_id, "m1")
  })
})

describe("a disk that gives nothing for a while", () => {
  test("delays what is due, and nobody has to ask for it again", async (context) => {
    const sender = recordingSender()
    const outbox = await startOutbox(context, { sender })
    const { prepare } = outbox.store.handle
    let failed = 0
    outbox.store.handle.prepare = (sql) => {
      if (!sql.includes("state = 'new' and head = 1")) return prepare(sql)
      failed += 1
      throw new AppError("storage-failed", "input/output error")
    }
    await outbox.put(["1", "hello"])
    // Of what is due, and of when to look again.
    while (failed < 2) await new Promise((resolve) => setImmediate(resolve))
    outbox.store.handle.prepare = prepare
    await outbox.until(isSettled)
    assert.deepEqual(sender.calls, ["1: hello"])
  })
})

test("a disk that does not say what came of a delivery fails nobody but who waits for it", async (context) => {
  const answer = Promise.withResolvers<SendOutcome>()
  const sender = recordingSender(async () => await answer.promise)
  const outbox = await startOutbox(context, { sender })
  await outbox.put(["1", "hello"])
  const [row] = outbox.rows()
  const waiting = outbox.worker.waitFor([row?.id ?? 0], { timeoutMs: 60_000, signal: new AbortController().signal })
  const { prepare } = outbox.store.handle
  const failed = Promise.withResolvers<void>()
  outbox.store.handle.prepare = (sql) => {
    if (!sql.includes("select * from outbox where id in")) return prepare(sql)
    failed.resolve()
    throw new AppError("storage-failed", "input/output error")
  }
  answer.resolve({ kind: "sent" })
  await failed.promise
  outbox.store.handle.prepare = prepare
  await outbox.put(["2", "more"])
  const [told] = await waiting
  assert.equal(told?.state, "sent")
})

describe("a worker that stops", () => {
  test("lets a call end that is under way, and begins no other", async (context) => {
    const called = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<SendOutcome>()
    const sender = recordingSender(() => {
      called.resolve()
      return answer.promise
    })
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "under way"], ["1", "behind"])
    await called.promise
    const stopped = outbox.worker.stop(5_000)
    answer.resolve({ kind: "sent" })
    await stopped
    assert.deepEqual(outbox.states(), ["under way sent", "behind new"])
  })

  test("cuts a call that takes too long, heeded or not", async (context) => {
    const called = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sender = recordingSender((row, signal) => {
      called[Number(row.chat_id)]?.resolve()
      return new Promise((resolve) => {
        if (row.chat_id === "1") signal.addEventListener("abort", () => resolve({ kind: "uncertain", error: "cut" }))
      })
    })
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["0", "deaf"], ["1", "slow"])
    await Promise.all(called.map(({ promise }) => promise))
    await outbox.worker.stop(10)
    assert.deepEqual(outbox.states(), ["deaf uncertain", "slow uncertain"])
  })
})

test("a stop waits for a message that is sent anew before the disk has what came of its last call", async (context) => {
  const disk = slowDisk()
  const second = Promise.withResolvers<SendOutcome>()
  const sender = recordingSender(async (row) => {
    if (row.attempts > 1) return await second.promise
    // Somebody else's write keeps the disk busy, so that what follows reaches it together.
    disk.slow()
    void outbox.store.meta.set("other", 1)
    await disk.begun()
    return { kind: "replace", payload: { text: "plain" }, error: "cannot be formatted" }
  })
  const outbox = await startOutbox(context, { sender, sync: disk.sync })
  await outbox.put(["1", "formatted"])
  await outbox.until((rows) => rows[0]?.state === "new" && rows[0].attempts === 1)
  outbox.worker.wake()
  await outbox.until((rows) => rows[0]?.state === "sending")
  disk.goOn()
  await outbox.until(() => sender.calls.length === 2)
  let hasStopped = false
  const stopping = outbox.worker.stop(60_000).then(() => (hasStopped = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(hasStopped, false)
  second.resolve({ kind: "sent" })
  await stopping
  assert.deepEqual(outbox.states(), ["plain sent"])
})
