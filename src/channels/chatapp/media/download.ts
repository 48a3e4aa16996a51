// One file of the platform: getFile -> bytes -> media folder. Whatever goes wrong is an outcome with a reason in our own
// words: no address, because that contains the token, and nothing that a server said.
import { createReadStream } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { isAbsolute, sep } from "node:path"
import { type Clock, describeError, withTimeout } from "../../../kernel/index.ts"
import type { CallResult, Client } from "../client.ts"
import type { CallFailure } from "../failure.ts"
import { type KeptFile, type MediaFolder, TooLarge } from "./keep.ts"

export interface Wanted {
  fileId: string
  uniqueId: string
  bytes?: number | undefined
  mediaType?: string | undefined
}

export type Fetched =
  | { kind: "kept"; file: KeptFile }
  /** `detail` is for the log. */
  | {
      kind: "left-out"
      why: "too-large" | "refused" | "unreachable" | "untrusted-path"
      bytes?: number
      detail: string
    }

export interface DownloadOptions {
  client: () => Client | undefined
  folder: MediaFolder
  maxBytes: number
  /** Of the whole download, with everything that is tried again. */
  timeoutMs: number
  /** Folders of a local Bot API server, whose files are read where they lie. */
  localRoots: readonly string[]
  clock: Clock
  signal: AbortSignal
}

const attempts = 4
const firstDelayMs = 500
const getFileTimeoutMs = 30_000

export async function downloadFile(wanted: Wanted, options: DownloadOptions): Promise<Fetched> {
  const { folder, clock, maxBytes } = options
  if (wanted.bytes !== undefined && wanted.bytes > maxBytes) return tooLarge(wanted.bytes)
  const known = await folder.find(wanted.uniqueId, wanted.mediaType, clock.now())
  if (known) return known.bytes > maxBytes ? tooLarge(known.bytes) : { kind: "kept", file: known }
  const limit = withTimeout(options.timeoutMs, "The download", options.signal)
  try {
    return await tryUntilDone(wanted, { ...options, signal: limit.signal })
  } catch (error) {
    options.signal.throwIfAborted()
    return { kind: "left-out", why: "unreachable", detail: describeError(error) }
  } finally {
    limit.clear()
  }
}

/** Network failures are tried again; what the platform refuses stays refused. */
async function tryUntilDone(wanted: Wanted, options: DownloadOptions): Promise<Fetched> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(wanted, options)
    options.signal.throwIfAborted()
    if (outcome.kind === "kept" || outcome.why !== "unreachable" || attempt === attempts) return outcome
    await options.clock.sleep(firstDelayMs * 2 ** (attempt - 1), options.signal)
  }
}

async function tryOnce(wanted: Wanted, options: DownloadOptions): Promise<Fetched> {
  const { maxBytes, signal, folder } = options
  const client = options.client()
  if (!client) return { kind: "left-out", why: "unreachable", detail: "the account is not running" }
  const limits = { timeoutMs: options.timeoutMs, signal }
  const found = await client.call("getFile", { file_id: wanted.fileId }, { timeoutMs: getFileTimeoutMs, signal })
  if (!found.ok) return explain(found.failure)
  const { file_path: path, file_size: size } = found.value
  if (size !== undefined && size > maxBytes) return tooLarge(size)
  if (path === undefined) return { kind: "left-out", why: "refused", detail: "the platform named no path" }
  const save = (bytes: AsyncIterable<Buffer>) =>
    folder.save(wanted.uniqueId, bytes, { maxBytes, claimed: wanted.mediaType, signal })
  try {
    if (isAbsolute(path)) return await copyLocal(path, options, save)
    const saved: CallResult<KeptFile> = await client.download(path, limits, async (bytes, stated) => {
      if (stated !== undefined && stated > maxBytes) throw new TooLarge(stated)
      return await save(bytes)
    })
    return saved.ok ? { kind: "kept", file: saved.value } : explain(saved.failure)
  } catch (error) {
    if (error instanceof TooLarge) return tooLarge(error.bytes)
    signal.throwIfAborted()
    return { kind: "left-out", why: "unreachable", detail: describeError(error) }
  }
}

/** A server of one's own names a path of its machine: read only below the folders that the operator trusts. */
async function copyLocal(
  path: string,
  { localRoots, maxBytes }: DownloadOptions,
  save: (bytes: AsyncIterable<Buffer>) => Promise<KeptFile>,
): Promise<Fetched> {
  const real = await realpath(path).catch(() => undefined)
  const roots = await Promise.all(localRoots.map((root) => realpath(root).catch(() => undefined)))
  const isTrusted = real !== undefined && roots.some((root) => root !== undefined && real.startsWith(root + sep))
  if (!isTrusted) {
    const detail = "the Bot API server named a path that is not below channels.chatapp.localFileRoots"
    return { kind: "left-out", why: "untrusted-path", detail }
  }
  const facts = await stat(real)
  if (!facts.isFile()) return { kind: "left-out", why: "untrusted-path", detail: "the path is not a file" }
  if (facts.size > maxBytes) return tooLarge(facts.size)
  return { kind: "kept", file: await save(createReadStream(real)) }
}

function explain(failure: CallFailure): Fetched {
  if (failure.kind === "refused") {
    if (/too big/i.test(failure.description)) return tooLarge(undefined)
    const again = failure.code === 429 || failure.code >= 500
    return { kind: "left-out", why: again ? "unreachable" : "refused", detail: failure.description }
  }
  const detail = failure.kind === "page" ? `HTTP ${failure.status}` : failure.reason
  return { kind: "left-out", why: "unreachable", detail }
}

function tooLarge(bytes: number | undefined): Fetched {
  return { kind: "left-out", why: "too-large", detail: "too large", ...(bytes === undefined ? {} : { bytes }) }
}
