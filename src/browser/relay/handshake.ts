// The gateway's side of the handshake: hello -> our proof -> its proof -> welcome. Both nonces are fresh, so a proof that was
// overheard is worth nothing, and whoever does not answer in time is let go.
import type { WebSocket } from "ws"
import { z } from "zod"
import { type FromRelay, type Refusal, relayProtocol, silentMs } from "./contract.ts"
import type { Pairing } from "./pairing.ts"

const hello = z.object({
  type: z.literal("hello"),
  protocol: z.number(),
  nonce: z.string().min(32).max(128),
  version: z.string().max(40),
})

const proof = z.object({
  type: z.literal("proof"),
  proof: z.string().max(128),
  instance: z.string().min(1).max(80),
  takeover: z.boolean(),
  check: z.boolean(),
  userAgent: z.string().max(1_000),
})

export interface HandshakeOptions {
  pairing: Pairing
  port: number
  nonce: string
  /** Whether another browser than this one is connected. */
  isTaken(instance: string): boolean
  welcome(): FromRelay
  onWrongSecret(): void
  onRightSecret(): void
}

export interface Acceptance {
  instance: string
  userAgent: string
  version: string
  check: boolean
  /** Hands on what comes from here on, and ends a connection that has fallen silent. */
  listen(onMessage: (said: object) => void): void
}

const handshakeMs = 5_000

/** Undefined when there is nobody to speak to; then the socket is closed. */
export async function welcome(socket: WebSocket, options: HandshakeOptions): Promise<Acceptance | undefined> {
  const { pairing, port, nonce } = options
  const timer = setTimeout(() => socket.terminate(), handshakeMs)
  const messages = inOrder(socket)
  try {
    const greeting = hello.safeParse(await messages.next())
    if (!greeting.success) return turnAway(socket, "protocol")
    const nonces = { extension: greeting.data.nonce, relay: nonce }
    if (greeting.data.protocol !== relayProtocol) return turnAway(socket, "protocol")
    const own = pairing.prove("relay", port, nonces)
    if (own === undefined) return turnAway(socket, "not-paired")
    say(socket, { type: "challenge", nonce, proof: own })
    const answer = proof.safeParse(await messages.next())
    if (!answer.success) return turnAway(socket, "protocol")
    const { instance, takeover, check, userAgent } = answer.data
    if (!pairing.accepts(answer.data.proof, port, nonces)) {
      options.onWrongSecret()
      return turnAway(socket, "wrong-secret")
    }
    options.onRightSecret()
    if (!check && !takeover && options.isTaken(instance)) return turnAway(socket, "taken")
    say(socket, options.welcome())
    return { instance, userAgent, version: greeting.data.version, check, listen: messages.listen }
  } catch {
    // It went away in the middle.
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

function say(socket: WebSocket, message: FromRelay): void {
  socket.send(JSON.stringify(message))
}

function turnAway(socket: WebSocket, reason: Refusal): undefined {
  say(socket, { type: "refused", reason })
  socket.close()
}

/** Nothing that comes between two steps is lost. */
function inOrder(socket: WebSocket) {
  const come: object[] = []
  let waiting: PromiseWithResolvers<unknown> | undefined
  let onMessage: ((said: object) => void) | undefined
  let silence: NodeJS.Timeout | undefined
  socket.on("message", (data) => {
    silence?.refresh()
    const message = parse(String(data))
    if (message === undefined) return socket.terminate()
    if (onMessage) onMessage(message)
    else if (waiting) waiting.resolve(message)
    else come.push(message)
    waiting = undefined
  })
  socket.on("close", () => {
    clearTimeout(silence)
    waiting?.reject(new Error("closed"))
  })
  return {
    async next(): Promise<unknown> {
      if (come.length > 0) return come.shift()
      waiting = Promise.withResolvers()
      return waiting.promise
    },
    listen(handler: (said: object) => void) {
      for (const message of come.splice(0)) handler(message)
      onMessage = handler
      silence = setTimeout(() => socket.terminate(), silentMs)
      silence.unref()
    },
  }
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
