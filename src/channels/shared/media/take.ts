// A file to send as somebody names it -> a file below the media root: fetched from the web, or checked where it lies, so
// that whoever asks for it hears at once when it cannot be sent.
import { readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { ReplyMedia } from "../../../delivery/contract.ts"
import { mediaTypeOf } from "../../../delivery/reply.ts"
import type { Store } from "../../../store/index.ts"
import { openMedia } from "./open.ts"
import { type FetchOptions, fetchMedia } from "./fetch.ts"

/** By which time files are old, and which rows may still send them. */
export type OutgoingStore = Pick<Store, "pruneTime" | "handle">

export interface TakeOptions {
  /** An http(s) address, or an absolute path. */
  source: string
  mediaRoot: string
  maxMb: number
  signal: AbortSignal
  store: OutgoingStore
  /** For tests, whose servers are on this machine. */
  fetching?: Pick<FetchOptions, "isAllowed" | "resolve"> | undefined
}

/** A message that waits longer, as for an account that is switched off, keeps its file. */
const keepMs = 24 * 60 * 60 * 1000

export function isAddress(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(source)
}

/** Throws `media-refused`. */
export async function takeMedia(options: TakeOptions): Promise<ReplyMedia> {
  const { source, mediaRoot, maxMb, signal, store, fetching } = options
  const folder = join(mediaRoot, "outgoing")
  await removeOld(folder, store)
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
async function removeOld(folder: string, store: OutgoingStore): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []
    throw error
  })
  const now = store.pruneTime()
  for (const name of names) {
    const path = join(folder, name)
    const info = await stat(path).catch(() => undefined)
    const isOld = info !== undefined && now - info.mtimeMs > keepMs
    if (isOld && !isWaitedFor(store, name)) await rm(path, { recursive: true, force: true })
  }
}

/** Whether a row names it that is to be sent, or that a person may have sent again because nobody knows what became of it. */
function isWaitedFor({ handle }: OutgoingStore, name: string): boolean {
  const found = (where: string) =>
    handle.prepare(`select 1 from outbox where ${where} and instr(payload, ?) limit 1`).get(name) !== undefined
  return found("state in ('new', 'sending')") || found("state in ('uncertain', 'dead') and state = 'uncertain'")
}
