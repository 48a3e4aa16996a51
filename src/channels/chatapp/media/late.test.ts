// Files that cannot be had at once: their chat goes on, and they are shown when they are there.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { type Clock, systemClock } from "../../../kernel/index.ts"
import { type JobEnd, JobPostponed, type JobRow } from "../../../store/index.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"

const owner = 4242
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

/** What a turn waits for files before it gives its place to others. */
const patienceMs = 10_000

/** Pauses pass at once, and time with them alone: how busy the machine is makes nothing late. */
function quickClock(isQuick: (ms: number) => boolean = (ms) => ms >= 500): {
  clock: Clock
  pauses: number[]
  pass: (ms: number) => void
} {
  const pauses: number[] = []
  let ahead = 0
  const clock: Clock = {
    now: () => systemClock.now() + Math.round(ahead),
    monotonic: () => ahead,
    async sleep(ms, signal) {
      await systemClock.sleep(isQuick(ms) ? 5 : ms, signal)
      pauses.push(ms)
      if (isQuick(ms)) ahead += ms
    },
  }
  return { clock, pauses, pass: (ms) => (ahead += ms) }
}

async function begin(context: TestContext, clock: Clock): Promise<Bench> {
  const bench = await startBench({ clock, chatapp: { allowFrom: [owner] } })
  context.after(() => bench.end())
  bench.emulator.control.addUser({ id: owner })
  return bench
}

async function send(bench: Bench): Promise<TurnInput> {
  bench.emulator.control.sendMedia({ userId: owner, kind: "photo", data: picture, caption: "what is this?" })
  await bench.until(() => bench.jobs().length === 1, "the message")
  return bench.jobs()[0]?.input as TurnInput
}

const fetch = (bench: Bench, input: TurnInput) => bench.channel.preparation.fetch(input, AbortSignal.timeout(20_000))
const lateJobs = (bench: Bench) => bench.jobs().filter((job) => job.kind === "late-files")
const handler = (bench: Bench) => {
  const found = bench.channel.jobs["late-files"]
  assert.ok(found)
  return found
}

async function untilDone<T>(work: () => Promise<T>): Promise<{ value: T; postponed: number }> {
  for (let postponed = 0; ; postponed += 1) {
    try {
      return { value: await work(), postponed }
    } catch (error) {
      if (!(error instanceof JobPostponed) || postponed > 500) throw error
    }
  }
}

async function endWith(bench: Bench, end: JobEnd): Promise<void> {
  await bench.store.write(async (write) => end.commit?.(write))
}

