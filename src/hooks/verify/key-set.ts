// The public keys of an issuer: fetched from a URL (bounded in time, size and rate, kept while they are good and used
// on while the issuer is down) or read from a file. Nothing here waits for more than one fetch.
import { readFile, stat } from "node:fs/promises"
import { type JSONWebKeySet, createLocalJWKSet } from "jose"
import { z } from "zod"
import { AppError, type Clock, type Log, describeError, runWithTimeout } from "../../kernel/index.ts"

export type KeySource = { kind: "url"; url: string } | { kind: "file"; path: string }
export type KeyFinder = ReturnType<typeof createLocalJWKSet>

export interface KeySets {
  /** Throws AppError `not-ready` when no keys are at hand. */
  keys(source: KeySource): Promise<KeyFinder>
  /** For a key that the set lacks: the issuer may have rotated. Fetches again unless that was done a moment ago. */
  refreshed(source: KeySource): Promise<KeyFinder>
}

interface Entry {
  finder?: KeyFinder
  /** Until then the keys are taken without asking; monotonic. */
  freshUntil: number
  /** When a fetch was begun last; monotonic. */
  triedAt: number
  fetching?: Promise<void> | undefined
  fileVersion?: string
}

const fetchTimeoutMs = 5_000
/** Google's set has 4 kB. */
const maxBytes = 256 * 1024
/** Whatever the issuer says: a token with an unknown key makes us ask again anyway. */
const minFreshMs = 5 * 60_000
const maxFreshMs = 24 * 60 * 60_000
const defaultFreshMs = 60 * 60_000
/** A flood of tokens with invented key ids, or an issuer that is down, costs one fetch in this time. */
const cooldownMs = 30_000

const keySetSchema = z.object({
  keys: z
    .array(z.looseObject({ kty: z.string() }))
    .min(1)
    .max(100),
})

export function createKeySets(options: { clock: Clock; log: Log; fetch: typeof fetch }): KeySets {
  const entries = new Map<string, Entry>()
  const entryOf = (source: KeySource): Entry => {
    const name = source.kind === "url" ? source.url : `file:${source.path}`
    let entry = entries.get(name)
    if (!entry) {
      entry = { freshUntil: Number.NEGATIVE_INFINITY, triedAt: Number.NEGATIVE_INFINITY }
      entries.set(name, entry)
    }
    return entry
  }
  const loadFromUrl = async (url: string, entry: Entry): Promise<KeyFinder> => {
    const now = options.clock.monotonic()
    // Fetches in one moment are one fetch.
    if (entry.fetching || now - entry.triedAt >= cooldownMs) {
      entry.fetching ??= fetchInto(options, url, entry).finally(() => (entry.fetching = undefined))
      await entry.fetching
    }
    if (entry.finder) return entry.finder
    throw new AppError("not-ready", `The key set ${url} could not be fetched`)
  }
  return {
    async keys(source) {
      const entry = entryOf(source)
      if (source.kind === "file") return await loadFromFile(source.path, entry)
      if (entry.finder && options.clock.monotonic() < entry.freshUntil) return entry.finder
      return await loadFromUrl(source.url, entry)
    },
    async refreshed(source) {
      const entry = entryOf(source)
      return source.kind === "file" ? await loadFromFile(source.path, entry) : await loadFromUrl(source.url, entry)
    },
  }
}

async function fetchInto(
  { clock, log, fetch }: { clock: Clock; log: Log; fetch: typeof globalThis.fetch },
  url: string,
  entry: Entry,
): Promise<void> {
  entry.triedAt = clock.monotonic()
  try {
    await runWithTimeout(fetchTimeoutMs, "fetching the key set", async (signal) => {
      const response = await fetch(url, { signal, redirect: "error", headers: { accept: "application/json" } })
      if (response.status !== 200) {
        await response.body?.cancel()
        throw new AppError("not-ready", `The key set's server answered ${response.status}`)
      }
      entry.finder = parseKeySet(await readBounded(response))
      entry.freshUntil = clock.monotonic() + freshMs(response.headers.get("cache-control"))
    })
  } catch (error) {
    // Keys that were good an hour ago are better than refusing every delivery while the issuer is down.
    log.warn({ url, reason: describeError(error), keysAtHand: entry.finder !== undefined }, "key set not fetched")
  }
}

async function loadFromFile(path: string, entry: Entry): Promise<KeyFinder> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    const version = `${mtimeMs}:${size}:${ino}`
    if (entry.finder && entry.fileVersion === version) return entry.finder
    if (size > maxBytes) throw new AppError("config-invalid", `The key set ${path} is larger than ${maxBytes} bytes`)
    entry.finder = parseKeySet(await readFile(path, "utf8"))
    entry.fileVersion = version
    return entry.finder
  } catch (error) {
    throw new AppError("not-ready", `The key set ${path} cannot be used: ${describeError(error)}`, { cause: error })
  }
}

function parseKeySet(text: string): KeyFinder {
  return createLocalJWKSet(keySetSchema.parse(JSON.parse(text)) as JSONWebKeySet)
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new AppError("payload-too-large", `The key set is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

function freshMs(cacheControl: string | null): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl ?? "")?.[1]
  if (seconds === undefined) return defaultFreshMs
  return Math.min(maxFreshMs, Math.max(minFreshMs, Number(seconds) * 1000))
}
