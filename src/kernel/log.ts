// The log: pino JSON lines into <state>/logs, rotated, redacted as whole lines; optionally a form for people
// on the console. Rule of use: one line per decision, named noun-verb, with ids (session, chat, run).
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import pino from "pino"
import type { Redactor } from "./redact.ts"
import { formatLogLine } from "./log-format.ts"

export type Log = pino.Logger
export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent"

export interface LogOptions {
  /** Folder of the log files; created with mode 700. */
  folder: string
  level: LogLevel
  redactor: Redactor
  /** Where the form for people goes; none when undefined. */
  console?: { write(text: string): void; colour: boolean; level: LogLevel }
  maxFileBytes?: number
  keepFiles?: number
}

export const logFileName = "gateway.log"
const defaultMaxFileBytes = 10 * 1024 * 1024
const defaultKeepFiles = 5

export interface LogHandle {
  log: Log
  /** Writes out what is buffered; call before the process ends. */
  flush(): void
}

export function createLog(options: LogOptions): LogHandle {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  const path = join(options.folder, logFileName)
  const file = new RotatingFile(
    path,
    options.maxFileBytes ?? defaultMaxFileBytes,
    options.keepFiles ?? defaultKeepFiles,
  )
  const consoleLevel = pino.levels.values[options.console?.level ?? "silent"] ?? Number.POSITIVE_INFINITY
  const sink = {
    write(line: string) {
      const safe = options.redactor.redact(line)
      file.write(safe)
      if (!options.console) return
      const record = JSON.parse(safe) as { level: number }
      if (record.level >= consoleLevel) options.console.write(formatLogLine(record, options.console.colour))
    },
  }
  const log = pino({ level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, sink)
  return { log, flush: () => file.flush() }
}

type FileStream = ReturnType<typeof pino.destination>

/** Appends lines; past the size the file moves to `.1`, `.1` to `.2` and so on, and the oldest is removed. */
class RotatingFile {
  readonly #path: string
  readonly #maxBytes: number
  readonly #keep: number
  #stream: FileStream
  #bytes: number

  constructor(path: string, maxBytes: number, keep: number) {
    this.#path = path
    this.#maxBytes = maxBytes
    this.#keep = keep
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    this.#stream = this.#open()
  }

  write(line: string): void {
    if (this.#bytes + line.length > this.#maxBytes && this.#bytes > 0) this.#rotate()
    this.#bytes += Buffer.byteLength(line)
    this.#stream.write(line)
  }

  flush(): void {
    this.#stream.flushSync()
  }

  #open(): FileStream {
    const stream = pino.destination({ dest: this.#path, mode: 0o600, sync: true, minLength: 0 })
    // A full disk must not take the gateway down: the line is lost, the work goes on.
    stream.on("error", () => undefined)
    chmodSync(this.#path, 0o600)
    return stream
  }

  #rotate(): void {
    this.#stream.end()
    for (let index = this.#keep - 1; index >= 1; index -= 1) {
      const from = index === 1 ? this.#path : `${this.#path}.${index - 1}`
      if (statSync(from, { throwIfNoEntry: false })) renameSync(from, `${this.#path}.${index}`)
    }
    if (this.#keep <= 1) rmSync(this.#path, { force: true })
    this.#bytes = 0
    this.#stream = this.#open()
  }
}

/** The log files of a folder, oldest first. */
export function listLogFiles(folder: string): string[] {
  const index = (name: string) => (name === logFileName ? 0 : Number(name.slice(logFileName.length + 1)))
  return readdirSync(folder)
    .filter((name) => name === logFileName || /^gateway\.log\.\d+$/.test(name))
    .sort((a, b) => index(b) - index(a))
    .map((name) => join(folder, name))
}
