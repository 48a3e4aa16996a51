import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { AppError, createBackground } from "../kernel/index.ts"
import { ClaimLoop } from "./claim-loop.ts"

const failures = {
  storage: () => new AppError("storage-full", "The disk is full"),
  unexpected: () => new Error("a fault of ours"),
}

interface Claims {
  claim: (count: number) => Promise<void> | void
  untilDue?: (asked: number) => number
}

/** The loop, and a way to wait for its claims: each resolves as it begins. */
function loopOf({ claim, untilDue = () => Infinity }: Claims) {
  const begun = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const background = createBackground(silentLog)
  let claims = 0
  let asked = 0
  const loop = new ClaimLoop({
    name: "test",
    background,
    async claim() {
      claims += 1
      begun[claims - 1]?.resolve()
      await claim(claims)
    },
    untilDue() {
      asked += 1
      return untilDue(asked)
    },
  })
  const nthClaim = (n: number) => begun[n - 1]?.promise
  return { loop, nthClaim, idle: () => background.idle(), claims: () => claims }
}

test("a loop claims nothing before it is started, and once when it is", async () => {
  const { loop, idle, claims } = loopOf({ claim() {} })
  loop.wake()
  await idle()
  assert.equal(claims(), 0)
  loop.start()
  await idle()
  assert.equal(claims(), 1)
})

test("whoever wakes the loop during a claim, however often, gets one more claim after it, and none beside it", async () => {
  const first = Promise.withResolvers<void>()
  let under = 0
  const { loop, nthClaim, idle, claims } = loopOf({
    async claim(count) {
      under += 1
      assert.equal(under, 1)
      if (count === 1) await first.promise
      under -= 1
    },
  })
  loop.start()
  await nthClaim(1)
  for (let times = 0; times < 3; times += 1) loop.wake()
  first.resolve()
  await idle()
  assert.equal(claims(), 2)
})

test("what is due later is claimed when its time has come, and nothing is asked for when nothing is due", async () => {
  const { loop, nthClaim, idle, claims } = loopOf({ claim() {}, untilDue: (asked) => (asked === 1 ? 5 : Infinity) })
  loop.start()
  await nthClaim(2)
  await idle()
  assert.equal(claims(), 2)
})

for (const [name, failure] of Object.entries(failures)) {
  test(`after a claim that failed (${name}) the loop claims again by itself`, async () => {
    const { loop, nthClaim } = loopOf({
      claim(count) {
        if (count === 1) throw failure()
      },
      untilDue: () => 0,
    })
    loop.start()
    await nthClaim(2)
    await loop.stop()
  })

  test(`where what is due cannot be read (${name}) the loop claims again by itself`, async () => {
    const { loop, nthClaim } = loopOf({
      claim() {},
      untilDue(asked) {
        if (asked === 1) throw failure()
        return Infinity
      },
    })
    loop.start()
    await nthClaim(2)
    await loop.stop()
  })
}

test("a stop waits for the claim under way, and what woke the loop meanwhile is not claimed", async () => {
  const first = Promise.withResolvers<void>()
  let isDone = false
  const { loop, nthClaim, idle, claims } = loopOf({
    async claim() {
      await first.promise
      isDone = true
    },
    untilDue: () => 0,
  })
  loop.start()
  await nthClaim(1)
  loop.wake()
  const stopping = loop.stop()
  assert.equal(loop.isStopped, true)
  first.resolve()
  await stopping
  assert.equal(isDone, true)
  loop.wake()
  await idle()
  assert.equal(claims(), 1)
})
