// What the configuration says about a webhook, taken apart: where the gateway listens, what the platform is told.
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
  if (!isOwnServer && /^(localhost|127\.|10\.|192\.168\.|\[::1\])/.test(hostname)) {
    warnings.push("webhookUrl names this machine or its network: the platform cannot reach it")
  }
  if (host === "0.0.0.0" || host === "::") {
    warnings.push(
      "the listener speaks plain HTTP on every network of this machine: put a proxy with TLS in front of it",
    )
  }
  return warnings
}
