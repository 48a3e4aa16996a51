// `--dry-run`: the same steps over a transport that prints each call and answers as Google does when nothing has been set
// up yet. Nothing leaves the machine; secrets are not printed.
import type { Transport } from "./google-call.ts"

export interface PrintedCall {
  method: string
  url: string
  body?: unknown
}

const secretFields = new Set([
  "client_secret",
  "code",
  "code_verifier",
  "refresh_token",
  "token",
  "access_token",
  "authorization",
])

export function createDryTransport(
  context: { account: string; project: string },
  print: (call: PrintedCall) => void,
): Transport {
  return async (url, init) => {
    const method = init.method ?? "GET"
    const { pathname } = new URL(url)
    print({ method, url: withoutToken(url), ...bodyOf(init) })
    const { status, answer } = answerOf(context, `${method} ${pathname}`)
    return new Response(JSON.stringify(answer), { status })
  }
}

function bodyOf({ body }: RequestInit): { body?: unknown } {
  if (body instanceof URLSearchParams) return { body: masked(Object.fromEntries(body)) }
  return typeof body === "string" ? { body: masked(JSON.parse(body)) } : {}
}

function masked(value: unknown): unknown {
  if (typeof value === "string") return URL.canParse(value) ? withoutToken(value) : value
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(masked)
  const entries = Object.entries(value).map(([name, inner]) => [name, secretFields.has(name) ? "***" : masked(inner)])
  return Object.fromEntries(entries)
}

export function withoutToken(address: string): string {
  return address.replace(/([?&]token=)[^&#]*/, "$1***")
}

/** As if nothing were there yet, so that every call that may be needed is shown. */
function answerOf(
  { account, project }: { account: string; project: string },
  call: string,
): { status: number; answer: object } {
  const ok = (answer: object) => ({ status: 200, answer })
  if (call === "POST /token") {
    return ok({ access_token: "dry-run-access", refresh_token: "dry-run-refresh", expires_in: 3600 })
  }
  if (call.endsWith("/profile")) return ok({ emailAddress: account, historyId: "1" })
  if (call.endsWith("/watch")) return ok({ historyId: "1", expiration: String(Date.UTC(2100, 0, 1)) })
  if (call.endsWith("/labels")) return ok({ labels: [] })
  if (call.endsWith(":batchEnable")) return ok({ done: true })
  if (call.endsWith(":getIamPolicy")) return ok({})
  const creates = call.startsWith("POST ") && call.endsWith("/serviceAccounts")
  if (creates) return ok({ email: `svc-gmail-push@${project}.iam.gserviceaccount.com` })
  const looksUp = call.startsWith("GET ") && /\/(?:topics|subscriptions|serviceAccounts)\/[^/:]+$/.test(call)
  return looksUp ? { status: 404, answer: { error: { status: "NOT_FOUND" } } } : ok({})
}
