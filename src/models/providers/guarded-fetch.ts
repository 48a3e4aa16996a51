// The fetch that providers use: ends half-open connections (nothing received for a while), endless bodies and pages
// of HTML. The caller's own signal stays in force throughout.
import { setImmediate as nextTurn } from "node:timers/promises"
import { AppError } from "../../kernel/index.ts"
import { ProviderPage } from "./contract.ts"

export interface FetchLimits {
  /** Longest silence, while connecting, waiting for headers, or between two pieces of the body. */
  idleTimeoutMs: number
  /** Bytes of one response, framing included. */
  maxResponseBytes: number
}

export function createGuardedFetch(limits: FetchLimits): typeof fetch {
  return async (input, init) => {
    await (fetchIsLoaded ??= loadFetch())
    const silence = new AbortController()
    const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal
    const underWatch = async <T>(work: Promise<T>): Promise<T> => {
      const timer = setTimeout(() => silence.abort(silenceError(limits.idleTimeoutMs)), limits.idleTimeoutMs)
      try {
        return await work
      } finally {
        clearTimeout(timer)
      }
    }
    // A redirect would carry the key and the conversation to an address that nobody configured.
    const response = await underWatch(fetch(input, { ...init, signal, redirect: "error" }))
    const type = response.headers.get("content-type") ?? ""
    if (response.ok && /\b(?:html|xml)\b/i.test(type)) {
      await response.body?.cancel()
      throw new ProviderPage(type.split(";")[0])
    }
    if (!response.body) return response
    const body = guardBody(response.body, limits.maxResponseBytes, underWatch)
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }
}

let fetchIsLoaded: Promise<void> | undefined

/**
 * Node loads its own fetch when it is first used, which takes 15 ms and more. The first turn after a start, in which all else
 * is cold as well, would hold the event loop in one stretch with it.
 */
async function loadFetch(): Promise<void> {
  await nextTurn()
  // Any of its parts does.
  if (typeof globalThis.Headers !== "function") throw new TypeError("this Node.js has no fetch")
  await nextTurn()
}

/** The timer runs only while a read is pending, so that a slow reader is never taken for a silent provider. */
function guardBody(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  underWatch: <T>(work: Promise<T>) => Promise<T>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let received = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await underWatch(reader.read())
      if (done) return controller.close()
      received += value.byteLength
      if (received > maxBytes) {
        await reader.cancel()
        throw endlessError()
      }
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function silenceError(idleTimeoutMs: number): AppError {
  return new AppError("timeout", `The provider sent nothing for ${idleTimeoutMs / 1000} s`)
}

export function endlessError(): AppError {
  return new AppError("model-failed", "The reply had no end and was cut off")
}
