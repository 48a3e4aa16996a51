// A file argument: an upload, the id of a known file, an address to fetch, or a local path in local mode.
import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { ApiError, badRequest } from "../errors.ts"
import type { StoredFile } from "../files.ts"
import { imageSize } from "../image-size.ts"
import type { MediaKind } from "../world/media.ts"
import type { MethodCall } from "./method.ts"

const maxUploadBytes = 50 * 1024 * 1024
const maxPhotoBytes = 10 * 1024 * 1024
const maxFetchedPhotoBytes = 5 * 1024 * 1024
const maxFetchedBytes = 20 * 1024 * 1024
const fetchTimeoutMs = 10_000

interface Content {
  bytes: Buffer
  name: string
  mimeType: string
}

/** Reads the file that `value` means; `field` is the argument it came in. */
export async function readInputFile(
  call: MethodCall,
  kind: MediaKind,
  field: string,
  value: string,
): Promise<StoredFile> {
  const attached = /^attach:\/\/(.+)$/.exec(value)?.[1]
  const upload = call.arguments.file(attached ?? field)
  if (upload && (attached !== undefined || value === "")) {
    return store(call, kind, { bytes: upload.bytes, name: upload.filename, mimeType: upload.contentType })
  }
  if (attached !== undefined || value === "") throw missing(kind)
  const known = call.world.files.get(value)
  if (known) return checkKind(known, kind)
  if (/^https?:\/\//i.test(value)) return store(call, kind, await fetchContent(call, kind, value))
  if (value.startsWith("file://") && call.world.options.localMode) return store(call, kind, await readLocal(value))
  throw badRequest("Wrong file identifier/HTTP URL specified")
}

export function missing(kind: MediaKind): ApiError {
  return badRequest(`There is no ${kind.replace("_", " ")} in the request`)
}

function checkKind(file: StoredFile, kind: MediaKind): StoredFile {
  const isInterchangeable =
    kind === "document" || file.kind === kind || (kind === "animation" && file.kind === "document")
  if (!isInterchangeable) throw badRequest(`Can't use file of type ${file.kind} as ${kind}`)
  return file
}

function store(call: MethodCall, kind: MediaKind, content: Content): StoredFile {
  if (content.bytes.length === 0) throw badRequest("File must be non-empty")
  if (content.bytes.length > maxUploadBytes) throw new ApiError(413, "Request Entity Too Large")
  if (kind === "photo") checkPhoto(content.bytes)
  const size = imageSize(content.bytes)
  const mimeType =
    kind === "photo" || isUnknown(content.mimeType) ? (size?.mimeType ?? content.mimeType) : content.mimeType
  const name = kind === "photo" ? `photo${size?.extension ?? ""}` : content.name || "file"
  return call.world.files.add({ kind, bytes: content.bytes, name, mimeType: mimeType || "application/octet-stream" })
}

function isUnknown(mimeType: string): boolean {
  return mimeType === "" || mimeType === "application/octet-stream"
}

function checkPhoto(bytes: Buffer): void {
  if (bytes.length > maxPhotoBytes) throw badRequest("File is too big")
  const size = imageSize(bytes)
  if (!size) throw badRequest("IMAGE_PROCESS_FAILED")
  const { width, height } = size
  const isTooThin = Math.max(width, height) > 20 * Math.min(width, height)
  if (width + height > 10_000 || isTooThin) throw badRequest("PHOTO_INVALID_DIMENSIONS")
}

/** The platform fetches from the public network only, so an address of this machine fails unless in local mode. */
async function fetchContent(call: MethodCall, kind: MediaKind, address: string): Promise<Content> {
  const failed = (cause?: unknown) => {
    const error = badRequest("Failed to get HTTP URL content")
    error.cause = cause
    return error
  }
  const url = URL.parse(address)
  if (!url) throw failed()
  if (!call.world.options.localMode && (url.hostname === "localhost" || isIP(url.hostname.replace(/[[\]]/g, "")))) {
    throw failed()
  }
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(fetchTimeoutMs)])
  const response = await fetch(url, { signal }).catch((cause: unknown) => {
    throw failed(cause)
  })
  const limit = kind === "photo" ? maxFetchedPhotoBytes : maxFetchedBytes
  if (!response.ok || Number(response.headers.get("content-length") ?? 0) > limit) {
    await response.body?.cancel()
    throw failed()
  }
  const bytes = Buffer.from(await response.arrayBuffer())
  const mimeType = response.headers.get("content-type")?.split(";")[0] ?? ""
  if (bytes.length > limit) throw failed()
  if (mimeType === "text/html") throw badRequest("Wrong type of the web page content")
  return { bytes, name: basename(url.pathname), mimeType }
}

async function readLocal(address: string): Promise<Content> {
  const path = fileURLToPath(address)
  const bytes = await readFile(path).catch((cause: unknown) => {
    const error = badRequest("Can't find the file")
    error.cause = cause
    throw error
  })
  return { bytes, name: basename(path), mimeType: "" }
}
