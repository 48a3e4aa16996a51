// One line of the log file, as it is printed: for people (made safe for a terminal) or as JSON, one object a line.
import { formatLogLine } from "../../src/kernel/log-format.ts"
import { printable, printableJson } from "../../src/kernel/terminal-text.ts"

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
  return formatLogLine(record, colour)
}

export function formatAsJson(line: string): string {
  return `${printableJson(parseRecord(line) ? line.trim() : JSON.stringify({ msg: line, raw: true }))}\n`
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}
