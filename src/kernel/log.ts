// The log: pino JSON lines into <state>/logs, rotated, redacted as whole lines; optionally a form for people
// on the console. Rule of use: one line per decision, named noun-verb, with ids (session, chat, run).
import {
  type Stats,
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"
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
  console?: { write(text: string): boolean | void; colour: boolean; level: LogLevel }
  maxFileBytes?: number
  keepFiles?: number
  /** How often it is looked whether the file is still the one at its place. */
  lookEveryMs?: number
}

export const logFileName = "gateway.log"
const defaultMaxFileBytes = 10 * 1024 * 1024
const defaultKeepFiles = 5
const usualLookEveryMs = 1_000

export interface LogHandle {
  log: Log
  /** Of the file and of the console, from now on. */
  setLevels(file: LogLevel, console: LogLevel): void
  /** Brings what was written onto the disk; call before the process ends. */
  flush(): void
  /** Lines that could not be written, for want of space or of a reader. */
  lost(): LostLines
}

export interface LostLines {
  file: number
  console: number
}

export function createLog(options: LogOptions): LogHandle {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  const path = join(options.folder, logFileName)
  const file = new RotatingFile(
    path,
    options.maxFileBytes ?? defaultMaxFileBytes,
    options.keepFiles ?? defaultKeepFiles,
    options.lookEveryMs ?? usualLookEveryMs,
  )
  let least = { file: rankOf(options.level), console: rankOf(options.console?.level ?? "silent") }
  let lostOnConsole = 0
  const sink = {
    write(line: string) {
      const safe = options.redactor.redact(line)
      const takesAll = least.file <= least.console
      if (takesAll) file.write(safe)
      if (!options.console) return
      const record = JSON.parse(safe) as { level: number }
      if (!takesAll && record.level >= least.file) file.write(safe)
      if (record.level < least.console) return
      if (options.console.write(formatLogLine(record, options.console.colour)) === false) lostOnConsole += 1
    },
  }
  const log = pino({ level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, sink)
  const setLevels: LogHandle["setLevels"] = (level, console) => {
    least = { file: rankOf(level), console: rankOf(options.console ? console : "silent") }
    log.level = least.file <= least.console ? level : console
  }
  if (options.console) setLevels(options.level, options.console.level)
  return { log, setLevels, flush: () => file.flush(), lost: () => ({ file: file.lost, console: lostOnConsole }) }
}

function rankOf(level: LogLevel): number {
  return pino.levels.values[level] ?? Number.POSITIVE_INFINITY
}

function placeOf(status: Stats | undefined): string | undefined {
  return status && `${status.dev}:${status.ino}`
}

/**
 * Appends lines; past the size the file moves to `.1`, `.1` to `.2` and so on, and the oldest is removed. A full disk
 * must not take the gateway down: the line is lost, the work goes on, and the next line that is kept says how many were.
 */
class RotatingFile {
  readonly #path: string
  readonly #maxBytes: number
  readonly #keep: number
  #descriptor: number | undefined
  #bytes: number
  #lost = 0
  /** Of those, the ones that no line has told of yet. */
  #untold = 0
  /** The last line was written in part. */
  #torn = false
  #lookedAt = performance.now()
  /** What the folder of the log stands in. Another that has its path now is not ours. */
  readonly #home: string | undefined

  readonly #lookEveryMs: number

  constructor(path: string, maxBytes: number, keep: number, lookEveryMs: number) {
    this.#path = path
    this.#lookEveryMs = lookEveryMs
    this.#home = placeOf(statSync(dirname(dirname(path)), { throwIfNoEntry: false }))
    this.#maxBytes = maxBytes
    this.#keep = keep
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    this.#descriptor = this.#open()
  }

  get lost(): number {
    return this.#lost
  }

  write(line: string): void {
    try {
      if (this.#bytes + line.length > this.#maxBytes && this.#bytes > 0) this.#rotate()
      if (this.#descriptor !== undefined) this.#follow(this.#descriptor)
      this.#descriptor ??= this.#open()
      this.#append(this.#descriptor, line)
    } catch {
      this.#lost += 1
      this.#untold += 1
    }
  }

  flush(): void {
    try {
      if (this.#descriptor !== undefined) fsyncSync(this.#descriptor)
    } catch {
      // The lines are in the file all the same, as far as anybody can tell.
    }
  }

  /** A file that somebody has removed or moved takes no more lines, where another can be begun in its place. */
  #follow(descriptor: number): void {
    const now = performance.now()
    if (now - this.#lookedAt < this.#lookEveryMs) return
    this.#lookedAt = now
    if (placeOf(statSync(this.#path, { throwIfNoEntry: false })) === placeOf(fstatSync(descriptor))) return
    const folder = dirname(this.#path)
    if (placeOf(statSync(dirname(folder), { throwIfNoEntry: false })) !== this.#home) return
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    const next = this.#open()
    closeSync(descriptor)
    this.#descriptor = next
    this.#bytes = fstatSync(next).size
  }

  #append(descriptor: number, line: string): void {
    const told = this.#untold
    const notice =
      told === 0
        ? ""
        : `${JSON.stringify({ level: 50, time: new Date().toISOString(), lines: told, msg: "log lines lost" })}\n`
    const bytes = Buffer.from(`${this.#torn ? "\n" : ""}${notice}${line}`)
    for (let at = 0; at < bytes.length;) {
      const written = writeSync(descriptor, bytes, at)
      at += written
      this.#bytes += written
      this.#torn = at < bytes.length
    }
    this.#untold = 0
  }

  #open(): number {
    const descriptor = openSync(this.#path, "a", 0o600)
    fchmodSync(descriptor, 0o600)
    return descriptor
  }

  #rotate(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    for (let index = this.#keep - 1; index >= 1; index -= 1) {
      const from = index === 1 ? this.#path : `${this.#path}.${index - 1}`
      if (statSync(from, { throwIfNoEntry: false })) renameSync(from, `${this.#path}.${index}`)
    }
    if (this.#keep <= 1) rmSync(this.#path, { force: true })
    this.#bytes = 0
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
