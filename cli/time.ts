// Times and spans as people read them.

/** `3 s`, `12 min`, `5 h 10 min`, `2 d 4 h`. */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (!Number.isFinite(seconds)) return "an unknown time"
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Local time, `2026-03-01 14:05:09`; a dash when there is none. Takes milliseconds or an ISO text. */
export function describeTime(value: unknown): string {
  const date = typeof value === "number" || typeof value === "string" ? new Date(value) : undefined
  if (date === undefined || Number.isNaN(date.getTime())) return "-"
  const two = (number: number) => String(number).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}
