// A log record as one line for people: time, level, what happened, then the ids. Shared by the gateway's console
// and `svc logs`, so it imports next to nothing. Made safe for a terminal: what strangers send stands in some records.
import { printable } from "./terminal-text.ts"

const levelNames: Record<number, string> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
}
const colours: Record<number, string> = { 10: "90", 20: "90", 30: "36", 40: "33", 50: "31", 60: "35" }

export function formatLogLine(record: object, colour: boolean): string {
  const { level, time, msg, part, err, ...fields } = inOneLine(record, "") as Record<string, unknown>
  const paint = (code: string, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const number = typeof level === "number" ? level : 30
  const clock = typeof time === "string" ? time.slice(11, 23) : ""
  const name = (levelNames[number] ?? String(level)).padEnd(5)
  const source = typeof part === "string" ? `${paint("90", part)} ` : ""
  const details = Object.entries(fields)
    .map(([key, value]) => `${paint("90", `${key}=`)}${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ")
  const failure = describe(err)
  const line = [clock, paint(colours[number] ?? "0", name), `${source}${String(msg ?? "")}`, details, failure]
  return `${line.filter((piece) => piece !== "").join(" ")}\n`
}

function describe(err: unknown): string {
  if (typeof err !== "object" || err === null) return ""
  const { message, code, stack } = err as { message?: string; code?: string; stack?: string }
  const where = code === undefined && stack ? `\n${stack}` : ""
  return `(${[code, message].filter(Boolean).join(": ")})${where}`
}

/** Strings without control characters; only a stack keeps its lines. */
function inOneLine(value: unknown, key: string): unknown {
  if (typeof value === "string") return key === "stack" ? printable(value) : printableWord(value)
  if (Array.isArray(value)) return value.map((item) => inOneLine(item, ""))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [printableWord(name), inOneLine(item, name)]))
}

function printableWord(text: string): string {
  return printable(text.replaceAll("\n", "\\n"))
}
