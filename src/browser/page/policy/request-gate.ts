// Holds every request of a browser to the policy of whoever it is made for, before it leaves: documents, redirects, popups,
// frames, workers, beacons. It stands at the browser's own session, so that no page or worker is missed however new it is.
import { AppError, type Background, describeError, type Log } from "../../../kernel/index.ts"
import { CdpError, type CdpSession } from "../../cdp/index.ts"
import type { UrlPolicy } from "./url-policy.ts"

export interface GatedRequest {
  url: string
  frameId: string | undefined
  /** `Document` for what a frame shows. */
  type: string
}

/** Which requests are looked at: all, or only those for what frames show. */
export type GateScope = "documents" | "all"

export interface RequestGateOptions {
  root: CdpSession
  /** The tab may not go there now, whatever the policy is. */
  isHeldBack(request: GatedRequest): boolean
  /** The policy for a request of this frame; undefined lets it pass. Workers have frames that nobody knows. */
  policyFor(frameId: string | undefined): UrlPolicy | undefined
  /** The answer to a site or proxy that asks for a login: those who stand further from the network are not asked. */
  login(challenge: AuthChallenge, request: { requestId: string; frameId: string | undefined }): AuthAnswer
  background: Background
  log: Log
}

export interface AuthChallenge {
  source?: "Server" | "Proxy"
  /** Of the site or proxy that asks. */
  origin: string
  scheme: string
}

export type AuthAnswer =
  | { response: "Default" | "CancelAuth" }
  | { response: "ProvideCredentials"; username: string; password: string }

interface AuthEvent {
  requestId: string
  authChallenge: AuthChallenge
  frameId?: string
}

interface PausedEvent {
  requestId: string
  request: { url: string }
  frameId?: string
  resourceType: string
}

type Verdict = { pass: true } | { pass: false; reason: "BlockedByClient" | "NameNotResolved" }

export class RequestGate {
  readonly #options: RequestGateOptions
  #started: Promise<unknown> | undefined
  #scope: GateScope | undefined

  constructor(options: RequestGateOptions) {
    this.#options = options
    const { root, background } = options
    root.on("Fetch.requestPaused", (event: PausedEvent) => background.run("browser request", () => this.#answer(event)))
    root.on("Fetch.authRequired", (event: AuthEvent) =>
      background.run("browser login", () => {
        const { requestId, authChallenge, frameId } = event
        const authChallengeResponse = this.#options.login(authChallenge, { requestId, frameId })
        return this.#say("Fetch.continueWithAuth", { requestId, authChallengeResponse })
      }),
    )
  }

  /**
   * Resolves when every request of the scope is seen; it only ever widens. A request that waits for its answer waits for as
   * long as the connection lives.
   */
  async start(scope: GateScope): Promise<void> {
    const { root } = this.#options
    if (this.#scope === undefined || (scope === "all" && this.#scope === "documents")) {
      this.#scope = scope
      const isAll = scope === "all"
      const pattern = { urlPattern: "*", ...(isAll ? {} : { resourceType: "Document" }) }
      this.#started = root.send("Fetch.enable", { handleAuthRequests: isAll, patterns: [pattern] })
    }
    try {
      await this.#started
    } catch (error) {
      // Whoever comes next tries again, and gets nowhere before it has worked.
      this.#scope = undefined
      throw error
    }
  }

  async #answer({ requestId, request, frameId, resourceType }: PausedEvent): Promise<void> {
    const isHeld = this.#options.isHeldBack({ url: request.url, frameId, type: resourceType })
    const verdict: Verdict = isHeld
      ? { pass: false, reason: "BlockedByClient" }
      : await this.#judge(request.url, frameId)
    const [method, parameters] = verdict.pass
      ? ["Fetch.continueRequest", {}]
      : ["Fetch.failRequest", { errorReason: verdict.reason }]
    await this.#say(method as string, { requestId, ...(parameters as object) })
  }

  async #say(method: string, parameters: Record<string, unknown>): Promise<void> {
    try {
      await this.#options.root.send(method, parameters)
    } catch (error) {
      // The page gave the request up, or the browser is gone.
      if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
    }
  }

  async #judge(url: string, frameId: string | undefined): Promise<Verdict> {
    const policy = this.#options.policyFor(frameId)
    if (!policy) return { pass: true }
    try {
      await policy.checkRequest(url)
      return { pass: true }
    } catch (error) {
      // Whatever went wrong: a request that nobody answers would hold its page up for good.
      const host = URL.canParse(url) ? new URL(url).host : ""
      this.#options.log.info({ host, reason: describeError(error) }, "request refused")
      const unknown = error instanceof AppError && error.code === "navigation-failed"
      return { pass: false, reason: unknown ? "NameNotResolved" : "BlockedByClient" }
    }
  }
}
