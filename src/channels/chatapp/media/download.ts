// One file of the platform: getFile -> bytes -> media folder. Whatever goes wrong is an outcome with a reason in our own
// words: no address, because that contains the token, and nothing that a server said.
import { createReadStream } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { isAbsolute, sep } from "node:path"
import { type Clock, describeError, isOutOfHandles, withTimeout } from "../../../kernel/index.ts"
import type { CallResult, Client } from "../client.ts"
import type { CallFailure } from "../failure.ts"
import { callTimeoutMs } from "../outbound/limits.ts"
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
      /** `not-handed-out`: the limit is the platform's own, whatever the configuration takes in. */
      why: "too-large" | "not-handed-out" | "refused" | "unreachable" | "untrusted-path"
      bytes?: number
      detail: string
      /** It may be had later. */
      again?: Again
    }

/** A try that is worth another: after how long at least, and whether it counts. */
interface Again {
  afterMs?: number
  isFree?: true
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
/** A platform that is there answers far sooner; another connection may get the answer. */
const getFileTimeoutMs = 10_000
/** Between two tries while this process has no handles to spare. */
const handlesPauseMs = 1_000

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
  let counted = 0
  for (;;) {
    const outcome = await tryOnce(wanted, options)
    options.signal.throwIfAborted()
    if (outcome.kind === "kept" || !outcome.again) return outcome
    const { afterMs = 0, isFree } = outcome.again
    if (!isFree) counted += 1
    if (counted === attempts) return outcome
    const ownMs = isFree ? 0 : firstDelayMs * 2 ** (counted - 1)
    await options.clock.sleep(Math.max(afterMs, ownMs), options.signal)
  }
}

async function tryOnce(wanted: Wanted, options: DownloadOptions): Promise<Fetched> {
  const { maxBytes, signal, folder } = options
  const client = options.client()
  if (!client) return unreachable("the account is not running")
  const found = await client.call("getFile", { file_id: wanted.fileId }, { timeoutMs: getFileTimeoutMs, signal })
  if (!found.ok) return explain(found.failure)
  const { file_path: path, file_size: size } = found.value
  if (size !== undefined && size > maxBytes) return tooLarge(size)
  const limits = { timeoutMs: callTimeoutMs(options.timeoutMs / 1000, size ?? maxBytes), signal }
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
    return unreachable(describeError(error), isOutOfHandles(error) ? { afterMs: handlesPauseMs, isFree: true } : {})
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
    const { code, description: detail } = failure
    if (/too big/i.test(detail)) return { kind: "left-out", why: "not-handed-out", detail }
    if (code === 429 || failure.retryAfterSeconds !== undefined) return unreachable(detail, pause(failure))
    return code >= 500 ? unreachable(detail) : { kind: "left-out", why: "refused", detail }
  }
  if (failure.kind === "page") {
    return unreachable(`HTTP ${failure.status}`, failure.status === 429 ? pause(failure) : {})
  }
  const isOurs = failure.kind === "unsent" && failure.isOutOfHandles
  return unreachable(failure.reason, isOurs ? { afterMs: handlesPauseMs, isFree: true } : {})
}

/** As long as the platform asks: to come earlier makes it longer. It has answered, so this is no failed try. */
function pause({ retryAfterSeconds = 1 }: { retryAfterSeconds?: number }): Again {
  return { afterMs: Math.max(1, retryAfterSeconds) * 1000, isFree: true }
}

function unreachable(detail: string, again: Again = {}): Fetched {
  return { kind: "left-out", why: "unreachable", detail, again }
}

function tooLarge(bytes: number | undefined): Fetched {
  return { kind: "left-out", why: "too-large", detail: "too large", ...(bytes === undefined ? {} : { bytes }) }
}
