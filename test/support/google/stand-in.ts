// A small stand-in for the Google APIs that the mail watch uses, built from their public documents: consent and token
// endpoint (PKCE, refresh, revocation), Gmail, Pub/Sub, IAM, Service Usage, and signed pushes. Strict: a call that the
// documents do not have is answered 400 and listed in `unexpected`.
import { createHash, randomBytes } from "node:crypto"
import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { TestContext } from "node:test"
import type { JsonObject } from "../../../src/kernel/index.ts"
import { type IssuerClaims, createIssuer } from "./issuer.ts"
import { MailStore } from "./mail.ts"

export interface RecordedCall {
  method: string
  /** With the query. */
  path: string
  body: JsonObject
  authorization: string | undefined
}

interface Answer {
  status: number
  body: JsonObject
  headers?: Record<string, string>
}

interface Grant {
  scope: string
  challenge: string
  redirectUri: string
  offline: boolean
}

export const testClient = { client_id: "123456-abc.apps.googleusercontent.com", client_secret: "GOCSPX-client-secret" }
export const testAccount = "me@example.com"
export const pushServiceAccount = "svc-gmail-push@123456.iam.gserviceaccount.com"

const ok = (body: JsonObject = {}): Answer => ({ status: 200, body })
const refuse = (status: number, name: string): Answer => ({
  status,
  body: { error: { code: status, status: name, message: `stand-in: ${name}` } },
})

export type GoogleStandIn = Awaited<ReturnType<typeof startGoogle>>

export async function startGoogle(context: Pick<TestContext, "after">) {
  const state = new GoogleState()
  const issuer = await createIssuer()
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url ?? "/", "http://stand-in")
    const isKeySet = url.pathname === "/oauth2/v3/certs"
    const keySet = (): Answer => ok(issuer.keySet() as unknown as JsonObject)
    const reply = isKeySet ? keySet() : state.handle(request, url, Buffer.concat(chunks).toString("utf8"))
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
    response.end(JSON.stringify(reply.body))
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  context.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    state,
    issuer,
    keySetUrl: `${base}/oauth2/v3/certs`,
    roots: { gmail: base, accounts: base, oauth: base, pubsub: base, iam: base, serviceUsage: base },
    /** What the person's browser does with a consent address: agrees and follows the way back. */
    async consent(address: string) {
      const response = await fetch(address, { redirect: "manual" })
      const location = response.headers.get("location")
      if (location === null) throw new Error(`the consent page answered ${response.status}: ${await response.text()}`)
      return location
    },
    /** A push as Pub/Sub sends it. */
    async push(endpoint: string, audience: string, options: PushOptions = {}) {
      const notice = { emailAddress: testAccount, historyId: Number(state.mail.historyId), ...options.notice }
      // Google writes the number as it is, also where it does not fit a double.
      const data = JSON.stringify(notice).replace(/"historyId":\d+/, `"historyId":${state.mail.historyId}`)
      const token = await issuer.sign({ aud: audience, email: pushServiceAccount, ...options.claims })
      const body = {
        message: { data: Buffer.from(data).toString("base64"), messageId: String(Date.now()), publishTime: "now" },
        subscription: "projects/123456/subscriptions/svc-gmail-watch-push",
      }
      return await fetch(endpoint, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(options.authorization === null ? {} : { authorization: options.authorization ?? `Bearer ${token}` }),
        },
        body: options.body ?? JSON.stringify(body),
      })
    },
  }
}

export interface PushOptions {
  claims?: IssuerClaims
  notice?: JsonObject
  /** Null sends none. */
  authorization?: string | null
  body?: string
}

class GoogleState {
  readonly mail = new MailStore()
  readonly calls: RecordedCall[] = []
  readonly unexpected: string[] = []
  readonly accessTokens = new Map<string, string>()
  readonly refreshTokens = new Map<string, string>()
  readonly labels = [{ id: "Label_7", name: "Agent", type: "user" }]
  readonly topics = new Map<string, JsonObject>()
  readonly policies = new Map<string, JsonObject>()
  readonly subscriptions = new Map<string, JsonObject>()
  readonly serviceAccounts = new Map<string, JsonObject>()
  readonly watches: JsonObject[] = []
  watchExpiresAt = Date.now() + 7 * 24 * 3600_000
  /** Answers that are given instead, in order, to paths that contain the text. */
  readonly failures: { path: string; answer: Answer }[] = []
  #grants = new Map<string, Grant>()
  #waiting: { matches: (call: RecordedCall) => boolean; resolve: () => void }[] = []

