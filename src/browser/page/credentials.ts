// A tab's answer to sites that ask for a name and password (Basic, Digest and what else the browser speaks). They go to one
// site and to no other: the one that was named, else the one that the tab shows, else the first that it is sent to.
import { AppError, type Background, type Secret } from "../../kernel/index.ts"
import { CdpError, type CdpSession } from "../cdp/index.ts"
import type { AuthAnswer, AuthChallenge } from "./policy/request-gate.ts"

export interface CredentialPair {
  username: string
  password: Secret
  /** Undefined until the tab shows a site. */
  origin: string | undefined
}

interface PausedEvent {
  requestId: string
  request: { url: string; headers: Record<string, string> }
  resourceType: string
  frameId: string
}

interface AuthEvent {
  requestId: string
  authChallenge: AuthChallenge
}

const maxTried = 500

/** The one owner of the session's Fetch domain: nothing is intercepted until there are credentials. */
export class Credentials {
  readonly #sessions = new Set<CdpSession>()
  readonly #background: Background
  readonly #mainFrame: string
  /** Requests that were answered: a site that asks again does not want this pair. */
  readonly #tried = new Set<string>()
  /** Sites that the browser was given a pair for by us. It keeps that, so that another has to be sent over its head. */
  readonly #basic = new Set<string>()
  #pair: CredentialPair | undefined

  constructor(options: { background: Background; mainFrame: string }) {
    this.#background = options.background
    this.#mainFrame = options.mainFrame
  }

  get pair(): CredentialPair | undefined {
    return this.#pair
  }

  /** Starts with those of the tab that opened this one. */
  inherit(opener: Credentials): void {
    this.#pair = opener.#pair
    for (const origin of opener.#basic) this.#basic.add(origin)
  }

  async join(session: CdpSession, signal: AbortSignal): Promise<void> {
    this.#sessions.add(session)
    const answer = (name: string, work: () => Promise<unknown>) =>
      this.#background.run(name, async () => {
        try {
          await work()
        } catch (error) {
          // The page gave the request up, or is gone.
          if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
        }
      })
    session.on("Fetch.requestPaused", (event: PausedEvent) =>
      answer("browser request", () => this.#pass(session, event)),
    )
    session.on("Fetch.authRequired", (event: AuthEvent) => answer("browser login", () => this.#login(session, event)))
    if (this.#patterns.length > 0) await this.#intercept(session, signal)
  }

  /** A process of the tab that has ended. */
  leave(session: CdpSession): void {
    this.#sessions.delete(session)
  }

  async set(pair: CredentialPair | undefined, signal: AbortSignal): Promise<void> {
    this.#pair = pair
    this.#tried.clear()
    await Promise.all([...this.#sessions].map((session) => this.#intercept(session, signal)))
  }

  /** Requests of other sites are left alone. */
  get #patterns(): { urlPattern: string }[] {
    if (this.#pair && this.#pair.origin === undefined) return [{ urlPattern: "*" }]
    const origins = new Set([...this.#basic, ...(this.#pair?.origin === undefined ? [] : [this.#pair.origin])])
    return [...origins].map((origin) => ({ urlPattern: `${origin}/*` }))
  }

  async #intercept(session: CdpSession, signal?: AbortSignal): Promise<void> {
    const patterns = this.#patterns
    try {
      if (patterns.length === 0) await session.send("Fetch.disable", {}, { signal })
      else await session.send("Fetch.enable", { handleAuthRequests: true, patterns }, { signal })
    } catch (error) {
      // A process that has ended meanwhile has no requests either.
      if (!(error instanceof CdpError) && this.#sessions.has(session)) throw error
      this.#sessions.delete(session)
    }
  }

  async #pass(session: CdpSession, { requestId, request, resourceType, frameId }: PausedEvent): Promise<void> {
    const origin = URL.canParse(request.url) ? new URL(request.url).origin : "null"
    if (this.#pair && this.#pair.origin === undefined && resourceType === "Document" && frameId === this.#mainFrame) {
      if (/^https?:/.test(request.url)) this.#pair = { ...this.#pair, origin }
    }
    if (!this.#basic.has(origin)) {
      await session.send("Fetch.continueRequest", { requestId })
      return
    }
    const value = this.#pair?.origin === origin ? basic(this.#pair) : ""
    const kept = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== "authorization")
    const headers = [...kept, ["Authorization", value]].map(([name, text]) => ({ name, value: text }))
    await session.send("Fetch.continueRequest", { requestId, headers })
  }

  async #login(session: CdpSession, { requestId, authChallenge }: AuthEvent): Promise<void> {
    const authChallengeResponse = this.answer(authChallenge, requestId)
    await session.send("Fetch.continueWithAuth", { requestId, authChallengeResponse })
  }

  /** What to say to a site that asks. Without credentials it is the browser's own business. */
  answer({ source, origin, scheme }: AuthChallenge, requestId: string): AuthAnswer {
    const pair = this.#pair
    if (source === "Proxy" || (!pair && !this.#basic.has(origin))) return { response: "Default" }
    const again = this.#tried.has(requestId)
    this.#tried.add(requestId)
    if (this.#tried.size > maxTried) this.#tried.delete(this.#tried.keys().next().value as string)
    const isBasic = scheme.toLowerCase() === "basic"
    if (pair?.origin !== origin || again || (isBasic && this.#basic.has(origin))) return { response: "CancelAuth" }
    if (isBasic) this.#basic.add(origin)
    return { response: "ProvideCredentials", username: pair.username, password: pair.password.reveal() }
  }
}

function basic({ username, password }: CredentialPair): string {
  return `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString("base64")}`
}
