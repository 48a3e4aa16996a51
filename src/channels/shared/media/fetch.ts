// A file from the web for a tool to send: address -> resolved once, every result checked, connected to exactly that ->
// each redirect the same -> a file in the folder that is given, bounded in size and time. Knows no cookies and no secrets.
import { randomUUID } from "node:crypto"
import { lookup } from "node:dns/promises"
import { rm } from "node:fs/promises"
import { type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import { isIP } from "node:net"
import { basename, join } from "node:path"
import { AppError, runWithTimeout, writeDurableFile } from "../../../kernel/index.ts"
import { isPublicAddress } from "./public-address.ts"

export interface FetchOptions {
  url: string
  /** Each file gets a folder of its own in it, so that it keeps its name. */
  folder: string
  maxMb: number
  signal: AbortSignal
  /** For tests, whose servers are on this machine. */
  isAllowed?: (address: string) => boolean
  resolve?: (host: string) => Promise<string[]>
}

export interface FetchedMedia {
  path: string
  mediaType: string
}

const timeoutMs = 30_000
const maxRedirects = 4

/** Throws `media-refused`. */
export async function fetchMedia(options: FetchOptions): Promise<FetchedMedia> {
  try {
    return await runWithTimeout(timeoutMs, "The download", (signal) => follow(options, signal), options.signal)
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason
    if (error instanceof AppError && error.code !== "timeout") throw error
    throw refuse((error as Error).message, error)
  }
}

async function follow(options: FetchOptions, signal: AbortSignal): Promise<FetchedMedia> {
  let url = parseUrl(options.url)
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const response = await get(url, await addressOf(url, options), signal)
    const status = response.statusCode ?? 0
    const { location } = response.headers
    if (status >= 300 && status < 400 && location !== undefined) {
      response.destroy()
      url = parseUrl(location, url)
      continue
    }
    if (status !== 200) {
      response.destroy()
      throw refuse(`the server answered ${status}`)
    }
    return await save(response, url, options.folder, options.maxMb * 1024 * 1024)
  }
  throw refuse("it is redirected too often")
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) throw refuse("only http and https addresses")
  if (url.username !== "" || url.password !== "") throw refuse("its address carries a password")
  return url
}

/** One address, checked; all of a name's must pass, so that no second answer can slip in. */
async function addressOf(url: URL, options: FetchOptions): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const resolve = options.resolve ?? resolveHost
  const addresses = isIP(host) ? [host] : await resolve(host)
  const isAllowed = options.isAllowed ?? isPublicAddress
  const [first] = addresses
  if (first === undefined) throw refuse("its host has no address")
  if (!addresses.every(isAllowed)) throw refuse("its address is not on the public internet")
  return first
}

async function resolveHost(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

function get(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    agent: false,
    signal,
    headers: { accept: "*/*" },
    // The name is not looked up again: what was checked is what is connected to.
    lookup: (_host, { all }, done) => {
      const family = isIP(address)
      if (all) done(null, [{ address, family }])
      else done(null, address, family)
    },
  })
  request.on("response", resolve)
  request.on("error", reject)
  request.end()
  return promise
}

async function save(response: IncomingMessage, url: URL, folder: string, maxBytes: number): Promise<FetchedMedia> {
  const mediaType = (response.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  const own = join(folder, randomUUID())
  const path = join(own, nameOf(url))
  const tooLarge = () => refuse(`it is larger than ${maxBytes / 1024 / 1024} MB (mediaMaxMb)`)
  try {
    if (Number(response.headers["content-length"] ?? 0) > maxBytes) throw tooLarge()
    await writeDurableFile(path, upTo(maxBytes, response, tooLarge))
  } catch (error) {
    response.destroy()
    await rm(own, { recursive: true, force: true })
    throw error
  }
  return { path, mediaType: mediaType === "" ? "application/octet-stream" : mediaType }
}

async function* upTo(maxBytes: number, chunks: AsyncIterable<Buffer>, tooLarge: () => Error): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge()
    yield chunk
  }
}

/** The last part of the address, as far as it is harmless on any disk. */
function nameOf(url: URL): string {
  const last = basename(url.pathname).replace(/%[0-9a-f]{2}|[^A-Za-z0-9._-]+/gi, "_")
  const name = last.replace(/^[._-]+/, "").slice(-80)
  return name === "" ? "file" : name
}

function refuse(why: string, cause?: unknown): AppError {
  return new AppError("media-refused", `The file cannot be fetched: ${why}`, { cause })
}
