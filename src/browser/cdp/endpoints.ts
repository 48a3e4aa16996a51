// The HTTP side of CDP: `/json/version`, which names the WebSocket of the browser.
import { z } from "zod"
import { runWithTimeout } from "../../kernel/index.ts"

const versionSchema = z.looseObject({ Browser: z.string().default(""), webSocketDebuggerUrl: z.string() })

export interface BrowserVersion {
  product: string
  webSocketUrl: string
}

/** Rejects when nothing answers in time or when the answer is not a browser's. */
export async function fetchVersion(
  baseUrl: string,
  options: { timeoutMs: number; signal?: AbortSignal; headers?: Record<string, string> },
): Promise<BrowserVersion> {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/$/, "")}/json/version`
  const parsed = await runWithTimeout(
    options.timeoutMs,
    "The CDP address",
    async (signal) => {
      // A redirect could carry credentials to another host, and no browser sends one.
      const response = await fetch(url, { signal, headers: options.headers ?? {}, redirect: "error" })
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      return versionSchema.parse(await response.json())
    },
    options.signal,
  )
  return { product: parsed.Browser, webSocketUrl: parsed.webSocketDebuggerUrl }
}
