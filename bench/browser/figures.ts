// How the figures of the browser are taken and written.
import type { Figure } from "../figure.ts"
import { median, round } from "../statistics.ts"

export type Work = () => Promise<unknown>

export async function time(count: number, work: Work, before: Work = () => Promise.resolve()): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < count + 3; index += 1) {
    await before()
    const began = performance.now()
    await work()
    if (index >= 3) times.push(performance.now() - began)
  }
  return median(times)
}

export function ratio(what: string, ms: number, floor: number, target: number): Figure {
  const times = ms / floor
  return {
    what,
    target: `at most ${target}x the floor`,
    measured: `${round(times)}x (${round(ms)} ms; floor ${round(floor)} ms)`,
    met: times <= target,
  }
}

export function limit(what: string, ms: number, target: number): Figure {
  return { what, target: `at most ${target} ms`, measured: `${round(ms)} ms`, met: ms <= target }
}

export function count(what: string, value: number, target: number): Figure {
  return { what, target: `at most ${target}`, measured: String(value), met: value <= target }
}
