// What the configuration says about a webhook, taken apart: where the gateway listens, what the platform is told.
import { BlockList, isIP } from "node:net"
import type { AccountSettings } from "../settings.ts"

export interface WebhookAddress {
  /** As configured; accounts with the same one share a listener. */
  bind: string
  host: string
  port: number
  /** Exact path of the listener; tells accounts apart. */
  path: string
  /** What the platform calls. */
  url: string
}

const platformPorts = new Set(["", "80", "88", "443", "8443"])
/** Loopback, private and link-local: RFC 1122, 1918, 3927, 6598; RFC 4193, 4291. */
const ownNetworks = new BlockList()
for (const [start, bits] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  ownNetworks.addSubnet(start, bits, "ipv4")
ownNetworks.addAddress("::1", "ipv6")
ownNetworks.addSubnet("fc00::", 7, "ipv6")
ownNetworks.addSubnet("fe80::", 10, "ipv6")

export function webhookAddress(settings: AccountSettings, webhookUrl: string): WebhookAddress {
  const { webhookBind: bind, webhookPath: path } = settings
  const separator = bind.lastIndexOf(":")
  const url = new URL(webhookUrl)
  if (url.pathname === "/") url.pathname = path
  return {
    bind,
    host: bind.slice(0, separator).replace(/^\[|\]$/g, ""),
    port: Number(bind.slice(separator + 1)),
    path,
    url: url.href,
  }
}

/** What the platform will not take or what is not safe, in words for the log; the platform has the last word. */
export function webhookWarnings({ url, host }: WebhookAddress, isOwnServer: boolean): string[] {
  const { protocol, port, hostname } = new URL(url)
  const warnings: string[] = []
  if (!isOwnServer && protocol !== "https:") warnings.push("webhookUrl is not https: the platform does not take it")
  if (!isOwnServer && !platformPorts.has(port)) {
    warnings.push(`webhookUrl names port ${port}: the platform takes 80, 88, 443 and 8443 only`)
  }
  if (!isOwnServer && isOwnNetwork(hostname)) {
    warnings.push("webhookUrl names this machine or its network: the platform cannot reach it")
  }
  if (host === "0.0.0.0" || host === "::") {
    warnings.push(
      "the listener speaks plain HTTP on every network of this machine: put a proxy with TLS in front of it",
    )
  }
  return warnings
}

function isOwnNetwork(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true
  const address = hostname.replace(/^\[|\]$/g, "")
  const version = isIP(address)
  return version !== 0 && ownNetworks.check(address, version === 6 ? "ipv6" : "ipv4")
}
