// A disk that fails for a moment under a running gateway: full (ENOSPC, on a file system of a fixed size, which only root
// can mount), or refusing every write of the process (EFBIG, which SQLite sees as an I/O error).
import { type ChildProcess, execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { TestContext } from "node:test"
import { fillDisk } from "../full-disk.ts"
import { temporaryFolder } from "../temporary.ts"

const megabytes = 160
/** Writes behind this place of a file are refused: of the database, its log and our own log. */
const writableBytes = 512

export class FailingDisk {
  /** The state folder on the disk. */
  readonly folder: string
  readonly #canBeFull: boolean

  constructor(context: Pick<TestContext, "after">) {
    const base = temporaryFolder()
    this.#canBeFull = process.platform === "linux" && process.getuid?.() === 0
    if (this.#canBeFull) {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", base])
      // Lazily: what still runs is ended by a hook after this one.
      context.after(() => execFileSync("umount", ["-l", base]))
    }
    this.folder = join(base, "state")
    mkdirSync(this.folder, { mode: 0o700 })
  }

  /** Returns the way to end it. */
  fail(gateway: ChildProcess, random: () => number): () => void {
    return this.#canBeFull && random() < 0.5 ? fillDisk(this.folder) : refuseWrites(gateway)
  }
}

function refuseWrites(gateway: ChildProcess): () => void {
  const limit = (soft: number | string) => execFileSync("prlimit", ["--pid", String(gateway.pid), `--fsize=${soft}:`])
  limit(writableBytes)
  return () => limit("unlimited")
}
