// Where the gateway listens. Other machines may reach it only when its secret is long enough to be safe there.
import { type Socket, isIP } from "node:net"
import { plainAddress } from "../kernel/http/index.ts"
import { AppError } from "../kernel/index.ts"
import { isLoopbackBind } from "./config.ts"
import type { GatewayToken } from "./token.ts"

export interface Binding {
  host: string
  /** Names under which this connection may call us besides loopback names: the very address it came in on. */
  ownHosts(socket: Socket): string[]
  /** Other machines reach it. */
  isPublic: boolean
}

const publicTokenCharacters = 24

/** Throws `config-invalid` where nothing can listen, or other machines could and the secret is too short for them. */
export function resolveBinding(options: { bind: string; token: Pick<GatewayToken, "length"> }): Binding {
  const host = listenAddress(options.bind)
  // The guard knows the usual loopback names, with their port; any other address is named by the connection.
  const ownHosts = host === "127.0.0.1" || host === "::1" ? () => [] : addressOf
  if (isLoopbackBind(host)) return { host, ownHosts, isPublic: false }
  if (options.token.length < publicTokenCharacters) {
    throw new AppError("config-invalid", `gateway.bind is "${options.bind}" but the gateway token is short`, {
      hint: `Listening beyond this machine needs a token of at least ${publicTokenCharacters} characters`,
    })
  }
  return { host, ownHosts, isPublic: true }
}

function listenAddress(bind: string): string {
  if (bind === "loopback" || bind === "localhost") return "127.0.0.1"
  if (bind === "lan") return "0.0.0.0"
  const address = bind.replace(/^\[(.*)\]$/, "$1")
  if (isIP(address) === 0) {
    throw new AppError("config-invalid", `gateway.bind "${bind}" is neither loopback, lan nor an address`)
  }
  return address
}

/** An address cannot be rebound as a name can. */
function addressOf(socket: Socket): string[] {
  const address = plainAddress(socket.localAddress ?? "")
  return [address.includes(":") ? `[${address}]` : address]
}
