// A process that works, and is then asked a little all the time: tells its memory at the end of the work and once it has
// become smaller, or after half a minute.
import { readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { watchIdleMemory } from "./idle-memory.ts"

/** Objects that live for some rounds, as those of requests do. */
export async function work(rounds: number): Promise<void> {
  let kept: object[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (let n = 0; n < 6_000; n += 1) kept.push({ some: Array.from({ length: 60 }, () => n) })
    if (round % 4 === 0) kept = []
    await delay(5)
  }
}

/** In megabytes, what belongs to no file; Linux tells it. */
function memory(): number {
  const facts = readFileSync("/proc/self/smaps_rollup", "utf8")
  return Math.round(Number(/^Anonymous:\s+(\d+)/m.exec(facts)?.[1]) / 1024)
}

if (import.meta.main) {
  await work(40)
  const loaded = memory()
  const asking = setInterval(() => Array.from({ length: 3_000 }, (_, n) => ({ n })), 10)
  const watch = watchIdleMemory({ everyMs: 20, utilization: () => 0.01 })
  for (let looks = 0; memory() >= loaded * 0.7 && looks < 600; looks += 1) await delay(50)
  process.stdout.write(JSON.stringify({ loaded, quiet: memory() }))
  watch.stop()
  clearInterval(asking)
}
