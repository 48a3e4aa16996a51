// A file of this machine that is to be sent. The gateway sends what lies in its media folder and nothing else: a file from
// elsewhere is copied there, with the rights of whoever runs the command; the gateway removes the copy after a day.
import { randomUUID } from "node:crypto"
import { mkdir, realpath, rm, stat } from "node:fs/promises"
import { basename, join, resolve, sep } from "node:path"
import { writeDurableFile } from "../src/kernel/durable-file.ts"
import { AppError } from "../src/kernel/errors.ts"

export interface MediaFile {
  /** As the gateway is told: an absolute path in its media folder, or the address that was given. */
  source: string
  /** When the gateway did not take it. */
  discard(): Promise<void>
}

const unanswered: ReadonlySet<unknown> = new Set(["timeout", "gateway-unreachable", "aborted"])

/** Without an answer, also by Ctrl-C, the gateway may have taken it: then the copy stays until it is old. */
export function isRefusal(error: unknown): boolean {
  return error instanceof AppError && !unanswered.has(error.code)
}

export function isAddress(media: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(media)
}

/** Throws `bad-request` when there is no such file. */
export async function prepareMedia(media: string, stateFolder: string, option = "--media"): Promise<MediaFile> {
  if (isAddress(media)) return { source: media, discard: async () => undefined }
  const given = resolve(media)
  const refuse = (why: string, cause?: unknown) => new AppError("bad-request", `${option} ${media}: ${why}`, { cause })
  try {
    const path = await realpath(given)
    if (!(await stat(path)).isFile()) throw refuse("it is no file")
    const folder = join(stateFolder, "media")
    const real = await realpath(folder).catch(() => folder)
    if (path.startsWith(real + sep)) return { source: path, discard: async () => undefined }
    const own = join(folder, "outgoing", randomUUID())
    await mkdir(own, { recursive: true, mode: 0o700 })
    const copy = join(own, basename(given))
    const discard = () => rm(own, { recursive: true, force: true })
    try {
      await writeDurableFile(copy, { copyOf: path })
    } catch (error) {
      await discard()
      throw error
    }
    return { source: copy, discard }
  } catch (error) {
    if (error instanceof AppError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw refuse(code === "ENOENT" ? "there is no such file" : message, error)
  }
}
