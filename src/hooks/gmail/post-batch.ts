// Hands a batch to a gateway's hook over HTTP: the gateway's own watch, and the one that runs in a terminal.
import { bracketed, localHost } from "../../kernel/http/index.ts"
import { AppError, type Clock, type ErrorCode, retry, runWithTimeout } from "../../kernel/index.ts"
import type { GmailBatch } from "./contract.ts"

const postTimeoutMs = 30_000
const policy = { attempts: 5, minDelayMs: 500, maxDelayMs: 10_000, jitter: 0.3 }

/** The hook of this machine's gateway, as far as no other is configured. */
export function batchUrl(options: {
  hookUrl: string | undefined
  gateway: { bind: string; port: number }
  /** `hooks.path` */
  path: string
}): string {
  const { hookUrl, gateway, path } = options
  return hookUrl ?? `http://${bracketed(localHost(gateway.bind))}:${gateway.port}${path}/gmail`
}

export function createBatchPoster(options: { url: string; token: string; clock: Clock; fetch?: typeof fetch }) {
  const post = async (batch: GmailBatch, signal: AbortSignal): Promise<void> => {
    const response = await (options.fetch ?? fetch)(options.url, {
      method: "POST",
      redirect: "error",
      signal,
      headers: {
        authorization: `Bearer ${options.token}`,
        "content-type": "application/json",
        // The gateway answers a repeated one without running it again.
        "idempotency-key": batch.deliveryId,
      },
      body: JSON.stringify(batch.payload),
    })
    await response.body?.cancel()
    if (response.ok) return
    throw new AppError(codeOf(response.status), `The gateway answered ${response.status} to a batch of mails`)
  }
  return (batch: GmailBatch, signal: AbortSignal): Promise<void> =>
    retry(
      {
        policy,
        clock: options.clock,
        signal,
        judge: (error) => ({ kind: isRefusal(error) ? "give-up" : "retry" }),
      },
      () => runWithTimeout(postTimeoutMs, "posting mails to the gateway", (limit) => post(batch, limit), signal),
    )
}

function codeOf(status: number): ErrorCode {
  if (status === 400) return "bad-request"
  return status === 413 ? "payload-too-large" : "gateway-unreachable"
}

/** What is refused for what it is will be refused again. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === "bad-request" || error.code === "payload-too-large")
}
