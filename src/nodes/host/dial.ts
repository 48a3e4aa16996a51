// One attempt to reach the gateway: WebSocket -> hello -> its challenge, which proves that it is the one we know -> our proof.
import { AppError } from "../../kernel/errors.ts"
import { isSignedBy } from "../keys.ts"
import type { MessageSocket } from "../link/socket.ts"
import { stepsOf } from "../link/steps.ts"
import {
  type Offers,
  type Refused,
  handshakeMs,
  longestFrame,
  oldestProtocol,
  proofText,
  protocolVersion,
} from "../protocol.ts"
import type { Identity } from "./identity.ts"
import { openWebSocket } from "./web-socket.ts"

export interface DialOptions {
  address: string
  identity: Identity
  /** How the node calls itself. */
  name: string
  version: string
  nonce: string
  offers: Offers
  signal: AbortSignal
}

export interface Dialled {
  socket: MessageSocket
  /** The gateway's, proved. */
  key: string
}

/** Rejects with `Turned` for what the gateway says itself, with `node-lost` or `node-failed` for all else. */
export async function dial(options: DialOptions): Promise<Dialled> {
  const { address, identity, name, version, offers, nonce } = options
  const { signal } = options
  const socket = await openWebSocket({ address, timeoutMs: handshakeMs, maxBytes: 2 * longestFrame, signal })
  const steps = stepsOf(socket)
  try {
    const key = identity.keys.publicKey
    steps.send({ type: "hello", protocol: protocolVersion, key, nonce, name, platform: process.platform, version })
    const challenge = challengeIn(await steps.next())
    if (!identity.fits(address, challenge.key)) throw otherGateway()
    const all = [
      { node: key, gateway: challenge.key },
      { node: nonce, gateway: challenge.nonce },
    ] as const
    if (!isSignedBy(challenge.key, proofText("gateway", ...all), challenge.proof)) throw otherGateway()
    // The listener of the link comes in the same turn, before anything can answer this.
    steps.send({ type: "proof", proof: identity.keys.sign(proofText("node", ...all)), offers })
    return { socket, key: challenge.key }
  } catch (error) {
    socket.terminate()
    throw error
  } finally {
    steps.end()
  }
}

/** What a gateway has said instead of going on. */
export class Turned extends Error {
  readonly refusal: Omit<Refused, "type">

  constructor(refusal: Omit<Refused, "type">) {
    super(refusal.message)
    this.name = "Turned"
    this.refusal = refusal
  }
}

/** Words of the other side, cut to what a terminal can show. */
export function refusalIn(message: Record<string, unknown>): Omit<Refused, "type"> {
  const words = (value: unknown) =>
    String(value)
      .replace(/[\p{Cc}\p{Cf}]/gu, " ")
      .slice(0, 300)
  const { code, message: why, hint, final } = message
  return {
    code: words(code) as Refused["code"],
    message: words(why),
    ...(typeof hint === "string" ? { hint: words(hint) } : {}),
    final: final === true,
  }
}

function challengeIn(message: Record<string, unknown>): { key: string; nonce: string; proof: string } {
  if (message["type"] === "refused") throw new Turned(refusalIn(message))
  const { type, protocol, key, nonce, proof } = message
  if (type !== "challenge" || typeof key !== "string" || typeof nonce !== "string" || typeof proof !== "string") {
    throw new AppError("node-failed", "What answers there is no gateway")
  }
  if (typeof protocol !== "number" || protocol < oldestProtocol) {
    const text = `The gateway speaks protocol ${String(protocol)}; this node needs at least ${oldestProtocol}`
    throw new Turned({ code: "gateway-too-old", message: text, hint: "Update svc on the gateway", final: true })
  }
  return { key, nonce, proof }
}

function otherGateway(): AppError {
  return new AppError("node-refused", "What answers there is not the gateway that has let this node in", {
    hint: "If it was set up anew: svc node run --new-gateway. If not, somebody stands in between",
  })
}
