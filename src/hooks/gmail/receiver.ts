// Answers the pushes of Pub/Sub: path -> method -> push token and identity token (401) -> size (413) -> notice ->
// history id on the disk -> 204. The mailbox is read afterwards. What is not acknowledged is pushed again by Google.
import { createFailureThrottle, errorResponse } from "../../kernel/http/index.ts"
import {
  AppError,
  type Clock,
  type Json,
  type Log,
  type Redactor,
  Secret,
  isJsonObject,
  parseJson,
  runWithTimeout,
  toAppError,
} from "../../kernel/index.ts"
import type { Verifier } from "../verify/index.ts"
import type { GmailView } from "./contract.ts"
import type { PushSettings } from "./files.ts"

export interface ReceiverOptions {
  view: Pick<GmailView, "account" | "pushToken" | "serve">
  push: PushSettings
  verifier: Verifier
  /** Durable when it returns. */
  queue: (historyId: string) => void
  clock: Clock
  log: Log
  redactor: Redactor
}

/** `address` is the peer's, for the limit on wrong secrets. Never rejects. */
export type Receiver = (request: Request, address?: string) => Promise<Response>

/** A notice has some 400 bytes. */
const maxBodyBytes = 64 * 1024
const bodyTimeoutMs = 10_000

export function createReceiver(options: ReceiverOptions): Receiver {
  const throttle = createFailureThrottle({ clock: options.clock })
  const pushToken = options.view.pushToken === undefined ? undefined : new Secret(options.view.pushToken)
  const receive = async (request: Request, address: string): Promise<Response> => {
    const url = new URL(request.url)
    if (url.pathname !== options.view.serve.path) throw new AppError("not-found", "There is nothing here")
    if (request.method !== "POST") return notAllowed(options.redactor)
    const problem = await authenticate(options, pushToken, request, url)
    if (problem) {
      options.log.warn({ reason: problem.reason, address }, "gmail push refused")
      if (problem.temporary) throw new AppError("not-ready", "The push cannot be checked at present")
      const wait = throttle.fail(address)
      if (wait > 0) throw new AppError("too-many-failures", "Too many refused pushes", { retryAfterSeconds: wait })
      throw new AppError("unauthorized", "The push is not signed as it should be")
    }
    accept(options, await readBody(request))
    return new Response(null, { status: 204 })
  }
  return async (request, address = "unknown") => {
    try {
      return await receive(request, address)
    } catch (thrown) {
      const error = toAppError(thrown)
      if (error.status >= 500 && error.code !== "not-ready") options.log.error({ err: thrown }, "gmail push failed")
      return errorResponse(error, options.redactor)
    }
  }
}

async function authenticate(
  { push, verifier }: ReceiverOptions,
  pushToken: Secret | undefined,
  request: Request,
  url: URL,
): Promise<{ reason: string; temporary?: true } | undefined> {
  // Both are checked in any case: the time taken does not tell which was wrong.
  const tokens = url.searchParams.getAll("token")
  const tokenFits = pushToken === undefined || (tokens.length === 1 && pushToken.matches(tokens[0] as string))
  const verdict = await verifier.verifySignature(
    {
      rawBody: Buffer.alloc(0),
      headers: Object.fromEntries(request.headers),
      url: request.url,
      method: request.method,
    },
    {
      scheme: "google-oidc",
      audience: push.audience,
      email: push.serviceAccount,
      keySetUrl: push.keySetUrl,
    },
  )
  if (!tokenFits) return { reason: "the push token is wrong" }
  return verdict.ok ? undefined : verdict
}

/** What is genuine but of no use is acknowledged all the same: pushed again it would be of no more use. */
function accept(options: ReceiverOptions, body: string): void {
  const notice = readNotice(body)
  if (!notice) {
    options.log.warn({ bytes: body.length }, "gmail push not understood")
    return
  }
  if (notice.emailAddress.toLowerCase() !== options.view.account?.toLowerCase()) {
    options.log.warn({ subscription: notice.subscription }, "gmail push of another account")
    return
  }
  options.queue(notice.historyId)
  options.log.info({ historyId: notice.historyId, messageId: notice.messageId }, "gmail push queued")
}

function readNotice(body: string) {
  const push = tryJson(body)
  const message = isJsonObject(push) ? push["message"] : undefined
  if (!isJsonObject(push) || !isJsonObject(message) || typeof message["data"] !== "string") return undefined
  const text = Buffer.from(message["data"], "base64").toString("utf8")
  const notice = tryJson(text)
  // A number of 64 bits that Google does not quote: JSON's own numbers would round it.
  const historyId = /"historyId"\s*:\s*"?(\d{1,20})\b/.exec(text)?.[1]
  if (!isJsonObject(notice) || historyId === undefined) return undefined
  const { emailAddress } = notice
  if (typeof emailAddress !== "string") return undefined
  return { emailAddress, historyId, messageId: message["messageId"], subscription: push["subscription"] }
}

function tryJson(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof AppError && error.code === "bad-json") return undefined
    throw error
  }
}

async function readBody(request: Request): Promise<string> {
  const tooLarge = () => new AppError("payload-too-large", `The body is larger than ${maxBodyBytes} bytes`)
  if (Number(request.headers.get("content-length") ?? 0) > maxBodyBytes) throw tooLarge()
  return await runWithTimeout(bodyTimeoutMs, "the push's body", async () => {
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength
      if (size > maxBodyBytes) throw tooLarge()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString("utf8")
  })
}

function notAllowed(redactor: Redactor): Response {
  const response = errorResponse(new AppError("method-not-allowed", "Pushes are posted"), redactor)
  response.headers.set("allow", "POST")
  return response
}
