// How long a provider asks to wait: headers and words of a refusal -> milliseconds. The provider's plain answer comes
// first (retry-after-ms, retry-after), then what its body says, then when its limits are filled up again.

const dayMs = 24 * 60 * 60 * 1000
/** Waits stand near the beginning; a body may hold the whole conversation. */
const maxBodyCharacters = 16_000

/**
 * Undefined: nothing was said, or nothing that makes sense (negative, no number, over a day). A date in the past is 0:
 * the wait is over. Limits that are filled up at a time count for status 429 alone.
 */
export function readWait(
  headers: Readonly<Record<string, unknown>>,
  body: string,
  now: number,
  status?: number,
): number | undefined {
  const read = (name: string): string => {
    const value = headers[name]
    return typeof value === "string" || typeof value === "number" ? String(value).trim() : ""
  }
  return (
    sensible(read("retry-after-ms") === "" ? undefined : Number(read("retry-after-ms"))) ??
    sensible(readMoment(read("retry-after"), now)) ??
    sensible(readBody(body.slice(0, maxBodyCharacters), now)) ??
    (status === 429 ? sensible(readLimits(headers, now)) : undefined)
  )
}

function sensible(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 && ms <= dayMs ? Math.ceil(ms) : undefined
}

/** Seconds, a duration (`1m30s`), or a date. */
function readMoment(written: string, now: number): number | undefined {
  if (written === "") return undefined
  const seconds = Number(written)
  if (!Number.isNaN(seconds)) return seconds * 1000
  const duration = readDuration(written)
  if (duration !== undefined) return duration
  // A date has letters or colons; "-5s" and the like must not be taken for a year.
  const date = /^(?:[a-z]{3,9},? |\d{4}-\d\d-\d\d)/i.test(written) ? Date.parse(written) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
}

/** `34.07s`, `6m0s`, `250ms`, `2 minutes`: the durations at the very beginning of the text, added up. */
function readDuration(text: string): number | undefined {
  const part =
    /(\d{1,12}(?:\.\d{1,12})?) ?(ns|us|µs|ms|milliseconds?|s|m|h|d|sec|min|hr|seconds?|minutes?|hours?|days?)(?![a-z]) ?/iy
  let total: number | undefined
  for (let match = part.exec(text); match; match = part.exec(text)) {
    const unit = (match[2] ?? "").toLowerCase()
    const factor = unitMs[unit] ?? (unit.startsWith("milli") ? 1 : unitMs[unit.charAt(0)])
    total = (total ?? 0) + Number(match[1]) * (factor ?? Number.NaN)
  }
  return total
}

function readBody(body: string, now: number): number | undefined {
  // Google: details[].retryDelay, also inside the text that a router quotes.
  const delay = /retryDelay\\?"\s?:\s?\\?"([^"\\]{1,32})/.exec(body)?.[1]
  if (delay !== undefined) return readDuration(delay)
  const after = /"retry_after(?:_seconds)?"\s?:\s?"?(\d{1,9}(?:\.\d{1,9})?)/.exec(body)?.[1]
  if (after !== undefined) return Number(after) * 1000
  // Groq and OpenAI say "Please try again in 7m11.5s", Azure "Please retry after 6 seconds".
  const said = /(?:try again|retry) (?:in|after) (?:about )?(.{1,40})/i.exec(body)?.[1]
  const duration = said === undefined ? undefined : readDuration(said)
  if (duration !== undefined) return duration
  // OpenRouter repeats the headers in the body.
  const reset = /"X-RateLimit-Reset"\s?:\s?"?(\d{10,13})/i.exec(body)?.[1]
  return reset === undefined ? undefined : readReset(reset, now)
}

/** When a limit is filled up: a duration, seconds, a date, or seconds or milliseconds since 1970. */
function readReset(written: string, now: number): number | undefined {
  const number = Number(written)
  if (written !== "" && number >= 1e12) return Math.max(0, number - now)
  if (written !== "" && number >= 1e9) return Math.max(0, number * 1000 - now)
  return readMoment(written, now)
}

const resetName = /^(x-ratelimit|anthropic-ratelimit)-(?:reset(?:-([a-z-]{1,40}))?|([a-z-]{1,40})-reset)$/

/** The limit that is used up decides; of several, or where none says what remains, the one that takes longest. */
function readLimits(headers: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const used: number[] = []
  const unknown: number[] = []
  for (const [name, value] of Object.entries(headers)) {
    const match = resetName.exec(name.toLowerCase())
    const wait = match && typeof value === "string" ? sensible(readReset(value.trim(), now)) : undefined
    if (!match || wait === undefined) continue
    const what = match[2] ?? match[3]
    const remainingName =
      what === undefined
        ? `${match[1]}-remaining`
        : match[3] === undefined
          ? `${match[1]}-remaining-${what}`
          : `${match[1]}-${what}-remaining`
    const remaining = headers[remainingName]
    if (typeof remaining !== "string" || remaining.trim() === "") unknown.push(wait)
    else if (Number(remaining) <= 0) used.push(wait)
  }
  const waits = used.length > 0 ? used : unknown
  return waits.length > 0 ? Math.max(...waits) : undefined
}
