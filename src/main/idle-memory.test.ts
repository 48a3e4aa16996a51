import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { work } from "./idle-memory.fixture.ts"
import { watchIdleMemory } from "./idle-memory.ts"

const young = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0

test("keeps the room for young objects at a part of what V8 takes", async () => {
  const sizes: Record<string, number> = {}
  const watch = watchIdleMemory({
    setFlag(flag) {
      sizes[flag] = young()
      setFlagsFromString(flag)
    },
  })
  const late = AbortSignal.timeout(30_000)
  while (sizes["--semi-space-growth-factor=1"] === undefined) {
    late.throwIfAborted()
    await work(10)
  }
  // A collection that was under way may have decided before.
  await work(5)
  const settled = young()
  await work(30)
  assert.ok(young() <= settled, "it grows no more")
  watch.stop()
  assert.ok("--semi-space-growth-factor=2" in sizes, "V8 is as it was")
})

test("says that the process is quiet after some looks, and at once that it is not", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] })
  const flags: string[] = []
  let used = 0
  let quiet = 0
  const watch = watchIdleMemory({
    everyMs: 10,
    utilization: () => used,
    setFlag: (flag) => flags.push(flag),
    onQuiet: () => (quiet += 1),
  })
  const look = (share: number, times: number) => {
    used = share
    context.mock.timers.tick(10 * times)
  }
  look(0.01, 2)
  look(0.8, 1)
  look(0.01, 2)
  assert.deepEqual(flags, [])
  look(0.01, 5)
  assert.deepEqual(flags, ["--optimize-for-size"])
  look(0.8, 3)
  assert.deepEqual(flags, ["--optimize-for-size", "--no-optimize-for-size"])
  assert.equal(quiet, 1)
  look(0.01, 3)
  assert.equal(quiet, 2)
  watch.stop()
  assert.equal(flags.at(-1), "--no-optimize-for-size")
})

const reason = process.platform === "linux" ? false : "only Linux tells what belongs to no file"

test("gives back what a load has left, though somebody still asks now and then", { skip: reason }, async () => {
  // So long V8 waits after a collection before it looks whether memory is to be reduced: eight seconds else.
  const soon = "--gc-memory-reducer-start-delay-ms=100"
  const program = join(import.meta.dirname, "idle-memory.fixture.ts")
  const { stdout } = await promisify(execFile)(process.execPath, [soon, program], { timeout: 40_000 })
  const { loaded, quiet } = JSON.parse(stdout) as { loaded: number; quiet: number }
  assert.ok(quiet < loaded * 0.7, `${loaded} MB, then ${quiet} MB`)
})
