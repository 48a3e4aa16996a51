// Under which addresses a link of the page works: this machine's, the public one, and, where the configuration lets other
// machines in over plain HTTP, those of the local network.
import { networkInterfaces } from "node:os"
import { bracketed, localHost } from "../../kernel/http/index.ts"
import { isLoopbackBind } from "../config.ts"

export interface PageLinks {
  /** For a browser of this machine. */
  local: string
  /** For other devices; the first is the best. */
  others: string[]
}

export interface LinkPlace {
  bind: string
  port: number
  publicUrl?: string | undefined
  allowHttp: boolean
}

const allInterfaces: ReadonlySet<string> = new Set(["lan", "0.0.0.0", "::", "[::]"])

/** What opens the page itself. */
export function enterPath(code: string): string {
  return `/dashboard/#enter=${code}`
}

export function linkAddresses(path: string, place: LinkPlace): PageLinks {
  const { bind, port, publicUrl, allowHttp } = place
  const reachable = isLoopbackBind(bind) || !allowHttp ? [] : allInterfaces.has(bind) ? lanAddresses() : [bind]
  return {
    local: `http://${bracketed(localHost(bind))}:${port}${path}`,
    others: [
      ...(publicUrl === undefined ? [] : [`${publicUrl.replace(/\/$/, "")}${path}`]),
      ...reachable.map((address) => `http://${bracketed(address)}:${port}${path}`),
    ],
  }
}

/** IPv4 only: what somebody types or scans in a home network. */
function lanAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address)
}
