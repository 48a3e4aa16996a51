// The HTTP side of CDP: `/json/version`, which names the WebSocket of the browser, and `/json/list`, which only counts.
import { z } from "zod"
import { describeError, runWithTimeout } from "../../kernel/index.ts"
import type { CdpAddress } from "./address.ts"

const versionSchema = z.looseObject({
  Browser: z.string().default(""),
  webSocketDebuggerUrl: z.url({ protocol: /^wss?$/ }),
})
const listSchema = z.array(z.looseObject({ type: z.string().default("") }))

/** Far more than any browser says of itself and its tabs. */
const maxBytes = 4 * 1024 * 1024

export type VersionAnswer =
  | { kind: "browser"; product: string; webSocketUrl: string }
  /** Our credentials are missing or wrong. */
  | { kind: "refused"; reason: string }
  /** Something answers, and it is no browser that says so here. */
  | { kind: "no-browser"; reason: string }
  | { kind: "unreachable"; reason: string }

export interface AskOptions {
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Rejects only when `signal` aborts. */
export async function askVersion(address: CdpAddress, options: AskOptions): Promise<VersionAnswer> {
  const answer = await ask(address, "version", options)
  if (answer.kind !== "json") return answer
  const version = versionSchema.safeParse(answer.value)
  if (!version.success) return { kind: "no-browser", reason: "/json/version names no WebSocket address" }
  return { kind: "browser", product: version.data.Browser, webSocketUrl: version.data.webSocketDebuggerUrl }
}

/** How many pages the browser has open; undefined when it does not say. Rejects only when `signal` aborts. */
export async function countPages(address: CdpAddress, options: AskOptions): Promise<number | undefined> {
  const answer = await ask(address, "list", options)
  const list = listSchema.safeParse(answer.kind === "json" ? answer.value : undefined)
  return list.success ? list.data.filter(({ type }) => type === "page").length : undefined
}

type Answer = { kind: "json"; value: unknown } | Exclude<VersionAnswer, { kind: "browser" }>

async function ask(address: CdpAddress, name: "version" | "list", options: AskOptions): Promise<Answer> {
  const { timeoutMs, signal: parent } = options
  try {
    return await runWithTimeout(timeoutMs, "The CDP address", (signal) => read(address, name, signal), parent)
  } catch (error) {
    parent?.throwIfAborted()
    return { kind: "unreachable", reason: describeError(error) }
  }
}

async function read(address: CdpAddress, name: "version" | "list", signal: AbortSignal): Promise<Answer> {
  // A redirect could carry credentials to another host, and no browser sends one.
  const response = await fetch(address.endpoint(name), { signal, headers: address.headers, redirect: "manual" })
  const text = await readText(response)
  if (response.status === 401 || response.status === 403)
    return { kind: "refused", reason: `the credentials were refused (HTTP ${response.status})` }
  if (response.status >= 300 && response.status < 400)
    return { kind: "no-browser", reason: `HTTP ${response.status}: redirects are not followed` }
  if (!response.ok) {
    // Chromium's answer to a host name; it wants an address, since pages could bend a name to this machine.
    const name = /Host header/i.test(text) ? ": the browser wants an IP address or localhost as its host" : ""
    return { kind: "no-browser", reason: `HTTP ${response.status}${name}` }
  }
  try {
    return { kind: "json", value: JSON.parse(text) }
  } catch {
    return { kind: "no-browser", reason: "the answer is not JSON" }
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}