  fail(path: string, status: number, times = 1, headers: Record<string, string> = {}): void {
    const answer = { ...refuse(status, "UNAVAILABLE"), headers }
    for (let count = 0; count < times; count += 1) this.failures.push({ path, answer })
  }

  count(text: string): number {
    return this.calls.filter((call) => `${call.method} ${call.path}`.includes(text)).length
  }

  /** Resolves with the next call whose `METHOD /path` contains the text. */
  next(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ matches: (call) => `${call.method} ${call.path}`.includes(text), resolve })
    })
  }

  /** Signs in without a browser, for tests that begin after the set-up. */
  newRefreshToken(scope = "https://www.googleapis.com/auth/gmail.readonly"): string {
    const token = `1//refresh-${randomBytes(12).toString("hex")}`
    this.refreshTokens.set(token, scope)
    return token
  }

  handle(request: IncomingMessage, url: URL, text: string): Answer {
    const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded")
    const body = isForm ? Object.fromEntries(new URLSearchParams(text)) : (JSON.parse(text || "{}") as JsonObject)
    const { authorization } = request.headers
    const call = { method: request.method ?? "GET", path: url.pathname + url.search, body, authorization }
    this.calls.push(call)
    for (const waiting of this.#waiting.filter(({ matches }) => matches(call))) waiting.resolve()
    const at = this.failures.findIndex(({ path }) => url.pathname.includes(path))
    if (at >= 0) return this.failures.splice(at, 1)[0]?.answer as Answer
    const reply = this.#route(call, url)
    if (reply) return reply
    this.unexpected.push(`${call.method} ${call.path}`)
    return refuse(400, "INVALID_ARGUMENT")
  }

  #route(call: RecordedCall, url: URL): Answer | undefined {
    const name = `${call.method} ${url.pathname}`
    if (name === "GET /o/oauth2/v2/auth") return this.#consent(url.searchParams)
    if (name === "POST /token") return this.#token(call.body as Record<string, string>)
    if (name === "POST /revoke") {
      this.refreshTokens.delete(String(call.body["token"]))
      return ok()
    }
    const scope = this.accessTokens.get(call.authorization?.replace("Bearer ", "") ?? "")
    if (scope === undefined) return refuse(401, "UNAUTHENTICATED")
    if (url.pathname.startsWith("/gmail/v1/users/me/")) {
      if (!scope.endsWith("gmail.readonly")) return refuse(403, "PERMISSION_DENIED")
      return this.#gmail(name.replace("/gmail/v1/users/me", ""), url, call.body)
    }
    if (!scope.endsWith("cloud-platform")) return refuse(403, "PERMISSION_DENIED")
    return this.#cloud(call.method, url.pathname, call.body)
  }

  #consent(query: URLSearchParams): Answer | undefined {
    const redirectUri = query.get("redirect_uri") ?? ""
    const wellFormed =
      query.get("client_id") === testClient.client_id &&
      query.get("response_type") === "code" &&
      query.get("code_challenge_method") === "S256" &&
      /^[\w-]{43}$/.test(query.get("code_challenge") ?? "") &&
      new URL(redirectUri).hostname === "127.0.0.1"
    if (!wellFormed) return undefined
    const code = `4/${randomBytes(16).toString("hex")}`
    this.#grants.set(code, {
      scope: query.get("scope") ?? "",
      challenge: query.get("code_challenge") ?? "",
      redirectUri,
      offline: query.get("access_type") === "offline" && query.get("prompt") === "consent",
    })
    const location = new URL(redirectUri)
    location.searchParams.set("state", query.get("state") ?? "")
    location.searchParams.set("code", code)
    return { status: 302, body: {}, headers: { location: location.href } }
  }

  #token(form: Record<string, string>): Answer {
    const refused = (error: string): Answer => ({ status: 400, body: { error, error_description: "Bad Request" } })
    if (form["client_id"] !== testClient.client_id || form["client_secret"] !== testClient.client_secret) {
      return { ...refused("invalid_client"), status: 401 }
    }
    const accessToken = `ya29.access-${randomBytes(12).toString("hex")}`
    const tokens = { access_token: accessToken, expires_in: 3599, token_type: "Bearer" }
    if (form["grant_type"] === "refresh_token") {
      const scope = this.refreshTokens.get(form["refresh_token"] ?? "")
      if (scope === undefined) return refused("invalid_grant")
      this.accessTokens.set(accessToken, scope)
      return ok(tokens)
    }
    const grant = this.#grants.get(form["code"] ?? "")
    this.#grants.delete(form["code"] ?? "")
    const challenge = createHash("sha256")
      .update(form["code_verifier"] ?? "")
      .digest("base64url")
    const fits = grant?.challenge === challenge && grant.redirectUri === form["redirect_uri"]
    if (!grant || !fits) return refused("invalid_grant")
    this.accessTokens.set(accessToken, grant.scope)
    return ok({ ...tokens, ...(grant.offline ? { refresh_token: this.newRefreshToken(grant.scope) } : {}) })
  }

  #gmail(name: string, url: URL, body: JsonObject): Answer | undefined {
    if (name === "GET /profile") return ok({ emailAddress: testAccount, historyId: this.mail.historyId })
    if (name === "GET /labels") return ok({ labels: [{ id: "INBOX", name: "INBOX", type: "system" }, ...this.labels] })
    if (name === "POST /stop") return ok()
    if (name === "POST /watch") {
      if (typeof body["topicName"] !== "string" || !Array.isArray(body["labelIds"])) return undefined
      this.watches.push(body)
      return ok({ historyId: this.mail.historyId, expiration: String(this.watchExpiresAt) })
    }
    if (name === "GET /history") {
      const history = this.mail.historySince(url.searchParams)
      return history ? ok(history) : refuse(404, "NOT_FOUND")
    }
    if (name === "GET /messages") return ok(this.mail.list(url.searchParams))
    const id = /^GET \/messages\/(\w+)$/.exec(name)?.[1]
    if (id === undefined) return undefined
    const mail = this.mail.get(id, url.searchParams.get("format") ?? "full")
    return mail ? ok(mail) : refuse(404, "NOT_FOUND")
  }

  #cloud(method: string, path: string, body: JsonObject): Answer | undefined {
    if (method === "POST" && path.endsWith(":batchEnable")) return ok({ name: "operations/acf.1", done: false })
    if (method === "GET" && path === "/v1/operations/acf.1") return ok({ name: "operations/acf.1", done: true })
    const [resource = "", verb] = path.replace("/v1/", "").split(":")
    if (verb === "getIamPolicy") return ok({ etag: "BwX=", version: 1, ...this.policies.get(resource) })
    if (verb === "setIamPolicy") {
      this.policies.set(resource, body["policy"] as JsonObject)
      return ok()
    }
    if (verb === "modifyPushConfig") {
      this.subscriptions.set(resource, { ...this.subscriptions.get(resource), ...body })
      return ok()
    }
    if (method === "POST" && resource.endsWith("/serviceAccounts")) {
      const account = { email: pushServiceAccount }
      this.serviceAccounts.set(pushServiceAccount, account)
      return ok(account)
    }
    const kinds = { topics: this.topics, subscriptions: this.subscriptions, serviceAccounts: this.serviceAccounts }
    const [, , kind = "", id = ""] = resource.split("/")
    const store = Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds] : undefined
    if (!store) return undefined
    const key = kind === "serviceAccounts" ? decodeURIComponent(id) : resource
    if (method === "PUT") store.set(key, { name: resource, ...body })
    const found = store.get(key)
    return found ? ok(found) : refuse(404, "NOT_FOUND")
  }
}
