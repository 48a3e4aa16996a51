// A server's program as a transport: one line of JSON a message, in a process group of its own that ends with us.
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { AppError } from "../../kernel/index.ts"
import { guardScript, politeMs } from "./guard.ts"

export interface StdioOptions {
  command: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
}

/** Of one message. Larger ones are no answers to a question of ours. */
const maxLineBytes = 16 * 1024 * 1024
/** Of the last words of a program that has ended. */
const tailChars = 1_000
/** A program that reads to the end of its input needs no signal. */
const askedMs = 300
const firmMs = 2_000

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport["onmessage"]>
  readonly #options: StdioOptions
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #rest: Buffer[] = []
  #restBytes = 0
  #tail = ""
  #hasEnded = false

  constructor(options: StdioOptions) {
    this.#options = options
  }

  /** By this and `stderr` the library knows that silence of a program means an older revision. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  get stderr(): Readable | null {
    return this.#child?.stderr ?? null
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** What it wrote last on its standard error, in one line. */
  get lastWords(): string {
    return this.#tail.trim().split("\n").slice(-3).join(" | ").slice(-tailChars)
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#options
    const child = spawn("/bin/sh", ["-c", guardScript, "svc-mcp", command, ...args], {
      cwd,
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    })
    this.#child = child
    const exited = Promise.withResolvers<void>()
    this.#exited = exited.promise
    child.once("error", (error) => {
      this.onerror?.(error)
      exited.resolve()
      this.onclose?.()
    })
    child.once("exit", () => {
      this.#hasEnded = true
      this.#signal("SIGKILL")
      exited.resolve()
      this.onclose?.()
    })
    for (const pipe of child.stdio as (Readable | Writable)[]) pipe.on("error", () => undefined)
    child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk))
    child.stderr?.setEncoding("utf8")
    child.stderr?.on("data", (text: string) => void (this.#tail = (this.#tail + text).slice(-tailChars * 4)))
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin
    if (!input?.writable) throw new AppError("mcp-unavailable", "The server's program has ended")
    const line = `${JSON.stringify(message)}\n`
    await new Promise<void>((resolve, reject) => {
      input.write(line, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** First its input ends, which asks it to go; then the polite signal; then the firm one, for all of its group. */
  async close(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) return
    child.stdin?.end()
    if (await this.#endsWithin(askedMs)) return
    this.#signal("SIGTERM")
    await this.#endsWithin(politeMs)
    this.#signal("SIGKILL")
    await this.#endsWithin(firmMs)
  }

  async #endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    try {
      return await Promise.race([this.#exited.then(() => true), late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** To the whole group, also when its leader is gone. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") this.onerror?.(error as Error)
    }
  }

  #read(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#take(Buffer.concat([...this.#rest, chunk.subarray(from, end)]).toString("utf8"))
      this.#rest = []
      this.#restBytes = 0
      from = end + 1
    }
    const left = chunk.subarray(from)
    if (left.length === 0) return
    this.#rest.push(left)
    this.#restBytes += left.length
    if (this.#restBytes <= maxLineBytes) return
    this.#rest = []
    this.#restBytes = 0
    this.onerror?.(new AppError("mcp-unavailable", `The server sent a message of more than ${maxLineBytes} bytes`))
    this.#signal("SIGKILL")
  }

  /** Programs also print greetings and logs on the wrong stream: what is no message is passed over. */
  #take(line: string): void {
    const text = line.trim()
    if (!text.startsWith("{")) return
    let message: JSONRPCMessage
    try {
      message = JSON.parse(text) as JSONRPCMessage
    } catch {
      this.onerror?.(new AppError("mcp-unavailable", "The server sent a line that is no JSON"))
      return
    }
    try {
      this.onmessage?.(message)
    } catch (cause) {
      // Nested so deep that nobody can even say what is wrong with it.
      this.onerror?.(new AppError("mcp-unavailable", "The server sent a message that cannot be read", { cause }))
      this.#signal("SIGKILL")
    }
  }
}
