// A file that comes from the other side: written down piece by piece, held to what was announced. What it lies about ends the
// connection, what does not fit its digest is thrown away.
import { createHash } from "node:crypto"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { AppError, describeError } from "../../kernel/errors.ts"
import { fileWindow, partBytes } from "../protocol.ts"
import { OpenFile, removeFile } from "./disk.ts"

export interface IncomingOptions {
  /** Made new; removed again when the file does not come whole. */
  path: string
  bytes: number
  onTaken(bytes: number): void
}

export class Incoming {
  readonly #options: IncomingOptions
  readonly #hash = createHash("sha256")
  readonly #done = Promise.withResolvers<void>()
  #come = 0
  #written = 0
  #handle: Promise<OpenFile> | undefined
  #line: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(options: IncomingOptions) {
    this.#options = options
    // Whoever waits for it may come later.
    this.#done.promise.catch(() => undefined)
  }

  get written(): number {
    return this.#written
  }

  /** Rejects when the file does not come whole; nothing of it is left then. */
  get finished(): Promise<void> {
    return this.#done.promise
  }

  /** What is wrong with the piece; undefined when it is fine. */
  take(piece: Buffer): string | undefined {
    if (this.#isOver) return undefined
    this.#come += piece.length
    if (this.#come > this.#options.bytes) return "a file is longer than it was announced"
    if (this.#come - this.#written > fileWindow + partBytes) return "a file is sent without waiting"
    this.#hash.update(piece)
    this.#next(async () => {
      const handle = await this.#open()
      await handle.write(piece)
      this.#written += piece.length
      this.#options.onTaken(this.#written)
    })
    return undefined
  }

  end(sha256: string): void {
    this.#next(async () => {
      const handle = await this.#open()
      if (this.#come !== this.#options.bytes || this.#hash.digest("hex") !== sha256) {
        throw new AppError("node-failed", "A file did not come as it was sent")
      }
      await handle.sync()
      await handle.close()
      this.#isOver = true
      this.#done.resolve()
    })
  }

  fail(error: AppError): void {
    this.#next(() => Promise.reject(error))
  }

  #next(work: () => Promise<void>): void {
    this.#line = this.#line.then(async () => {
      if (this.#isOver) return
      try {
        await work()
      } catch (error) {
        this.#isOver = true
        await this.#discard()
        this.#done.reject(
          error instanceof AppError
            ? error
            : new AppError("node-failed", `A file could not be kept: ${describeError(error)}`, { cause: error }),
        )
      }
    })
  }

  #open(): Promise<OpenFile> {
    if (!this.#handle) {
      mkdirSync(dirname(this.#options.path), { recursive: true, mode: 0o700 })
      this.#handle = OpenFile.open(this.#options.path, "wx")
    }
    return this.#handle
  }

  async #discard(): Promise<void> {
    const handle = await this.#handle?.catch(() => undefined)
    await handle?.close().catch(() => undefined)
    if (handle) await removeFile(this.#options.path).catch(() => undefined)
  }
}
