// What gateway and node say to each other over one WebSocket, as types and a few constants. docs/reference/node-protocol.md
// is its description for people. Both sides use this file, and the node's side must stay small: no schemas in here.
import { createHash } from "node:crypto"

/** The newest that this program speaks, and the oldest that it still takes from the other side. */
export const protocolVersion = 1
export const oldestProtocol = 1

/** Where a gateway takes in nodes. */
export const nodePath = "/node"

/** Longer messages travel in parts, so that a ping or a cancel never waits behind more than one of them. */
export const partBytes = 64 * 1024
export const longestFrame = 256 * 1024
/** Of a message that came in parts. */
export const longestMessage = 48 * 1024 * 1024
/** Of one file in either direction. */
export const largestFile = 2 * 1024 * 1024 * 1024
/** What is sent of a file before the other side has said that it took it. */
export const fileWindow = 1024 * 1024

/** Of each step until the other side is known. */
export const handshakeMs = 10_000

export type Role = "node" | "gateway"

/** Keys, nonces and proofs are base64url; a key is the 32 raw bytes of an Ed25519 public key. */
export interface Hello {
  type: "hello"
  protocol: number
  key: string
  nonce: string
  name: string
  platform: string
  version: string
}

export interface Challenge {
  type: "challenge"
  protocol: number
  key: string
  nonce: string
  proof: string
}

export interface Proof {
  type: "proof"
  proof: string
  offers: Offers
}

/** What the node can do now. */
export interface Offers {
  /** `browser.proxy` while its browser is offered. */
  commands: string[]
  browser?: BrowserOffer
}

export interface BrowserOffer {
  /** Those that the node's owner lets the gateway use. */
  profiles: string[]
  defaultProfile: string
}

/** Nobody has let the node in yet; the connection stays, and `welcome` follows when somebody does. */
export interface Pending {
  type: "pending"
  code: string
  /** Milliseconds since the epoch. */
  until: number
}

export interface Welcome {
  type: "welcome"
  id: string
  /** As the owner calls it. */
  name: string
}

/** The end of the connection, with why. `final`: trying again changes nothing until somebody does something. */
export interface Refused {
  type: "refused"
  code: RefusalCode
  message: string
  hint?: string
  final: boolean
}

export type RefusalCode =
  | "protocol"
  | "node-too-old"
  | "gateway-too-old"
  | "wrong-proof"
  | "revoked"
  | "denied"
  | "lapsed"
  | "too-many"
  | "replaced"
  | "stopping"

export interface Invoke {
  type: "invoke"
  id: number
  command: string
  params: unknown
  files: FileNotice[]
}

export interface FileNotice {
  /** Counted by the side that sends it. */
  file: number
  /** Which value of the params or the payload it stands for: `path`, `download.path`, `paths.0`. */
  field: string
  name: string
  bytes: number
}

export interface Result {
  type: "result"
  id: number
  status: number
  body: unknown
  files: FileNotice[]
}

export interface Cancel {
  type: "cancel"
  id: number
}

/** Bytes of a file that have been written down. */
export interface Taken {
  type: "taken"
  file: number
  bytes: number
}

/** All of it was sent: a check of what came. */
export interface FileEnd {
  type: "file-end"
  file: number
  /** Hex. */
  sha256: string
}

/** From whichever side cannot go on with a file. */
export interface FileStop {
  type: "file-stop"
  file: number
  /** Of the receiver's, about a file of the other side; else of the sender's own. */
  by: "sender" | "receiver"
  message: string
}

export interface OffersChanged {
  type: "offers"
  offers: Offers
}

export type Opening = Hello | Challenge | Proof | Pending | Welcome | Refused
export type Working =
  | Pending
  | Welcome
  | Refused
  | Invoke
  | Result
  | Cancel
  | Taken
  | FileEnd
  | FileStop
  | OffersChanged

/** What a proof is a signature of: fresh numbers of both sides, both keys, and who speaks. */
export function proofText(role: Role, keys: Record<Role, string>, nonces: Record<Role, string>): Buffer {
  const parts = [`svc-node/${protocolVersion}`, role, keys.node, keys.gateway, nonces.node, nonces.gateway]
  return Buffer.from(parts.join("\n"))
}

/** A node is known by its key. */
export function nodeIdOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16)
}

/** For two people, or one who looks at two screens, to compare. */
export function fingerprintOf(key: string): string {
  const digest = createHash("sha256").update(key).digest("hex").slice(0, 24)
  return (digest.match(/.{4}/g) ?? []).join(" ")
}
