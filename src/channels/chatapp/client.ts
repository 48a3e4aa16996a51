// Calls of the Bot API through grammY's raw API, which gives the types and the upload form. No runner, throttler or
// retry of the library: what is tried again is decided by the outbox and the poll loop.
import type { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import type { ApiMethods } from "grammy/types"
import { describeError, trimEnd, withTimeout } from "../../kernel/index.ts"
import { isAnswerOf } from "./client-answers.ts"
import { type CallFailure, explainFailure, pauseOf } from "./failure.ts"
import type { Method } from "./method.ts"
import { type NetworkSettings, createAgentMaker } from "./network.ts"
import { TransportError, createTransport } from "./transport.ts"

type FileField = "photo" | "document" | "video" | "animation" | "audio" | "voice"

/** One picture or file of an album. */
export interface AlbumItem {
  type: "photo" | "video" | "document"
  media: Upload
  caption?: string
  parse_mode?: "HTML"
}

type Payload<M extends Method> = Omit<NonNullable<Parameters<ApiMethods[M]>[0]>, FileField | "media"> & {
  [Field in FileField]?: Upload
} & { media?: AlbumItem[] }
type Result<M extends Method> = Awaited<ReturnType<ApiMethods[M]>>

/** A file of ours, opened when it is sent. Its name has no quotes and no line breaks. */
export class Upload {
  readonly open: () => Readable
  readonly name: string

  constructor(open: () => Readable, name: string) {
    this.open = open
    this.name = name
  }
}

export type CallResult<T> = { ok: true; value: T } | { ok: false; failure: CallFailure }

export interface Client {
  /** Never throws for what the platform or the network does. */
  call<M extends Method>(
    method: M,
    payload: Payload<M>,
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<CallResult<Result<M>>>
  /**
   * A file of `getFile`, which must end within `timeoutMs`. `consume` is given its bytes and the size that the server
   * states; what it throws is thrown on.
   */
  download<T>(
    filePath: string,
    options: { timeoutMs: number; signal?: AbortSignal },
    consume: (bytes: AsyncIterable<Buffer>, size: number | undefined) => Promise<T>,
  ): Promise<CallResult<T>>
  /** Closes every connection, also of running calls; the next call opens one of its own. */
  reset(): void
  /** Closes idle connections; running calls finish. */
  close(): void
}

type RawCall = (payload: unknown, signal: unknown) => Promise<unknown>

/**
 * grammY is loaded with the first client: a gateway without a bot does not pay for it. Its web build, because that is
 * an ES module without an HTTP client and polyfills of its own; the transport is ours.
 */
export async function createClient(options: {
  token: string
  apiRoot: string
  network?: NetworkSettings
}): Promise<Client> {
  const { Api, InputFile } = await import("grammy/web")
  const apiRoot = trimEnd(options.apiRoot, "/")
  const makeAgent = await createAgentMaker(apiRoot.startsWith("https:"), options.network)
  const transport = createTransport(apiRoot, makeAgent)
  const api = new Api(options.token, {
    apiRoot,
    // Ours is always shorter; the library's would report a timeout without saying whether the request was sent.
    timeoutSeconds: 86_400,
    fetch: transport.fetch as unknown as typeof fetch,
  })
  const raw = api.raw as unknown as Record<Method, RawCall>
  return {
    async call(method, payload, { timeoutMs, signal }) {
      const limit = withTimeout(timeoutMs, method, signal)
      try {
        const takesPayload = method !== "getMe" && method !== "getWebhookInfo"
        const value = await (takesPayload
          ? raw[method](withFiles(payload, InputFile), limit.signal)
          : (raw[method] as unknown as (signal: unknown) => Promise<unknown>)(limit.signal))
        if (!isAnswerOf(method, value))
          return { ok: false, failure: { kind: "lost", reason: `no answer to ${method}` } }
        return { ok: true, value: value as never }
      } catch (error) {
        return { ok: false, failure: explainFailure(error) }
      } finally {
        limit.clear()
      }
    },
    async download(filePath, { timeoutMs, signal }, consume) {
      const limit = withTimeout(timeoutMs, "the download of a file", signal)
      const path = filePath.split("/").map(encodeURIComponent).join("/")
      try {
        const response = await transport.open(`${apiRoot}/file/bot${options.token}/${path}`, limit.signal)
        return await receive(response, consume)
      } catch (error) {
        if (!(error instanceof TransportError)) throw error
        return { ok: false, failure: explainFailure({ error }) }
      } finally {
        limit.clear()
      }
    },
    reset: () => transport.reset(),
    close: () => transport.close(),
  }
}

async function receive<T>(
  response: IncomingMessage,
  consume: (bytes: AsyncIterable<Buffer>, size: number | undefined) => Promise<T>,
): Promise<CallResult<T>> {
  try {
    const { statusCode: status = 0, headers } = response
    if (status !== 200) {
      return { ok: false, failure: { kind: "page", status, ...pauseOf(Number(headers["retry-after"])) } }
    }
    const stated = Number(response.headers["content-length"] ?? Number.NaN)
    return { ok: true, value: await consume(chunksOf(response), Number.isNaN(stated) ? undefined : stated) }
  } finally {
    response.destroy()
  }
}

/** What ends them early is the network's fault, to be told apart from that of whoever reads them. */
async function* chunksOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>
  } catch (error) {
    throw new TransportError("lost", describeError(error))
  }
}

type InputFileClass = new (file: AsyncIterable<Uint8Array>, name: string) => unknown

function withFiles(payload: object, InputFile: InputFileClass): object {
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, withFile(value, InputFile)]))
}

function withFile(value: unknown, InputFile: InputFileClass): unknown {
  // The library writes the name into the header as it is given.
  if (value instanceof Upload) return new InputFile(opened(value), `"${value.name}"`)
  const isAlbum = Array.isArray(value) && value.some((item) => (item as AlbumItem | null)?.media instanceof Upload)
  return isAlbum ? value.map((item: object) => withFiles(item, InputFile)) : value
}

/** Opens the file when the request's body gets to it. */
function opened(upload: Upload): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => upload.open()[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> }
}
