// The files of the page, as the build has made them: held in memory with their compressed forms, since there are few and
// they are small. They hold nothing of anybody, so they are open; what they show, they must ask `/api` for.
import { readdirSync, readFileSync, statSync } from "node:fs"
import { createHash } from "node:crypto"
import { extname, join } from "node:path"
import type { IncomingHttpHeaders } from "node:http"

/** Nothing from elsewhere, nothing inline; `blob:` is for pictures that were fetched with the session's key. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ")

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
  ".json": "application/json; charset=utf-8",
}

interface PageFile {
  type: string
  etag: string
  isHashed: boolean
  plain: Uint8Array<ArrayBuffer>
  packed: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
}

export interface PageFiles {
  /** `name` is what follows `/dashboard/`; undefined where there is no such file. */
  serve(name: string, headers: IncomingHttpHeaders): Response | undefined
}

/** The folder is read at the first request: a gateway whose page nobody opens does not hold it. */
export function createPageFiles(folder: () => string | undefined): PageFiles {
  let files: ReadonlyMap<string, PageFile> | undefined
  return {
    serve(name, headers) {
      files ??= readFiles(folder())
      const file = files.get(name === "" ? "index.html" : name)
      return file && respond(file, headers)
    },
  }
}

function readFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  if (folder === undefined || !statSync(folder, { throwIfNoEntry: false })) return new Map()
  const names = readdirSync(folder).filter((name) => types[extname(name)] !== undefined)
  return new Map(names.map((name) => [name, readPageFile(folder, name)]))
}

function readPageFile(folder: string, name: string): PageFile {
  const read = (suffix: string) => {
    const path = join(folder, name + suffix)
    return statSync(path, { throwIfNoEntry: false }) ? new Uint8Array(readFileSync(path)) : undefined
  }
  const plain = new Uint8Array(readFileSync(join(folder, name)))
  const packed = [
    ["br", read(".br")],
    ["gzip", read(".gz")],
  ].filter((pair): pair is [string, Uint8Array<ArrayBuffer>] => pair[1] !== undefined)
  return {
    type: types[extname(name)] as string,
    etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`,
    isHashed: /-[A-Z0-9]{8}\.\w+$/.test(name),
    plain,
    packed: new Map(packed),
  }
}

function respond(file: PageFile, request: IncomingHttpHeaders): Response {
  const headers = new Headers({
    "content-type": file.type,
    etag: file.etag,
    vary: "accept-encoding",
    "cache-control": file.isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    "content-security-policy": pagePolicy,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
  })
  const known = (request["if-none-match"] ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""))
  if (known.includes(file.etag)) return new Response(null, { status: 304, headers })
  const accepted = acceptedEncodings(String(request["accept-encoding"] ?? ""))
  for (const [encoding, content] of file.packed) {
    if (!accepted.has(encoding)) continue
    headers.set("content-encoding", encoding)
    return new Response(content, { headers })
  }
  return new Response(file.plain, { headers })
}

function acceptedEncodings(header: string): ReadonlySet<string> {
  const parts = header.split(",").map((part) => part.split(";").map((word) => word.trim().toLowerCase()))
  const wanted = parts.filter(([, quality = "q=1"]) => Number(quality.slice(2)) > 0)
  return new Set(wanted.map(([name = ""]) => name))
}
