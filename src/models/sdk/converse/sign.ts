// Signature version 4 of the cloud's requests: canonical request -> string to sign -> derived key -> one header.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash, createHmac } from "node:crypto"

export interface AwsKeys {
  id: string
  secret: string
  /** Of keys that are lent for a time. */
  session?: string | undefined
}

export interface SignedRequest {
  method: string
  url: string
  /** Names in lower case. All of them are signed. */
  headers: Readonly<Record<string, string>>
  body: string
  region: string
  service: string
}

/** The request's headers with date, host and signature. `now` is milliseconds since the epoch. */
export function signRequest(request: SignedRequest, keys: AwsKeys, now: number): Record<string, string> {
  const url = new URL(request.url)
  const date = new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, "")
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    "x-amz-date": date,
    ...(keys.session ? { "x-amz-security-token": keys.session } : {}),
  }
  const names = Object.keys(headers).toSorted()
  const signedNames = names.join(";")
  const canonical = [
    request.method,
    canonicalPath(url),
    canonicalQuery(url),
    ...names.map((name) => `${name}:${(headers[name] ?? "").trim()}`),
    "",
    signedNames,
    sha256(request.body),
  ].join("\n")
  const scope = `${date.slice(0, 8)}/${request.region}/${request.service}/aws4_request`
  const toSign = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`
  const signature = hmac(deriveKey(keys.secret, scope), toSign).toString("hex")
  const { host: _, ...sent } = headers
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.id}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`
  return { ...sent, authorization }
}

/** Each part of the path as it is sent is encoded once more. */
const canonicalPath = (url: URL) => url.pathname.split("/").map(encode).join("/")

function canonicalQuery(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.toSorted().join("&")
}

/** encodeURIComponent leaves five characters that the signature wants encoded. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

function deriveKey(secret: string, scope: string): Buffer {
  return scope.split("/").reduce((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`))
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest()