describe("a picture", () => {
  test("whose getFile hangs holds its chat for half a minute, and gets a turn of its own later", async (context) => {
    // Nobody's patience ends any more once the file is there.
    let hangs = true
    const { clock } = quickClock((ms) => ms >= 500 && (hangs || ms < patienceMs))
    const bench = await begin(context, clock)
    const { control } = bench.emulator
    control.fault({ kind: "hang", method: "getFile", times: 0 })
    const input = await send(bench)
    const begunAt = clock.monotonic()
    const { value: prepared, postponed } = await untilDone(() => fetch(bench, input))
    assert.ok(postponed >= 1 && postponed <= 3, `its place was free ${postponed} times`)
    assert.ok(clock.monotonic() - begunAt < 40_000)
    assert.match(prepared.header ?? "", /\[file, photo: it cannot be fetched yet/)
    assert.equal(prepared.text, input.text)
    const [late] = lateJobs(bench)
    assert.ok(late && late.urgent === 1 && !late.lane_key.endsWith(input.sessionKey))
    // Begun again after a crash, the turn leaves no second one.
    await untilDone(() => fetch(bench, input))
    assert.equal(lateJobs(bench).length, 1)
    hangs = false
    control.clearFaults({})
    await control.restart({})
    const { value: end } = await untilDone(() => handler(bench).run(late as JobRow, AbortSignal.timeout(20_000)))
    await endWith(bench, end)
    const shown = bench.jobs().at(-1)
    assert.deepEqual([shown?.kind, shown?.lane_key], ["turn", input.sessionKey])
    assert.deepEqual(shown?.input.route, input.route)
    assert.deepEqual([shown?.input.origin, shown?.input.trusted], [input.origin, input.trusted])
    const { value: withPicture } = await untilDone(() => fetch(bench, shown?.input as TurnInput))
    assert.equal(withPicture.media?.length, 1)
  })

  test("that a stop of the channel cuts off is no answer: its turn is put back whole, and nothing comes later", async (context) => {
    const bench = await begin(context, systemClock)
    bench.emulator.control.fault({ kind: "hang", method: "getFile", times: 0 })
    const input = await send(bench)
    const asked = bench.emulator.control.waitForCall({ method: "getFile" })
    const fetching = assert.rejects(fetch(bench, input), JobPostponed)
    await asked
    await bench.channel.stop()
    await fetching
    assert.equal(lateJobs(bench).length, 0)
  })

  for (const method of ["getFile", "download"]) {
    test(`whose ${method} meets 429 is waited for as long as the platform asks, and not lost`, async (context) => {
      const { clock, pauses } = quickClock((ms) => ms === 2_000)
      const bench = await begin(context, clock)
      bench.emulator.control.fault({ kind: "429", method, retryAfter: 2, times: 6 })
      const sent = await send(bench)
      const { value: input } = await untilDone(() => fetch(bench, sent))
      assert.equal(input.media?.length, 1)
      assert.equal(pauses.filter((ms) => ms === 2_000).length, 6)
      assert.equal(lateJobs(bench).length, 0)
    })
  }

  for (const kind of ["cut-body", "status"] as const) {
    test(`whose bytes meet ${kind} again and again is fetched later and not lost`, async (context) => {
      const { clock } = quickClock((ms) => ms >= 500 && ms < patienceMs)
      const bench = await begin(context, clock)
      bench.emulator.control.fault({ kind, method: "download", times: 5 })
      const input = await send(bench)
      const { value: prepared } = await untilDone(() => fetch(bench, input))
      assert.match(prepared.header ?? "", /cannot be fetched yet/)
      const [late] = lateJobs(bench)
      // How many of its tries the first time has had room for, the machine decides.
      bench.emulator.control.clearFaults({})
      const { value: end } = await untilDone(() => handler(bench).run(late as JobRow, AbortSignal.timeout(20_000)))
      await endWith(bench, end)
      const shown = bench.jobs().at(-1)?.input as TurnInput
      const { value: withPicture } = await untilDone(() => fetch(bench, shown))
      assert.equal(withPicture.media?.length, 1)
    })
  }

  test("that cannot be had for an hour is told of, once", async (context) => {
    const { clock, pass } = quickClock()
    const bench = await begin(context, clock)
    bench.emulator.control.fault({ kind: "status", status: 500, method: "getFile", times: 0 })
    const input = await send(bench)
    const { value: prepared } = await untilDone(() => fetch(bench, input))
    assert.match(prepared.header ?? "", /cannot be fetched yet/)
    const late = lateJobs(bench)[0] as JobRow
    await assert.rejects(handler(bench).run(late, AbortSignal.timeout(20_000)), JobPostponed)
    // A clock that was set proves nothing: it was hardly tried.
    pass(3_600_000)
    await assert.rejects(handler(bench).run(late, AbortSignal.timeout(20_000)), JobPostponed)
    bench.store.handle.raw.exec("update job set payload = json_set(payload, '$.tries', 39) where kind = 'late-files'")
    await endWith(bench, await handler(bench).run(late, AbortSignal.timeout(20_000)))
    const events = bench.store.handle.prepare("select session_key, text from event").all()
    assert.equal(events.length, 1)
    assert.match(String(events[0]?.["text"]), /photo.*could not be fetched/)
    assert.equal(bench.jobs().length, 2, "no turn")
  })

  test("of which nothing more can be tried is told of as well, and what waited its turn waits for it no more", async (context) => {
    const { clock } = quickClock()
    const bench = await begin(context, clock)
    bench.emulator.control.fault({ kind: "status", status: 500, method: "getFile", times: 0 })
    const input = await send(bench)
    const queue = { mode: "collect", cap: 5, drop: "old" } as const
    await untilDone(() => fetch(bench, { ...input, queue }))
    const late = lateJobs(bench)[0] as JobRow
    assert.equal((JSON.parse(late.payload) as { input: TurnInput }).input.queue, undefined)
    await bench.store.write(async (write) => void (await handler(bench).onDead?.(late, "why", write)))
    assert.match(
      String(bench.store.handle.prepare("select text from event").get()?.["text"]),
      /^A file of an earlier message \(photo\) could not be fetched\. Ask the sender to send it again\.$/,
    )
  })

  test("that was given up is fetched anew for whoever asks again, and once while it is fetched", async (context) => {
    const { clock } = quickClock()
    const bench = await begin(context, clock)
    const { control } = bench.emulator
    control.fault({ kind: "status", status: 500, method: "getFile", times: 0 })
    await send(bench)
    const first = bench.jobs()[0]?.input as TurnInput
    await untilDone(() => fetch(bench, first))
    const replyTo = Number(first.route?.messageId)
    const ask = async (text: string) => {
      control.sendText({ userId: owner, text, replyTo })
      const asked = () => bench.jobs().find(({ kind, input }) => kind === "turn" && input.text === text)?.input
      await bench.until(() => asked() !== undefined, text)
      return (await untilDone(() => fetch(bench, asked() as TurnInput))).value
    }
    assert.match((await ask("and now?")).header ?? "", /shown by itself/)
    assert.equal(lateJobs(bench).length, 1, "it is being fetched already")
    bench.store.handle.raw.exec("update job set state = 'done', head = 0 where kind = 'late-files'")
    assert.match((await ask("once more?")).header ?? "", /shown by itself/)
    assert.equal(lateJobs(bench).filter(({ state }) => state === "ready").length, 1)
  })
})
