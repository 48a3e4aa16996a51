// A WebSocket client of a few pages (RFC 6455), for the node: the library brings HTTP, compression and more with it, a fifth of
// the memory of a process that does nothing for months but hold one connection (docs/decisions/nodes.md).
import { createHash, randomBytes } from "node:crypto"
import { EventEmitter } from "node:events"
import { type Socket, connect as connectPlain } from "node:net"
import { AppError, describeError } from "../../kernel/errors.ts"
import { type MessageSocket, socketStates } from "../link/socket.ts"

const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const longestHead = 16 * 1024
/** Of RFC 6455, for the answer to our key. */
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
/** For the other side's last words. */
const closeMs = 2_000

export interface OpenOptions {
  /** `ws://` or `wss://`. */
  address: string
  /** Until the connection stands. */
  timeoutMs: number
  /** Of a message. */
  maxBytes: number
  signal: AbortSignal
}

/** Rejects with `node-lost` when it cannot be had; `status` is that of an answer that is no WebSocket. */
export async function openWebSocket(options: OpenOptions): Promise<MessageSocket> {
  const socket = await connected(options)
  const rest = await upgraded(socket, options).catch((error: unknown) => {
    socket.destroy()
    throw error
  })
  return new ClientSocket(socket, rest, options.maxBytes)
}

async function connected({ address, timeoutMs, signal }: OpenOptions): Promise<Socket> {
  const { hostname, port, protocol } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, "")
  const isSecure = protocol === "wss:"
  const target = { host, port: Number(port || (isSecure ? 443 : 80)), autoSelectFamily: true }
  // Loaded only where it is needed.
  const tls = isSecure ? await import("node:tls") : undefined
  const isAddress = /^[\d.]+$|:/.test(host)
  const socket = tls ? tls.connect({ ...target, ...(isAddress ? {} : { servername: host }) }) : connectPlain(target)
  return await new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      end()
      socket.destroy()
      reject(error)
    }
    const lost = (why: string, hint?: string) =>
      new AppError(
        "node-lost",
        `The gateway cannot be reached at ${address}: ${why}`,
        hint === undefined ? {} : { hint },
      )
    const onAbort = () => fail(new AppError("aborted", "Stopped"))
    const timer = setTimeout(() => fail(lost("it does not answer")), timeoutMs)
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
    }
    socket.once("error", (error) => fail(lost(describeError(error), certificateHint(error))))
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      end()
      socket.removeAllListeners("error").on("error", () => socket.destroy())
      resolve(socket)
    })
    signal.addEventListener("abort", onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

const unknownIssuers = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER|VERIFY).*)$/

/** Nothing switches the check off: who stands in between would be the gateway's proxy for all that is said. */
function certificateHint({ code = "" }: NodeJS.ErrnoException): string | undefined {
  if (unknownIssuers.test(code)) {
    return "No authority that this machine trusts has signed its certificate. If it is one of your own: NODE_EXTRA_CA_CERTS=/path/to/ca.pem svc node run ..."
  }
  return code === "ERR_TLS_CERT_ALTNAME_INVALID" ? "Use the name that its certificate is for" : undefined
}

/** Asks for the upgrade; gives what came behind the answer. */
function upgraded(socket: Socket, { address, timeoutMs, signal }: OpenOptions): Promise<Buffer> {
  const { host, pathname } = new URL(address)
  const key = randomBytes(16).toString("base64")
  const lines = [
    `GET ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Sec-WebSocket-Key: ${key}`,
    "Sec-WebSocket-Version: 13",
    "User-Agent: svc-node",
  ]
  return new Promise((resolve, reject) => {
    let come = Buffer.alloc(0)
    const finish = (act: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      socket.off("data", onData).off("close", onClose)
      act()
    }
    const fail = (error: AppError) => finish(() => reject(error))
    const onAbort = () => fail(new AppError("aborted", "Stopped"))
    const onClose = () => fail(new AppError("node-lost", `${address} closed the connection without an answer`))
    const timer = setTimeout(() => fail(new AppError("node-lost", `${address} does not answer`)), timeoutMs)
    const onData = (data: Buffer) => {
      come = Buffer.concat([come, data])
      const end = come.indexOf("\r\n\r\n")
      if (end < 0 && come.length <= longestHead) return
      const problem = end < 0 ? notThere(address, 0) : problemIn(come.toString("latin1", 0, end), key, address)
      if (problem) return fail(problem)
      socket.pause()
      finish(() => resolve(come.subarray(end + 4)))
    }
    socket.on("data", onData).once("close", onClose)
    signal.addEventListener("abort", onAbort, { once: true })
    socket.write(`${lines.join("\r\n")}\r\n\r\n`)
  })
}

function problemIn(head: string, key: string, address: string): AppError | undefined {
  const [first = "", ...lines] = head.split("\r\n")
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1] ?? 0)
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const accept = createHash("sha1")
    .update(key + acceptSuffix)
    .digest("base64")
  if (status === 101 && headers.get("sec-websocket-accept") === accept) return undefined
  return notThere(address, status)
}

