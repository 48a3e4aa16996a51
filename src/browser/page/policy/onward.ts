// Connections from the guard proxy to sites: to addresses that were checked, the first that takes one, and kept for the next
// request to the same addresses.
import { Agent } from "node:http"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AppError } from "../../../kernel/index.ts"

const connectMs = 10_000
const maxAddresses = 4
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

/** A connection to the first address that takes one. Rejects with the last one's reason. */
export async function dialFirst(addresses: string[], port: number, signal?: AbortSignal): Promise<Socket> {
  let failure: unknown = new AppError("navigation-failed", "The name stands for no address")
  for (const host of addresses.slice(0, maxAddresses)) {
    try {
      return await dial(host, port, signal)
    } catch (error) {
      failure = error
      signal?.throwIfAborted()
    }
  }
  throw failure
}

function dial(host: string, port: number, signal: AbortSignal | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
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
