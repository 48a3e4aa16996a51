// One connection to the relay: opened, both sides proven, then messages until it ends. hello -> challenge -> proof -> welcome.
// The relay proves itself first: whoever else listens on the port learns a random number, and nothing that depends on the secret.
import {
  type FromExtension,
  type FromRelay,
  type Refusal,
  pingMs,
  relayProtocol,
  silentMs,
} from "../../src/browser/relay/contract.ts"
import { chrome } from "./chrome.ts"
import { isSame, newNonce, prove } from "./proof.ts"
import type { Settings } from "./settings.ts"

/** Why there is no connection, with words for the person. */
export class LinkProblem extends Error {
  readonly kind: "unreachable" | Refusal

  constructor(kind: LinkProblem["kind"], port: number) {
    super(words[kind](port))
    this.kind = kind
  }
}

const words: Record<LinkProblem["kind"], (port: number) => string> = {
  unreachable: (port) => `Nothing answers on port ${port}: the gateway is not running, or browser control is off`,
  "wrong-secret": (port) =>
    `What answers on port ${port} has not the secret of this pairing. Pair again in the options`,
  "not-paired": () => "Not paired yet. Paste the code of `svc browser extension pair` into the options",
  taken: () => "Another browser is connected to the gateway. Press the button here to use this one",
  protocol: () => "The gateway and this extension are of different versions: run svc browser extension install again",
}

export interface ConnectOptions {
  settings: Settings
  takeover: boolean
  /** Only looks whether the pairing works. */
  check?: boolean
  onMessage(message: FromRelay): void
  onClose(): void
}

export interface Connection {
  boot: string
  newTabs: boolean
  send(message: FromExtension): void
  close(): void
}

const handshakeMs = 5_000

/** Rejects with LinkProblem. */
export async function connectRelay(options: ConnectOptions): Promise<Connection> {
  const { port, secret } = options.settings
  if (secret === "") throw new LinkProblem("not-paired", port)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/extension`)
  const timer = setTimeout(() => socket.close(), handshakeMs)
  try {
    return await shakeHands(socket, options)
  } catch (error) {
    socket.close()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function shakeHands(socket: WebSocket, options: ConnectOptions): Promise<Connection> {
  const { settings, takeover, check = false } = options
  const { port, secret } = settings
  const send = (message: FromExtension) => socket.send(JSON.stringify(message))
  const answers = messagesOf(socket, port)
  await answers.opened
  const nonce = newNonce()
  send({ type: "hello", protocol: relayProtocol, nonce, version: chrome.runtime.getManifest().version })
  const challenge = await answers.next("challenge")
  const nonces = { extension: nonce, relay: String(challenge.nonce) }
  if (!isSame(String(challenge.proof), await prove(secret, "relay", port, nonces)))
    throw new LinkProblem("wrong-secret", port)
  const proof = await prove(secret, "extension", port, nonces)
  const { userAgent } = navigator
  send({ type: "proof", proof, instance: settings.instance, takeover, check, userAgent })
  const { boot, newTabs } = await answers.next("welcome")
  keepAlive(socket, options, send)
  return { boot, newTabs, send, close: () => socket.close() }
}

/** The messages of the handshake, one after the other. */
function messagesOf(socket: WebSocket, port: number) {
  const waiting: ((message: FromRelay | undefined) => void)[] = []
  const come: (FromRelay | undefined)[] = []
  const put = (message: FromRelay | undefined) => {
    const next = waiting.shift()
    if (next) next(message)
    else come.push(message)
  }
  socket.onmessage = ({ data }) => put(parse(String(data)))
  const opened = new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onclose = () => {
      reject(new LinkProblem("unreachable", port))
      put(undefined)
    }
  })
  return {
    opened,
    async next<Type extends "challenge" | "welcome">(type: Type): Promise<Extract<FromRelay, { type: Type }>> {
      const message =
        come.length > 0 ? come.shift() : await new Promise<FromRelay | undefined>((done) => waiting.push(done))
      if (message && "type" in message && message.type === "refused") throw new LinkProblem(message.reason, port)
      if (message && "type" in message && message.type === type) return message as Extract<FromRelay, { type: Type }>
      throw new LinkProblem("unreachable", port)
    },
  }
}

/** A message each twenty seconds keeps the worker from being ended, and tells of a gateway that is gone without a word. */
function keepAlive(socket: WebSocket, options: ConnectOptions, send: (message: FromExtension) => void): void {
  let heardAt = Date.now()
  const timer = setInterval(() => {
    if (Date.now() - heardAt > silentMs) end()
    else send({ type: "ping" })
  }, pingMs)
  const end = () => {
    if (socket.onclose === null) return
    socket.onclose = null
    clearInterval(timer)
    socket.close()
    options.onClose()
  }
  socket.onclose = end
  socket.onmessage = ({ data }) => {
    heardAt = Date.now()
    const message = parse(String(data))
    if (message) options.onMessage(message)
  }
}

function parse(text: string): FromRelay | undefined {
  try {
    return JSON.parse(text) as FromRelay
  } catch {
    return undefined
  }
}
