// `--expires 30d`: when a token ends, as people write it.
import { AppError } from "../../kernel/index.ts"

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }
/** Ten years: what is meant for longer is meant for ever. */
const longestMs = 3650 * unitMs.d

/** Throws `bad-request`. */
export function readExpiry(text: string, now: number): number {
  const written = text.trim()
  const [, digits, unit] = /^(\d{1,6})([mhdw])$/i.exec(written) ?? []
  const span = unit === undefined ? Number.NaN : Number(digits) * unitMs[unit.toLowerCase() as keyof typeof unitMs]
  const isMoment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}.*)?$/.test(written)
  const at = Number.isNaN(span) ? (isMoment ? Date.parse(written) : Number.NaN) : now + span
  if (at > now && at <= now + longestMs) return at
  throw new AppError("bad-request", `expires: ${JSON.stringify(written.slice(0, 50))} is not a time ahead of us`, {
    hint: "Write a span (12h, 30d, 8w; at most 3650d) or a day or moment to come (2027-01-31, 2027-01-31T12:00:00Z)",
  })
}
