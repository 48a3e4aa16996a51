// Reads an HTTP request into arguments: query, url-encoded, JSON and multipart bodies, with a cap on the size.
import type { IncomingMessage } from "node:http"
import { ApiError } from "../errors.ts"
import { Arguments, parseJson, type UploadedPart } from "./arguments.ts"

/** The HTTP connection of the platform takes 50 MB of files; the rest is room for the other fields. */
const maxBodyBytes = 52 * 1024 * 1024

export async function readArguments(request: IncomingMessage, query: URLSearchParams): Promise<Arguments> {
  const fields = new Map<string, string>(query)
  const files: UploadedPart[] = []
  const contentType = request.headers["content-type"] ?? ""
  const body = await readBody(request, maxBodyBytes)
  const kind = contentType.split(";")[0]?.trim().toLowerCase()
  if (kind === "application/json") addJson(fields, body)
  else if (kind === "multipart/form-data") await addMultipart(fields, files, body, contentType)
  else if (kind === "application/x-www-form-urlencoded") addAll(fields, new URLSearchParams(body.toString("utf8")))
  return new Arguments(fields, files)
}

/** Collects a body; over the cap it answers 413 at once and lets the rest flow to nowhere. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else chunks.length = 0
  }
  if (size > maxBytes) throw new ApiError(413, "Request Entity Too Large")
  return Buffer.concat(chunks)
}

function addAll(fields: Map<string, string>, pairs: Iterable<[string, string]>): void {
  for (const [name, value] of pairs) fields.set(name, value)
}

function addJson(fields: Map<string, string>, body: Buffer): void {
  if (body.length === 0) return
  const value = parseJson(body.toString("utf8"), () => new ApiError(400, "Bad Request: can't parse JSON object"))
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ApiError(400, "Bad Request: can't parse JSON object")
  }
  for (const [name, field] of Object.entries(value)) {
    fields.set(name, typeof field === "string" ? field : JSON.stringify(field))
  }
}

async function addMultipart(
  fields: Map<string, string>,
  files: UploadedPart[],
  body: Buffer,
  contentType: string,
): Promise<void> {
  let form: FormData
  try {
    form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData()
  } catch (cause) {
    const error = new ApiError(400, "Bad Request: can't parse multipart/form-data")
    error.cause = cause
    throw error
  }
  for (const [field, value] of form) {
    if (typeof value === "string") fields.set(field, value)
    else {
      const bytes = Buffer.from(await value.arrayBuffer())
      files.push({ field, filename: value.name, contentType: value.type, bytes })
    }
  }
}