function notThere(address: string, status: number): AppError {
  const hint =
    status === 403
      ? "The host name may be one that the gateway does not know: gateway.allowedHosts"
      : "Is it the address of a gateway, and does a proxy in front of it let WebSockets through?"
  const what = status === 0 ? "does not speak HTTP" : `answers with status ${status}`
  return new AppError("node-lost", `${address} ${what}`, { hint })
}

class ClientSocket extends EventEmitter implements MessageSocket {
  readonly #socket: Socket
  readonly #maxBytes: number
  #pending: Buffer = Buffer.alloc(0)
  #parts: Buffer[] = []
  #kind: number | undefined
  #state: number = socketStates.open

  constructor(socket: Socket, rest: Buffer, maxBytes: number) {
    super()
    this.#socket = socket
    this.#maxBytes = maxBytes
    socket.setNoDelay(true)
    socket.on("data", (data: Buffer) => this.#receive(data))
    socket.on("close", () => this.#closed())
    // Its owner's listeners come first.
    setImmediate(() => {
      if (rest.length > 0) this.#receive(rest)
      socket.resume()
    })
  }

  get readyState(): number {
    return this.#state
  }

  get bufferedAmount(): number {
    return this.#socket.writableLength
  }

  send(data: string | Buffer): void {
    if (this.#state !== socketStates.open) return
    const isText = typeof data === "string"
    this.#write(isText ? opcodes.text : opcodes.binary, isText ? Buffer.from(data) : data)
  }

  ping(): void {
    if (this.#state === socketStates.open) this.#write(opcodes.ping, Buffer.alloc(0))
  }

  /** Says so to the other side, which closes the connection; it is cut when that takes long. */
  close(): void {
    if (this.#state !== socketStates.open) return
    this.#write(opcodes.close, Buffer.from([0x03, 0xe8]))
    this.#state = socketStates.closing
    setTimeout(() => this.terminate(), closeMs).unref()
  }

  terminate(): void {
    this.#socket.destroy()
    this.#closed()
  }

  #closed(): void {
    if (this.#state === socketStates.closed) return
    this.#state = socketStates.closed
    this.emit("close")
  }

  /** Each frame of a client is masked, with numbers that nobody can know before. */
  #write(opcode: number, payload: Buffer): void {
    const { length } = payload
    const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8
    const start = 6 + extended
    const frame = Buffer.allocUnsafe(start + length)
    frame[0] = 0x80 | opcode
    frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127)
    if (extended === 2) frame.writeUInt16BE(length, 2)
    if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2)
    const mask = randomBytes(4)
    mask.copy(frame, start - 4)
    for (let at = 0; at < length; at += 1) frame[start + at] = (payload[at] as number) ^ (mask[at & 3] as number)
    this.#socket.write(frame)
  }

  #receive(data: Buffer): void {
    this.#pending = this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data])
    while (this.#state !== socketStates.closed) {
      const frame = this.#nextFrame()
      if (frame === undefined) return
      if (frame === "broken") return this.terminate()
      this.#take(frame)
    }
  }

  #nextFrame(): { opcode: number; isLast: boolean; payload: Buffer } | "broken" | undefined {
    const head = this.#pending
    if (head.length < 2) return undefined
    const [first, second] = [head[0] as number, head[1] as number]
    // No extension was asked for, and a server masks nothing.
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) return "broken"
    const short = second & 0x7f
    const start = short === 126 ? 4 : short === 127 ? 10 : 2
    if (head.length < start) return undefined
    const length = short === 126 ? head.readUInt16BE(2) : short === 127 ? Number(head.readBigUInt64BE(2)) : short
    if (length > this.#maxBytes) return "broken"
    if (head.length < start + length) return undefined
    this.#pending = head.subarray(start + length)
    return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload: head.subarray(start, start + length) }
  }

  #take({ opcode, isLast, payload }: { opcode: number; isLast: boolean; payload: Buffer }): void {
    if (opcode === opcodes.ping) {
      if (this.#state === socketStates.open) this.#write(opcodes.pong, payload)
      this.emit("ping")
    } else if (opcode === opcodes.pong) this.emit("pong")
    else if (opcode === opcodes.close) {
      if (this.#state === socketStates.open) this.#write(opcodes.close, payload.subarray(0, 2))
      this.#state = socketStates.closing
      this.#socket.end()
    } else if (opcode <= opcodes.binary) this.#takePart(opcode, isLast, payload)
    else this.terminate()
  }

  #takePart(opcode: number, isLast: boolean, payload: Buffer): void {
    const isNew = opcode !== opcodes.more
    if (isNew === (this.#kind !== undefined)) return this.terminate()
    if (isNew) this.#kind = opcode
    this.#parts.push(payload)
    if (this.#parts.reduce((sum, part) => sum + part.length, 0) > this.#maxBytes) return this.terminate()
    if (!isLast) return
    const whole = this.#parts.length === 1 ? payload : Buffer.concat(this.#parts)
    const isBinary = this.#kind === opcodes.binary
    this.#parts = []
    this.#kind = undefined
    this.emit("message", whole, isBinary)
  }
}
