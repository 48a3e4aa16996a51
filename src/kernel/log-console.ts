// Where log lines for people go: standard error, of which nothing is certain. Its reader may have gone, read slowly or
// not at all, and its disk may be full. No line of it ever stops the gateway: what cannot be written is counted.
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs"

export interface LogConsole {
  /** False when the line is lost. */
  write(text: string): boolean
  close(): void
}

/** What may wait for a slow reader; about a minute of a busy log. */
const maxWaitingBytes = 256 * 1024

/** Over one of the process's own streams; the descriptor is that of the stream. */
export function createLogConsole(stream: NodeJS.WriteStream, descriptor: number): LogConsole {
  // A reader that has gone is an error event, and without a listener the end of the process.
  if (stream.listenerCount("error") === 0) stream.on("error", () => undefined)
  const direct = directDescriptor(stream, descriptor)
  if (direct !== undefined) {
    return {
      write: (text) => writeWhole(direct, text),
      close() {
        if (direct !== descriptor) closeSync(direct)
      },
    }
  }
  return {
    write(text) {
      if (!stream.writable || stream.writableLength > maxWaitingBytes) return false
      stream.write(text)
      return true
    },
    close: () => undefined,
  }
}

/**
 * A terminal is written to through a way of our own that never waits (one that was paused would stop everything), a
 * file without the stream, which is of no more use after its first error.
 */
function directDescriptor(stream: NodeJS.WriteStream, descriptor: number): number | undefined {
  try {
    if (fstatSync(descriptor).isFile()) return descriptor
    if (!stream.isTTY) return undefined
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    return openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return undefined
  }
}

function writeWhole(descriptor: number, text: string): boolean {
  const bytes = Buffer.from(text)
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
    return true
  } catch {
    // Full, paused or gone.
    return false
  }
}
