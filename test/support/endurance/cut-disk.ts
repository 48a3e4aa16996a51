// A disk whose power can be cut: an ext4 file system in a file. What programs have written and not yet forced to the disk
// is in the kernel's memory only, and not in that file: a copy of the file is what a power cut would have left. The next
// life mounts the copy, which replays its journal as a real one would.
import { type ChildProcess, execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TestContext } from "node:test"
import { temporaryFolder } from "../temporary.ts"

const megabytes = 192
/**
 * Names are written every second while bytes may wait for half a minute, and nothing guesses that a renamed file ought to
 * be written first: a file that counts and was not forced to the disk shows here as an empty one.
 */
const mountOptions = "loop,noauto_da_alloc,commit=1"

/** Why there can be no such disk here, or false. */
export function reasonWithoutDisk(): string | false {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    return "a file system in a file can be mounted by root on Linux only"
  }
  const folder = temporaryFolder()
  try {
    const disk = makeDisk(join(folder, "probe.img"), join(folder, "probe"), 8)
    unmount(disk)
    return false
  } catch (error) {
    return `no loop device with ext4 here: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`
  }
}

export class CutDisk {
  /** The state folder on the disk. */
  readonly folder: string
  readonly #mountPoint: string
  readonly #images: string
  #image: string
  #cuts = 0

  constructor(context: Pick<TestContext, "after">) {
    this.#images = temporaryFolder()
    this.#mountPoint = join(this.#images, "disk")
    this.#image = join(this.#images, "0.img")
    makeDisk(this.#image, this.#mountPoint, megabytes)
    this.folder = join(this.#mountPoint, "state")
    mkdirSync(this.folder, { mode: 0o700 })
    // Lazily: what still runs is ended by a hook after this one.
    context.after(() => unmount(this.#mountPoint))
  }

  /** Forces everything to the disk: what a test has written and no product promises. */
  sync(): void {
    execFileSync("sync", ["-f", this.#mountPoint])
  }

  /** Ends the process and the power at one moment, then puts the disk back as it was on it. */
  async cut(gateway: ChildProcess): Promise<void> {
    const ended = once(gateway, "exit")
    gateway.kill("SIGSTOP")
    this.#cuts += 1
    const next = join(this.#images, `${this.#cuts}.img`)
    copyOfOneMoment(this.#image, next)
    gateway.kill("SIGKILL")
    await ended
    unmount(this.#mountPoint)
    rmSync(this.#image)
    this.#image = next
    execFileSync("mount", ["-o", mountOptions, next, this.#mountPoint])
  }
}

function makeDisk(image: string, mountPoint: string, size: number): string {
  writeFileSync(image, "")
  truncateSync(image, size * 1024 * 1024)
  mkdirSync(mountPoint)
  execFileSync("mkfs.ext4", ["-q", "-F", image], { stdio: ["ignore", "ignore", "pipe"] })
  execFileSync("mount", ["-o", mountOptions, image, mountPoint], { stdio: ["ignore", "ignore", "pipe"] })
  return mountPoint
}

function unmount(mountPoint: string): void {
  execFileSync("umount", ["-l", mountPoint])
}

/** The kernel may write at any moment: a copy counts when the file has stayed the same from its beginning to its end. */
function copyOfOneMoment(image: string, copy: string): void {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    execFileSync("cp", ["--sparse=always", image, copy])
    try {
      execFileSync("cmp", ["-s", image, copy])
      return
    } catch (error) {
      if ((error as { status?: number }).status !== 1) throw error
    }
  }
  throw new Error("the disk is written all the time; no copy shows one moment of it")
}
