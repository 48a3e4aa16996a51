// A file on its way to the other side: read in pieces, never more ahead than the window, so that a slow link fills no memory
// and what else is said keeps its turn.
import { createHash } from "node:crypto"
import { AppError, describeError } from "../../kernel/errors.ts"
import { fileWindow, partBytes } from "../protocol.ts"
import { OpenFile } from "./disk.ts"

export interface OutgoingOptions {
  file: number
  path: string
  /** As it was announced. */
  bytes: number
  sendPiece(bytes: Buffer): void
  onProgress?: ((taken: number) => void) | undefined
}

export class Outgoing {
  readonly #options: OutgoingOptions
  #sent = 0
  #taken = 0
  #stopped: AppError | undefined
  #wake: (() => void) | undefined

  constructor(options: OutgoingOptions) {
    this.#options = options
  }

  /** The other side has written that much. Ignores what cannot be: it would be sent everything at once. */
  took(bytes: number): void {
    if (!(bytes > this.#taken && bytes <= this.#sent)) return
    this.#taken = bytes
    this.#options.onProgress?.(bytes)
    this.#wake?.()
  }

  stop(error: AppError): void {
    this.#stopped ??= error
    this.#wake?.()
  }

  /** Resolves with the digest when all of it was sent and taken. */
  async run(): Promise<string> {
    const { path, bytes, sendPiece } = this.#options
    const hash = createHash("sha256")
    const handle = await OpenFile.open(path, "r")
    try {
      while (this.#sent < bytes) {
        await this.#room(() => this.#sent - this.#taken < fileWindow)
        const piece = Buffer.allocUnsafe(Math.min(partBytes, bytes - this.#sent))
        const bytesRead = await handle.read(piece, this.#sent)
        if (bytesRead === 0) throw new AppError("node-failed", "A file became shorter while it was sent")
        const read = piece.subarray(0, bytesRead)
        hash.update(read)
        this.#sent += bytesRead
        sendPiece(read)
      }
      await this.#room(() => this.#taken >= bytes)
    } catch (error) {
      if (error instanceof AppError) throw error
      throw new AppError("node-failed", `A file could not be read: ${describeError(error)}`, { cause: error })
    } finally {
      await handle.close()
    }
    return hash.digest("hex")
  }

  async #room(isFree: () => boolean): Promise<void> {
    for (;;) {
      if (this.#stopped) throw this.#stopped
      if (isFree()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}
