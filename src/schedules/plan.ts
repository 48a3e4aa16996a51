// Which of the times that have come are run, and which are left out, by the rule of the schedule. Pure.
import type { ScheduleSpec } from "./contract.ts"
import { mostDue } from "./when.ts"

/** Later than that, the gateway was not there at the time. */
const onTimeMs = 60_000

export interface Plan {
  run: number[]
  skip: { at: number; reason: string }[]
  /** An owner is told of what was left out: nothing runs in its place. */
  tells: boolean
}

/** `due` oldest first. `isBusy`: a run of before has not ended. */
export function planTimes(
  due: readonly number[],
  now: number,
  { missed, graceMs }: Pick<ScheduleSpec, "missed" | "graceMs">,
  isBusy: boolean,
): Plan {
  const tooLate = { reason: "the gateway did not run at this time" }
  const skipAll = (times: readonly number[], reason: string) => times.map((at) => ({ at, reason }))
  if (missed === "each") {
    const within = due.filter((at) => now - at <= graceMs).slice(-(mostDue - 1))
    const left = due.filter((at) => !within.includes(at))
    return { run: within, skip: skipAll(left, tooLate.reason), tells: left.length > 0 }
  }
  const newest = due.at(-1)
  if (newest === undefined) return { run: [], skip: [], tells: false }
  const before = skipAll(due.slice(0, -1), missed === "late" ? "a later time runs in its place" : tooLate.reason)
  if (isBusy) {
    return { run: [], skip: [...before, { at: newest, reason: "the run before has not ended" }], tells: false }
  }
  const limit = missed === "late" ? Math.max(graceMs, onTimeMs) : onTimeMs
  const runs = now - newest <= limit
  return {
    run: runs ? [newest] : [],
    skip: runs ? before : [...before, { at: newest, ...tooLate }],
    tells: missed === "skip" ? before.length > 0 || !runs : !runs,
  }
}
