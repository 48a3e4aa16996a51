// One line of the log file, as it is printed: for people (made safe for a terminal) or as JSON, one object a line.
import { formatLogLine } from "../../src/kernel/log-format.ts"
import { printable } from "../terminal-text.ts"

const levelNumbers: Record<string, number> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 }

/** Accepts the lines of a level or above; a line that is no record counts as `info`. */
export function acceptsLevel(level: string | undefined): (line: string) => boolean {
  const least = levelNumbers[level ?? "trace"] ?? 0
  return (line) => {
    if (line.trim() === "") return false
    const record = parseRecord(line)
    return (typeof record?.["level"] === "number" ? record["level"] : 30) >= least
  }
}

export function formatForPeople(line: string, colour: boolean): string {
  const record = parseRecord(line)
  if (!record) return `${printable(line)}\n`
  return formatLogLine(makePrintable(record, "") as object, colour)
}

export function formatAsJson(line: string): string {
  return `${parseRecord(line) ? line.trim() : JSON.stringify({ msg: line, raw: true })}\n`
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Strings without control characters; only a stack keeps its lines. */
function makePrintable(value: unknown, key: string): unknown {
  if (typeof value === "string") return printable(key === "stack" ? value : value.replaceAll("\n", "\\n"))
  if (Array.isArray(value)) return value.map((item) => makePrintable(item, ""))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [printable(name), makePrintable(item, name)]))
}
