// How connections to the platform are made: directly, or through the proxy of the configuration. The packages that
// speak to proxies are loaded only where one is configured.
import { Agent as HttpAgent, type AgentOptions } from "node:http"
import { Agent as HttpsAgent } from "node:https"

export interface NetworkSettings {
  /** `http:`, `https:`, `socks4:`, `socks4a:`, `socks5:` or `socks5h:` (the proxy looks names up); may carry credentials. */
  proxy?: string | undefined
  /** IPv4 and IPv6 side by side; undefined is off on Node 22, whose attempts are too short for slow networks. */
  autoSelectFamily?: boolean | undefined
}

/** A new agent with no connections. `cut` ends connections that are still being made and that the agent does not know. */
export interface Agent {
  http: HttpAgent
  cut(): void
}

export type AgentMaker = () => Agent

/** Idle connections are given up before the other side does, so that a send rarely meets a closing one. */
const keepIdleMs = 15_000

export async function createAgentMaker(
  isTls: boolean,
  { proxy, autoSelectFamily = runtimeDefault() }: NetworkSettings = {},
): Promise<AgentMaker> {
  const family = autoSelectFamily === undefined ? {} : { autoSelectFamily }
  const options: AgentOptions = { keepAlive: true, timeout: keepIdleMs, ...family }
  if (proxy === undefined) return direct(isTls, options)
  const url = new URL(proxy)
  if (url.protocol.startsWith("socks")) {
    const { SocksProxyAgent } = await import("socks-proxy-agent")
    return () =>
      abortable((signal) => {
        const socketOptions = { ...family, signal }
        // The package hands these to the socket; its types know only a part of them.
        return new SocksProxyAgent(url, { keepAlive: true, socketOptions } as never)
      })
  }
  if (isTls) {
    const { HttpsProxyAgent } = await import("https-proxy-agent")
    return () => abortable((signal) => new HttpsProxyAgent(url, { ...options, signal } as AgentOptions))
  }
  const { HttpProxyAgent } = await import("http-proxy-agent")
  return () => abortable((signal) => new HttpProxyAgent(url, { ...options, signal } as AgentOptions))
}

export function direct(isTls: boolean, options: AgentOptions = { keepAlive: true, timeout: keepIdleMs }): AgentMaker {
  return () => ({ http: isTls ? new HttpsAgent(options) : new HttpAgent(options), cut: () => undefined })
}

/** What must not be seen of a proxy's address, in every form in which it could turn up. */
export function proxySecrets(proxy: string | undefined): string[] {
  if (proxy === undefined) return []
  const { username, password } = new URL(proxy)
  if (password === "") return []
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")
  return [decodeURIComponent(password), password, basic]
}

function abortable(make: (signal: AbortSignal) => HttpAgent): Agent {
  const abort = new AbortController()
  return { http: make(abort.signal), cut: () => abort.abort() }
}

function runtimeDefault(): boolean | undefined {
  return process.versions.node.startsWith("22.") ? false : undefined
}
