// A disk that refuses what is written for a while, as a thin volume that has run out does, and whose kernel then forgets
// what was refused: an ext4 file system in a file with holes where nothing stands yet, on a file system that is full. What a
// sync has failed for is not written by the next one, which succeeds (https://wiki.postgresql.org/wiki/Fsync_Errors).
import { execFileSync } from "node:child_process"
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { basename, join } from "node:path"
import type { TestContext } from "node:test"
import { temporaryFolder } from "../temporary.ts"

const megabytes = 24
const blockBytes = 4096
/** The beginning of a file that takes what is written all the same. */
const sureBytes = 64 * 1024

export class ForgetfulDisk {
  readonly folder: string
  readonly #image: string
  readonly #filler: string
  readonly #context: Pick<TestContext, "after">

  constructor(context: Pick<TestContext, "after">) {
    const base = temporaryFolder()
    this.#context = context
    // Of large pages only whole ones can be given back.
    mount(["-t", "tmpfs", "-o", `size=${megabytes + 8}m,mode=700,huge=never`, "tmpfs"], base)
    context.after(() => unmount(base))
    this.#image = join(base, "disk.img")
    this.#filler = join(base, "filler")
    this.folder = join(base, "disk")
    writeFileSync(this.#image, Buffer.alloc(megabytes * 1024 * 1024))
    // What the file system itself writes stands on blocks that are there.
    const settled = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    execFileSync("mkfs.ext4", ["-q", "-F", "-b", String(blockBytes), "-E", settled, this.#image], { stdio: "pipe" })
    // It leaves holes where its journal is to be.
    writeFileSync(this.#image, readFileSync(this.#image))
    mkdirSync(this.folder)
    mount(["-o", "loop,noauto_da_alloc", this.#image], this.folder)
    // The loop device takes a write for done of which a part was refused; of a single block there are no parts.
    const device = basename(execFileSync("findmnt", ["-no", "SOURCE", this.folder]).toString().trim())
    writeFileSync(`/sys/block/${device}/queue/max_sectors_kb`, String(blockBytes / 1024))
  }

  /**
   * From here on nothing goes to blocks that are free, nor to those of the file behind its first 64 KB:
   * what stands there on the disk is gone, so it is to be a part that nobody needs.
   */
  fail(file?: string): void {
    // What is free is written to its place only now, too, and not to the journal alone.
    execFileSync("fsfreeze", ["-f", this.folder])
    try {
      this.#punchFree()
    } finally {
      execFileSync("fsfreeze", ["-u", this.folder])
    }
    if (file !== undefined) this.#punchFile(file)
    const filler = openSync(this.#filler, "w")
    try {
      // What has just become free may be counted as used until somebody asks.
      do statSync(this.#image)
      while (writeUntilFull(filler, 65_536) + writeUntilFull(filler, blockBytes) > 0)
    } finally {
      closeSync(filler)
    }
  }

  /** It takes what is written from here on. */
  work(): void {
    rmSync(this.#filler)
  }

  /** A folder with what would be there if the power were cut now. */
  afterPowerCut(): string {
    const image = join(temporaryFolder(), "copy.img")
    copyFileSync(this.#image, image)
    const folder = temporaryFolder()
    mount(["-o", "loop", image], folder)
    this.#context.after(() => unmount(folder))
    return folder
  }

  #punchFree(): void {
    const ofDisk = execFileSync("dumpe2fs", [this.#image], { stdio: "pipe" }).toString()
    for (const [, ranges = ""] of ofDisk.matchAll(/^ {2}Free blocks: (.+)$/gm)) {
      for (const range of ranges.split(", ")) {
        const [first = "0", last = first] = range.split("-")
        this.#punch(Number(first), Number(last))
      }
    }
  }

  #punchFile(file: string): void {
    const extents = execFileSync("filefrag", ["-v", `-b${blockBytes}`, file]).toString()
    for (const [, at = "", first = "", last = ""] of extents.matchAll(/: +(\d+)\.\. *\d+: +(\d+)\.\. *(\d+):/g)) {
      this.#punch(Number(first) + Math.max(0, sureBytes / blockBytes - Number(at)), Number(last))
    }
  }

  #punch(first: number, last: number): void {
    if (last < first) return
    const bytes = (last - first + 1) * blockBytes
    execFileSync("fallocate", ["-p", "-o", String(first * blockBytes), "-l", String(bytes), this.#image])
  }
}

/** Why there can be no such disk here, or false. */
export function reasonWithoutForgetfulDisk(): string | false {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "file systems are mounted by root on Linux only"
  const ends: (() => void)[] = []
  try {
    new ForgetfulDisk({ after: (end) => void ends.push(end as () => void) }).fail()
    return false
  } catch (error) {
    return `no loop device with ext4 here: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`
  } finally {
    for (const end of ends) end()
  }
}

function mount(what: readonly string[], folder: string): void {
  execFileSync("mount", [...what, folder], { stdio: "pipe" })
}

/** With what is mounted below; lazily, as what is open there is closed by a hook after this one. */
function unmount(folder: string): void {
  execFileSync("umount", ["-l", "-R", folder])
}

/** Bytes that there was room for. */
function writeUntilFull(file: number, size: number): number {
  const block = Buffer.alloc(size, 1)
  for (let written = 0; ;) {
    try {
      written += writeSync(file, block)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") return written
      throw error
    }
  }
}
