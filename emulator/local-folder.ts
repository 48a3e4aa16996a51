// A temporary folder with the files of a server in local mode, which hands out paths instead of links.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { StoredFile } from "./files.ts"

export class LocalFolder {
  #path: Promise<string> | undefined

  /** Puts the file on disk and returns its absolute path. */
  async place(file: StoredFile): Promise<string> {
    this.#path ??= mkdtemp(join(tmpdir(), "chat-emulator-"))
    const path = join(await this.#path, file.path)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, file.bytes)
    return path
  }

  async stop(): Promise<void> {
    if (this.#path) await rm(await this.#path, { recursive: true, force: true })
  }
}
