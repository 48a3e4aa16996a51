// Times, relative and exact.
import { signal } from "./signals.ts"

/** Milliseconds that the gateway's clock is ahead of this machine's. */
export const clockOffset = signal(0)
const tick = signal(Date.now())
setInterval(() => {
  if (!document.hidden) tick.value = Date.now()
}, 5_000)

export const exact = (at: number): string =>
  new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })

const spans: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
]
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" })

function relative(at: number): string {
  const away = at - (tick.value + clockOffset.value)
  const [unit, ms] = spans.find(([, length]) => Math.abs(away) >= length) ?? ["second", 1_000]
  return Math.abs(away) < 5_000 ? "now" : words.format(Math.round(away / ms), unit)
}

/** `both` where there is room; else the exact time is what a pointer or a reader finds. */
export function Time({ at, both = false }: { at: number; both?: boolean }) {
  const when = exact(at)
  return (
    <time dateTime={new Date(at).toISOString()} title={when} aria-label={both ? undefined : when}>
      {relative(at)}
      {both && <span class="dim"> · {when}</span>}
    </time>
  )
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`
}
