// One connection after the handshake, the same on both sides: messages, files in both directions, and the pulse. It knows
// nothing of what is asked; whoever owns it is told of messages, and of the end, once.
import { statSync } from "node:fs"
import { AppError } from "../../kernel/errors.ts"
import { type FileNotice, type Refused, type Working, largestFile, longestMessage } from "../protocol.ts"
import { FrameReader, binaryFrame, frameKinds, framesOf } from "./frames.ts"
import { Incoming } from "./incoming.ts"
import { Outgoing } from "./outgoing.ts"
import { type MessageSocket, socketStates } from "./socket.ts"
import { Pulse, type PulseTiming } from "./pulse.ts"

/** Files that were given up here whose pieces may still be on their way. */
const mostForgotten = 1_000
/** What may wait until the other side reads it: long messages, and the windows of all files. */
const mostUnread = 4 * longestMessage

export interface LinkOptions {
  socket: MessageSocket
  /** Throws for what makes no sense: the connection ends then. */
  onMessage(message: Record<string, unknown>): void
  /** Why it ended; `undefined` when the other side went away without a word. */
  onClose(why: string | undefined): void
  isBusy(): boolean
  /** Bytes that a message may have now. */
  longest(): number
  /** Files that are under way at once. */
  maxFiles?: number
  pulse?: Partial<PulseTiming>
}

export interface Announced {
  notice: FileNotice
  /** Begins to send; call it when the message with the notice is on its way. */
  start(): Promise<void>
}

export interface Transfer {
  name: string
  bytes: number
  moved: number
  direction: "in" | "out"
  /** The call that it belongs to. */
  call: number
}

export class Link {
  readonly #options: LinkOptions
  readonly #reader = new FrameReader()
  readonly #pulse: Pulse
  readonly #incoming = new Map<number, Incoming>()
  readonly #outgoing = new Map<number, Outgoing>()
  readonly #transfers = new Map<string, Transfer>()
  /** Files of the other side that were given up here: what still comes of them is no offence. */
  readonly #forgotten = new Set<number>()
  #messages = 0
  #files = 0
  #isOpen = true

