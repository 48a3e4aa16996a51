// Where the program's words go: answers to stdout, everything else to stderr. A reader that closes the pipe
// early (`svc logs | head`) ends the program quietly.
import type { AppError } from "../src/kernel/errors.ts"
import { toErrorBody } from "../src/kernel/errors.ts"
import { printable, printableJson } from "../src/kernel/terminal-text.ts"

export interface Output {
  /** Writes to stdout as it is: what is from outside has been made safe for a terminal by then. */
  write(text: string): void
  /** A line on stdout, made safe for a terminal as all that follows. */
  line(text: string): void
  /** Advice of our own words for a line on stdout: commands in it get the name by which they can be called here. */
  named(text: string): string
  /** A value as indented JSON on stdout. */
  json(value: unknown): void
  /** A line on stderr: progress, advice. */
  note(text: string): void
  /** An error: two lines on stderr, or with `json` its body on stdout. */
  error(error: AppError, json: boolean): void
  /** Whether stdout is a terminal that wants colours. */
  colour(): boolean
  /** Resolves when stdout has room again. */
  drained(): Promise<void>
}

/** `named` gives commands in advice the name by which the program can be called here. */
export function createOutput(environment: NodeJS.ProcessEnv, named: (text: string) => string = (text) => text): Output {
  let guarded = false
  let guardedErrors = false
  const stdout = () => {
    if (!guarded) endQuietlyWhenClosed(process.stdout)
    guarded = true
    return process.stdout
  }
  const stderr = () => {
    if (!guardedErrors) endQuietlyWhenClosed(process.stderr)
    guardedErrors = true
    return process.stderr
  }
  const noColour = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb"
  return {
    write: (text) => void stdout().write(text),
    line: (text) => void stdout().write(`${printable(text)}\n`),
    named,
    json: (value) => void stdout().write(inJson(value)),
    note: (text) => void stderr().write(`${printable(named(text))}\n`),
    error(error, json) {
      if (json) return void stdout().write(inJson(toErrorBody(error)))
      const paint = (code: string, text: string) =>
        process.stderr.isTTY && !noColour ? `\u001b[${code}m${text}\u001b[0m` : text
      stderr().write(`${paint("31", "error:")} ${printable(named(error.message))}\n`)
      if (error.hint !== undefined) stderr().write(`${paint("36", "hint:")} ${printable(named(error.hint))}\n`)
    },
    colour: () => process.stdout.isTTY && !noColour,
    drained: () =>
      stdout().writableNeedDrain ? new Promise((resolve) => stdout().once("drain", resolve)) : Promise.resolve(),
  }
}

function inJson(value: unknown): string {
  return `${printableJson(JSON.stringify(value, null, 2) ?? "")}\n`
}

function endQuietlyWhenClosed(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1)
  })
}
