// A file to send as somebody names it -> a file below the media root: fetched from the web, or checked where it lies, so
// that whoever asks for it hears at once when it cannot be sent.
import { readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { ReplyMedia } from "../../../delivery/contract.ts"
import { mediaTypeOf } from "../../../delivery/reply.ts"
import { openMedia } from "./open.ts"
import { type FetchOptions, fetchMedia } from "./fetch.ts"

export interface TakeOptions {
  /** An http(s) address, or an absolute path. */
  source: string
  mediaRoot: string
  maxMb: number
  signal: AbortSignal
  /** For tests, whose servers are on this machine. */
  fetching?: Pick<FetchOptions, "isAllowed" | "resolve"> | undefined
}

/** Long enough for the outbox to have given up. */
const keepMs = 24 * 60 * 60 * 1000

export function isAddress(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(source)
}

/** Throws `media-refused`. */
export async function takeMedia({ source, mediaRoot, maxMb, signal, fetching }: TakeOptions): Promise<ReplyMedia> {
  const folder = join(mediaRoot, "outgoing")
  await removeOld(folder)
  if (isAddress(source)) {
    const fetched = await fetchMedia({ url: source, folder, maxMb, signal, ...fetching })
    const named = mediaTypeOf(fetched.path)
    return { ...fetched, mediaType: named === "application/octet-stream" ? fetched.mediaType : named }
  }
  const media = await openMedia({ path: source, root: mediaRoot, maxMb })
  await media.close()
  return { path: source, mediaType: mediaTypeOf(source) }
}

/** Each file has a folder of its own. */
async function removeOld(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []
    throw error
  })
  for (const name of names) {
    const path = join(folder, name)
    const info = await stat(path).catch(() => undefined)
    if (info && Date.now() - info.mtimeMs > keepMs) await rm(path, { recursive: true, force: true })
  }
}
