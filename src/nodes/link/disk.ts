// Files of this machine, piece by piece. By the functions with callbacks: those with promises bring streams of the web with
// them, two megabytes of the memory of a node that waits.
import { close, fsync, open, read, rm, write } from "node:fs"
import { promisify } from "node:util"

const calls = {
  open: promisify(open),
  read: promisify(read),
  write: promisify(write),
  sync: promisify(fsync),
  close: promisify(close),
  remove: promisify(rm),
}

export class OpenFile {
  readonly #descriptor: number

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  static async open(path: string, flags: "r" | "wx"): Promise<OpenFile> {
    return new OpenFile(await calls.open(path, flags, 0o600))
  }

  /** Bytes that were read into the piece; 0 at the end. */
  async read(piece: Buffer, position: number): Promise<number> {
    return (await calls.read(this.#descriptor, piece, 0, piece.length, position)).bytesRead
  }

  /** Behind what was written before, all of it. */
  async write(piece: Buffer): Promise<void> {
    for (let at = 0; at < piece.length;) {
      at += (await calls.write(this.#descriptor, piece, at, piece.length - at, null)).bytesWritten
    }
  }

  sync(): Promise<void> {
    return calls.sync(this.#descriptor)
  }

  close(): Promise<void> {
    return calls.close(this.#descriptor)
  }
}

/** Nothing happens when it is not there. */
export function removeFile(path: string): Promise<void> {
  return calls.remove(path, { force: true })
}
