// The few messages before the two sides know each other: short ones, one after the other, each within a time.
import { AppError } from "../../kernel/errors.ts"
import { handshakeMs } from "../protocol.ts"
import type { MessageSocket } from "./socket.ts"

/** Who has not proved anything has nothing long to say. */
const longestStep = 8 * 1024

export interface Steps {
  send(message: object): void
  /** Rejects with `node-lost` when the other side goes away or takes too long, with `node-failed` when it makes no sense. */
  next(): Promise<Record<string, unknown>>
  /** Hears nothing from then on. */
  end(): void
}

export function stepsOf(socket: MessageSocket): Steps {
  const come: (Record<string, unknown> | AppError)[] = []
  let waiting: ((value: Record<string, unknown> | AppError) => void) | undefined
  const give = (value: Record<string, unknown> | AppError) => {
    if (waiting) waiting(value)
    else come.push(value)
    waiting = undefined
  }
  const onMessage = (data: Buffer, isBinary: boolean) => give(isBinary ? senseless() : read(data))
  const onClose = () => give(new AppError("node-lost", "The other side closed the connection"))
  const onError = () => socket.terminate()
  socket.on("message", onMessage)
  socket.on("close", onClose)
  socket.on("error", onError)
  return {
    send: (message) => socket.send(JSON.stringify(message)),
    async next() {
      const first = come.shift()
      const { promise, resolve } = Promise.withResolvers<Record<string, unknown> | AppError>()
      if (first) resolve(first)
      else waiting = resolve
      const timer = setTimeout(
        () => give(new AppError("node-lost", "The other side did not answer in time")),
        handshakeMs,
      )
      const value = await promise
      clearTimeout(timer)
      if (value instanceof AppError) throw value
      return value
    },
    // The listener for errors stays: without one an error of the socket would end the process.
    end() {
      socket.off("message", onMessage)
      socket.off("close", onClose)
    },
  }
}

function read(data: Buffer): Record<string, unknown> | AppError {
  if (data.length > longestStep) return senseless()
  try {
    const value: unknown = JSON.parse(data.toString("utf8"))
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Told below.
  }
  return senseless()
}

function senseless(): AppError {
  return new AppError("node-failed", "The other side does not speak the protocol of nodes")
}
