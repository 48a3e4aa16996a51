// The body of a delivery: bounded while it arrives, bounded again while it is unpacked, then JSON or a form.
import type { IncomingMessage } from "node:http"
import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate } from "node:zlib"
import { type BodyLimits, decodeUtf8, readBody } from "../kernel/http/index.ts"
import { AppError, type Json, parseJson } from "../kernel/index.ts"

type Unpack = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** Far more than any form has; each of them is an entry of the payload that is kept. */
const mostFields = 5_000

const unpackers: Record<string, Unpack> = {
  gzip: promisify(gunzip) as Unpack,
  "x-gzip": promisify(gunzip) as Unpack,
  br: promisify(brotliDecompress) as Unpack,
  deflate: promisify(inflate) as Unpack,
}

/** The unpacked bytes. Throws `payload-too-large`, `bad-request`, `request-timeout`, `unsupported-media-type`. */
export async function readHookBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const encoding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity"
  if (encoding === "identity" || encoding === "") return await readBody(request, limits)
  const unpack = Object.hasOwn(unpackers, encoding) ? unpackers[encoding] : undefined
  if (!unpack) {
    throw new AppError("unsupported-media-type", "The body has an encoding that is not known here", {
      hint: `Send it as it is, or with one of ${Object.keys(unpackers).join(", ")}`,
    })
  }
  const packed = await readBody(request, limits)
  try {
    return await unpack(packed, { maxOutputLength: limits.maxBytes })
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") {
      throw new AppError("payload-too-large", `The unpacked body is larger than ${limits.maxBytes} bytes`, {
        cause: error,
      })
    }
    throw new AppError("bad-request", `The body is not what its Content-Encoding says (${encoding})`, { cause: error })
  }
}

/**
 * An empty body is `{}`. Forms are read for mappings only, as at most 5,000 flat text fields; the first of several counts. What begins
 * like JSON is JSON whatever its Content-Type says: `curl -d` calls everything a form, and no form begins with a brace.
 * So is a form whose one field is `payload`: GitHub, unless told otherwise, and Slack's buttons send their JSON in it.
 */
export function parsePayload(body: Buffer, contentType: string | undefined, forms: boolean): Json {
  if (body.length === 0) return {}
  const text = decodeUtf8(body)
  const isForm = forms && /^application\/x-www-form-urlencoded\b/i.test(contentType ?? "")
  if (!isForm || /^\s*[[{]/.test(text)) return parseJson(text, { bigIntegers: "text" })
  checkFields(text)
  const fields = Object.create(null) as Record<string, string>
  for (const [name, value] of new URLSearchParams(text)) fields[name] ??= value
  const { payload, ...others } = fields
  if (payload !== undefined && /^\s*\{/.test(payload) && Object.keys(others).length === 0) {
    return parseJson(payload, { bigIntegers: "text" })
  }
  return { ...fields }
}

function checkFields(form: string): void {
  let fields = 1
  for (let at = form.indexOf("&"); at >= 0 && fields <= mostFields; at = form.indexOf("&", at + 1)) fields += 1
  if (fields > mostFields) throw new AppError("bad-request", `The form has more than ${mostFields} fields`)
}
