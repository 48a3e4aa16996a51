// Times, relative and exact.
import { signal } from "./signals.ts"

/** Milliseconds that the gateway's clock is ahead of this machine's. */
export const clockOffset = signal(0)
const tick = signal(Date.now())
setInterval(() => {
  if (!document.hidden) tick.current = Date.now()
}, 5_000)

/** Formatted by hand, all of it: the first use of a formatter of the browser takes longer than all else of a first view. */
export const exact = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace("T", " ")

export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",")

const spans: [unit: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
]

function relative(at: number): string {
  const away = at - (tick.current + clockOffset.current)
  const size = Math.abs(away)
  const [unit, ms] = spans.find(([, length]) => size >= length) ?? ["s", 1_000]
  const words = `${Math.floor(size / ms)} ${unit}`
  return size < 5_000 ? "now" : away < 0 ? `${words} ago` : `in ${words}`
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

/** In full, where there is one. */
export const when = (at: number | null | undefined) => (at ? <Time at={at} both /> : null)

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`
}
