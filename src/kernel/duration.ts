// Spans of time as people write them in the configuration.

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `90s`, `30m`, `1h30m` or `2d`; a bare number counts minutes. Undefined when it is none of these. */
export function durationMs(value: string | number): number | undefined {
  const text = String(value).trim().toLowerCase()
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 60_000
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (unitMs[unit ?? ""] ?? 0)
  }
  return total
}
