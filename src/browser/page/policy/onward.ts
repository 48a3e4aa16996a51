// Connections from the guard proxy to sites: to addresses that were checked, the first that takes one, and kept for the next
// request to the same addresses.
import { Agent } from "node:http"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { setTimeout as delay } from "node:timers/promises"
import { AppError } from "../../../kernel/index.ts"

const connectMs = 10_000
const maxAddresses = 4
const headStartMs = 300
/** Sites close what is idle themselves, often after five seconds. */
const idleMs = 15_000

/** What a request says of its way. */
export interface CheckedOptions {
  agent: CheckedAgent
  /** Those that were checked; connections are told apart by them, never by a name. */
  addresses: string[]
  port: number
  /** Aborts when nobody waits for the answer any more. */
  gone: AbortSignal
}

export class CheckedAgent extends Agent {
  constructor({ keepAlive }: { keepAlive: boolean }) {
    super({ keepAlive, maxFreeSockets: 64, timeout: idleMs })
  }

  override getName(options?: Partial<CheckedOptions>): string {
    return `${options?.addresses?.join(",")}:${options?.port}`
  }

  override createConnection(
    options: Partial<CheckedOptions>,
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    void connectTo(options, done ?? (() => undefined))
  }
}

async function connectTo(
  { addresses = [], port = 80, gone }: Partial<CheckedOptions>,
  done: (error: Error | null, stream: Duplex) => void,
): Promise<void> {
  let socket: Socket
  try {
    socket = await dialFirst(addresses, port, gone)
  } catch (error) {
    return done(error as Error, undefined as never)
  }
  done(null, socket)
}

/**
 * A connection to the first address that takes one; the next is tried when one fails or is late (RFC 8305), because a
 * network may have no way for one of the two families and not say so. Rejects with the last one's reason.
 */
export async function dialFirst(addresses: string[], port: number, signal?: AbortSignal): Promise<Socket> {
  const over = new AbortController()
  const ended = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const attempts: Promise<Socket>[] = []
  for (const host of addresses.slice(0, maxAddresses)) {
    const before = attempts.at(-1)
    attempts.push(before ? failedOrLate(before, ended).then(() => dial(host, port, ended)) : dial(host, port, ended))
  }
  try {
    const socket = await Promise.any(attempts)
    // Two can have connected at once.
    for (const attempt of attempts)
      attempt.then(
        (other) => other !== socket && other.destroy(),
        () => undefined,
      )
    return socket
  } catch (error) {
    signal?.throwIfAborted()
    throw (error as AggregateError).errors.at(-1) ?? new AppError("navigation-failed", "The name stands for no address")
  } finally {
    over.abort(new AppError("aborted", "Another address took the connection"))
  }
}

async function failedOrLate(attempt: Promise<Socket>, ended: AbortSignal): Promise<void> {
  const done = new AbortController()
  const late = delay(headStartMs, undefined, { signal: AbortSignal.any([ended, done.signal]) })
  const failed = new Promise<void>((resolve) => void attempt.catch(() => resolve()))
  try {
    await Promise.race([late, failed])
  } finally {
    done.abort()
    late.catch(() => undefined)
  }
}

function dial(host: string, port: number, signal: AbortSignal | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const socket = connect({ host, port, autoSelectFamily: false })
    const onAbort = () => socket.destroy(signal?.reason as Error)
    signal?.addEventListener("abort", onAbort, { once: true })
    socket.setTimeout(connectMs, () => socket.destroy(new AppError("timeout", `${host} does not answer`)))
    const onError = (error: NodeJS.ErrnoException) => reject(explain(error, host, port))
    socket.once("error", onError)
    socket.once("connect", () => {
      signal?.removeEventListener("abort", onAbort)
      socket.setTimeout(0)
      socket.off("error", onError)
      // From here on both ends say by closing what there is to say.
      socket.on("error", () => socket.destroy())
      resolve(socket)
    })
  })
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error instanceof AppError) return error
  const hint = error.code === "ECONNREFUSED" ? "Nothing listens at this address" : "Check the address and the network"
  return new AppError("navigation-failed", `No connection to ${host} port ${port} (${error.code ?? error.message})`, {
    cause: error,
    hint,
  })
}
