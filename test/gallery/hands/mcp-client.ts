// A client for an MCP server over stdin and stdout, as far as calling tools needs one.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

interface Reply {
  id?: number
  result?: unknown
  error?: { message: string }
}

export interface ToolAnswer {
  text: string
  isError: boolean
}

export class McpClient {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #last = 0

  /** `folder`: where the server runs, and leaves what it writes. */
  constructor(command: string, args: string[], folder: string) {
    this.#child = spawn(command, args, { cwd: folder, stdio: ["pipe", "pipe", "ignore"] })
    this.#child.once("exit", (code) => {
      for (const resolve of this.#waiting.values()) resolve({ error: { message: `server ended with ${code}` } })
    })
    if (!this.#child.stdout) throw new Error("no stdout")
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const reply = JSON.parse(line) as Reply
      if (reply.id === undefined) return
      this.#waiting.get(reply.id)?.(reply)
      this.#waiting.delete(reply.id)
    })
  }

  async start(): Promise<void> {
    const clientInfo = { name: "gallery", version: "1" }
    await this.#request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
    this.#send({ jsonrpc: "2.0", method: "notifications/initialized" })
  }

  async call(name: string, input: object): Promise<ToolAnswer> {
    const result = (await this.#request("tools/call", { name, arguments: input })) as {
      content?: { type: string; text?: string }[]
      isError?: boolean
    }
    return { text: (result.content ?? []).map((part) => part.text ?? "").join("\n"), isError: result.isError ?? false }
  }

  async tools(): Promise<unknown> {
    return await this.#request("tools/list", {})
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null) return
    const exited = once(this.#child, "exit")
    this.#child.stdin?.end()
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5_000)
    await exited
    clearTimeout(timer)
  }

  async #request(method: string, params: object): Promise<unknown> {
    const id = (this.#last += 1)
    const answered = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve))
    this.#send({ jsonrpc: "2.0", id, method, params })
    const { result, error } = await answered
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`)
  }
}
