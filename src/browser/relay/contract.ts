// What the extension and the relay say to each other, in JSON over one WebSocket: ws://127.0.0.1:<relay port>/extension.
// Both import this file, so it holds types, constants and pure functions only. Hello -> challenge -> proof -> welcome, then
// commands to the extension and answers and events from it. The secret itself is never sent.

export const relayProtocol = 1

/** From the `key` of the manifest: the same wherever the extension is installed. */
export const extensionId = "bigdlbonlhdgemekapooekdkcebgegdf"
export const extensionOrigin = `chrome-extension://${extensionId}`

export const defaultRelayPort = 18_792

/** Chrome ends a worker that hears nothing for thirty seconds; an open socket alone does not count. */
export const pingMs = 20_000
/** Two pings that were not answered. */
export const silentMs = 45_000

/** A tab that the person has attached, or that was opened by way of one. */
export interface RelayTab {
  /** Made anew at each attachment; whoever knows it speaks to the tab. */
  session: string
  targetId: string
  title: string
  url: string
  /** `person`: the button was pressed in it. `agent`: opened by a command. `page`: opened by an attached page. */
  by: "person" | "agent" | "page"
  openerId?: string
}

/** A session below a tab: a frame or worker in another process. `params` is the event that told of it. */
export interface RelayChild {
  session: string
  child: string
  /** The session above it; absent for that of the tab. */
  parent?: string
  params: Record<string, unknown>
}

export type Refusal =
  /** The other side does not have the secret of this pairing. */
  | "wrong-secret"
  /** The gateway has no pairing yet. */
  | "not-paired"
  /** Another browser is connected. */
  | "taken"
  /** The versions do not fit. */
  | "protocol"

/** Why the gateway ends a connection. */
export type Closing = "stopping" | "browser-off" | "replaced" | "paired-anew"

export type FromExtension =
  | { type: "hello"; protocol: number; nonce: string; version: string }
  | {
      type: "proof"
      proof: string
      /** The same for as long as the extension is installed in this browser. */
      instance: string
      /** Only ever after a click of the person: takes the place of another browser. */
      takeover: boolean
      /** Only looks whether the pairing works. */
      check: boolean
      userAgent: string
    }
  /** All that is attached: what follows a welcome, before anything else. */
  | { type: "tabs"; tabs: RelayTab[]; children: RelayChild[] }
  | { type: "ping" }
  | { type: "attached"; tab: RelayTab }
  | { type: "changed"; tab: RelayTab }
  | { type: "detached"; session: string; reason: string }
  /** A command has arrived, and is about to be done: one that has not may be sent again. */
  | { got: number }
  | { id: number; result: unknown }
  | { id: number; error: RelayError }
  | { session: string; child?: string; method: string; params: Record<string, unknown> }

export type FromRelay =
  | { type: "challenge"; nonce: string; proof: string }
  | { type: "welcome"; boot: string; newTabs: boolean }
  | { type: "refused"; reason: Refusal }
  | { type: "closing"; reason: Closing }
  | { type: "pong" }
  | RelayCommand

export interface RelayCommand {
  id: number
  /** Of a tab; absent for commands about tabs themselves. */
  session?: string
  child?: string
  method: string
  params: Record<string, unknown>
}

export type RelayErrorKind =
  /** Not on the list, or not with these parameters. */
  | "refused"
  /** The tab is not attached, or no longer. */
  | "no-tab"
  /** The browser's own answer. */
  | "browser"

export interface RelayError {
  kind: RelayErrorKind
  message: string
}

export type Role = "relay" | "extension"

/**
 * What a side proves that it has the secret with. Both nonces tie it to this connection, the role keeps one side's proof from
 * being the other's, and the port keeps it from being passed on to a listener elsewhere.
 */
export function proofText(role: Role, port: number, nonces: { extension: string; relay: string }): string {
  return ["svc relay", relayProtocol, role, port, nonces.extension, nonces.relay].join("\n")
}

/** `18792-abcd-...`: the port and 160 bits of secret, as a person carries them over. */
export function parsePairingCode(code: string): { port: number; secret: string } | undefined {
  const parts = code
    .trim()
    .toLowerCase()
    .split(/[\s-]+/)
  const port = Number(parts[0])
  const secret = parts.slice(1).join("")
  if (!Number.isInteger(port) || port < 1 || port > 65_535 || !/^[a-z2-7]{32}$/.test(secret)) return undefined
  return { port, secret }
}

export function formatPairingCode(port: number, secret: string): string {
  return [port, ...(secret.match(/.{1,4}/g) ?? [])].join("-")
}
