// Levels of thinking: from the one that is wanted to the nearest that a model takes.
import type { ThinkingLevel } from "./contract.ts"

export type Level = Exclude<ThinkingLevel, "off">

const order: readonly Level[] = ["minimal", "low", "medium", "high"]

/** Nearest by distance; of two equally near ones the lower. The wanted one where none is taken. */
export function nearestLevel(wanted: Level, taken: readonly Level[]): Level {
  const rank = order.indexOf(wanted)
  const distance = (level: Level) => Math.abs(order.indexOf(level) - rank)
  const sorted = order.filter((level) => taken.includes(level))
  return sorted.reduce((best, level) => (distance(level) < distance(best) ? level : best), sorted[0] ?? wanted)
}

export function lowestLevel(taken: readonly Level[]): Level | undefined {
  return order.find((level) => taken.includes(level))
}