  constructor(options: LinkOptions) {
    this.#options = options
    const { socket } = options
    this.#pulse = new Pulse({
      ping: () => socket.ping(),
      onDead: () => this.#end("it does not answer any more"),
      isBusy: () => options.isBusy() || this.#transfers.size > 0,
      ...(options.pulse ? { timing: options.pulse } : {}),
    })
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary))
    socket.on("ping", () => this.#pulse.heard())
    socket.on("pong", () => this.#pulse.heard())
    socket.on("error", () => socket.terminate())
    socket.on("close", () => this.#end(undefined))
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  isOn(socket: MessageSocket): boolean {
    return this.#options.socket === socket
  }

  get transfers(): readonly Transfer[] {
    return [...this.#transfers.values()]
  }

  send(message: Working): void {
    if (!this.#isOpen) return
    const { socket } = this.#options
    for (const frame of framesOf(message, ++this.#messages)) socket.send(frame)
    if (socket.bufferedAmount > mostUnread) this.#end("it does not read what it is sent")
  }

  /** Somebody waits for the other side from now on. */
  hurry(): void {
    this.#pulse.hurry()
  }

  /** A file that is to be sent beside a message. Throws `node-failed` when it is not there or too large. */
  announce(path: string, about: { field: string; name: string; call: number }): Announced {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (!facts?.isFile()) throw new AppError("node-failed", `A file that was to be sent is not there: ${about.name}`)
    if (facts.size > largestFile) throw tooLarge(about.name)
    const file = ++this.#files
    const { field, name, call } = about
    const notice = { file, field, name, bytes: facts.size }
    return { notice, start: () => this.#sendFile(path, notice, call) }
  }

  async #sendFile(path: string, { file, name, bytes }: FileNotice, call: number): Promise<void> {
    if (!this.#isOpen) throw lost()
    const transfer: Transfer = { name, bytes, moved: 0, direction: "out", call }
    const outgoing = new Outgoing({
      file,
      path,
      bytes,
      sendPiece: (piece) => this.#options.socket.send(binaryFrame(frameKinds.file, file, piece)),
      onProgress: (taken) => (transfer.moved = taken),
    })
    this.#outgoing.set(file, outgoing)
    this.#transfers.set(`out:${file}`, transfer)
    this.hurry()
    try {
      this.send({ type: "file-end", file, sha256: await outgoing.run() })
    } catch (error) {
      const why = error instanceof AppError ? error.message : "it could not be read"
      this.send({ type: "file-stop", file, by: "sender", message: why })
      throw error
    } finally {
      this.#outgoing.delete(file)
      this.#transfers.delete(`out:${file}`)
    }
  }

  /** Takes in a file that a message has announced. Rejects when it does not come whole; nothing is left of it then. */
  async accept({ file, name, bytes }: FileNotice, path: string, call: number): Promise<void> {
    if (!this.#isOpen) throw lost()
    if (this.#incoming.has(file)) throw new AppError("node-failed", "A file was announced twice")
    if (bytes > largestFile || this.#incoming.size >= (this.#options.maxFiles ?? 64)) {
      this.refuse(file, "too large, or too many at once")
      throw tooLarge(name)
    }
    const transfer: Transfer = { name, bytes, moved: 0, direction: "in", call }
    const incoming = new Incoming({
      path,
      bytes,
      onTaken: (taken) => {
        transfer.moved = taken
        this.send({ type: "taken", file, bytes: taken })
      },
    })
    this.#incoming.set(file, incoming)
    this.#transfers.set(`in:${file}`, transfer)
    this.hurry()
    try {
      await incoming.finished
    } catch (error) {
      this.refuse(file, "it was not taken")
      throw error
    } finally {
      this.#incoming.delete(file)
      this.#transfers.delete(`in:${file}`)
    }
  }

  /** Nobody here wants this file of the other side. */
  refuse(file: number, message: string): void {
    this.#forgotten.add(file)
    if (this.#forgotten.size > mostForgotten) this.#forgotten.delete(this.#forgotten.values().next().value as number)
    this.#incoming.get(file)?.fail(new AppError("aborted", "Nobody waits for the file any more"))
    this.send({ type: "file-stop", file, by: "receiver", message })
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#pulse.heard()
    if (!this.#isOpen) return
    const incoming = this.#reader.read(data, isBinary, this.#options.longest())
    try {
      if (incoming.kind === "broken") throw new Error(incoming.why)
      if (incoming.kind === "file") this.#receivePiece(incoming.file, incoming.bytes)
      else if (incoming.kind === "message") this.#receiveMessage(incoming.message)
    } catch (error) {
      this.#end(`it broke the protocol: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  #receivePiece(file: number, bytes: Buffer): void {
    const known = this.#incoming.get(file)
    if (!known) {
      if (this.#forgotten.has(file)) return
      throw new Error("a file that was not announced")
    }
    const wrong = known.take(bytes)
    if (wrong !== undefined) throw new Error(wrong)
  }

  #receiveMessage(message: Record<string, unknown>): void {
    const { type, file } = message
    if (type === "taken" || type === "file-end" || type === "file-stop") {
      if (typeof file !== "number") throw new Error(`${type} without a file`)
      this.#aboutFile(type, file, message)
    } else this.#options.onMessage(message)
  }

  #aboutFile(type: "taken" | "file-end" | "file-stop", file: number, message: Record<string, unknown>): void {
    if (type === "taken") this.#outgoing.get(file)?.took(Number(message["bytes"]))
    else if (type === "file-end") this.#incoming.get(file)?.end(String(message["sha256"]))
    else {
      const why = String(message["message"]).slice(0, 200)
      const error = new AppError("node-failed", `A file was given up by the other side: ${why}`)
      if (message["by"] === "sender") this.#incoming.get(file)?.fail(error)
      else this.#outgoing.get(file)?.stop(error)
    }
  }

  /** Says why, and ends the connection. */
  dismiss(refused: Omit<Refused, "type">): void {
    this.send({ type: "refused", ...refused })
    this.#options.socket.close()
    this.#end(refused.message)
  }

  close(why: string): void {
    this.#end(why)
  }

  #end(why: string | undefined): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#pulse.stop()
    const error = lost()
    for (const incoming of this.#incoming.values()) incoming.fail(error)
    for (const outgoing of this.#outgoing.values()) outgoing.stop(error)
    const { socket } = this.#options
    // A close that is under way may take the last words along; one that is not answered must not stay.
    if (socket.readyState === socketStates.closing) setTimeout(() => socket.terminate(), 1_000).unref()
    else socket.terminate()
    this.#options.onClose(why)
  }
}

function tooLarge(name: string): AppError {
  return new AppError("node-failed", `The file ${name} is too large to be carried between a node and its gateway`, {
    hint: `At most ${largestFile / 1024 ** 3} GB`,
  })
}

export function lost(): AppError {
  return new AppError("node-lost", "The connection between the node and the gateway was lost", {
    hint: "The node connects again by itself. What was asked may have been done: look before you repeat it",
  })
}
