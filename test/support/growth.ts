// Holds work on foreign text to a cost that grows with its size, not with its square. Measures CPU, not time, and only
// against itself, so that neither a slow machine nor a busy one decides a test.
import assert from "node:assert/strict"

/** Runs the work on a size and on `times` that size. The sizes must take some milliseconds for the verdict to mean much. */
export async function assertGrowsInLine(
  work: (size: number) => unknown,
  { size, times = 16, what = "" }: { size: number; times?: number; what?: string },
): Promise<void> {
  // What is compiled and cached on the way is no part of the cost.
  await work(size)
  const verdicts: string[] = []
  // Collecting garbage counts as CPU and falls into any run: it can only add, so one good run is proof.
  while (verdicts.length < tries) {
    const short = await cpuMs(() => work(size))
    const long = await cpuMs(() => work(size * times))
    // A cost that grew with the square would be `times` times higher than this allows for half of it.
    if (long < (times * Math.max(short, 2) * times) / 2) return
    verdicts.push(`${short} ms for ${size}, ${long} ms for ${times} times as much`)
  }
  assert.fail(`${what} ${verdicts.join("; ")}`)
}

const tries = 3

async function cpuMs(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage()
  await work()
  return process.cpuUsage(begun).user / 1000
}
