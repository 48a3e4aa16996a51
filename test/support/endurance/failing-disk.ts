// A disk that fails for a moment under a running gateway: full (ENOSPC, on a file system of a fixed size, which only root
// can mount), or refusing every write of the process (EFBIG, which SQLite sees as an I/O error).
import { type ChildProcess, execFileSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { TestContext } from "node:test"
import { temporaryFolder } from "../temporary.ts"

const megabytes = 160
/** Writes behind this place of a file are refused: of the database, its log and our own log. */
const writableBytes = 512

export class FailingDisk {
  /** The state folder on the disk. */
  readonly folder: string
  readonly #full: string | undefined

  constructor(context: Pick<TestContext, "after">) {
    const base = temporaryFolder()
    if (process.platform === "linux" && process.getuid?.() === 0) {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", base])
      // Lazily: what still runs is ended by a hook after this one.
      context.after(() => execFileSync("umount", ["-l", base]))
      this.#full = join(base, "filler")
    }
    this.folder = join(base, "state")
    mkdirSync(this.folder, { mode: 0o700 })
  }

  /** Returns the way to end it. */
  fail(gateway: ChildProcess, random: () => number): () => void {
    return this.#full !== undefined && random() < 0.5 ? fill(this.#full) : refuseWrites(gateway)
  }
}

function fill(filler: string): () => void {
  const file = openSync(filler, "a")
  try {
    for (const size of [1024 * 1024, 4_096]) writeUntilFull(file, Buffer.alloc(size, 1))
  } finally {
    closeSync(file)
  }
  return () => rmSync(filler)
}

function writeUntilFull(file: number, block: Buffer): void {
  for (;;) {
    try {
      writeSync(file, block)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") return
      throw error
    }
  }
}

function refuseWrites(gateway: ChildProcess): () => void {
  const limit = (soft: number | string) => execFileSync("prlimit", ["--pid", String(gateway.pid), `--fsize=${soft}:`])
  limit(writableBytes)
  return () => limit("unlimited")
}
