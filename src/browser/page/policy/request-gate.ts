// Holds every request of a browser to the policy of whoever it is made for, before it leaves: documents, redirects, popups,
// frames, workers, beacons. It stands at the browser's own session, so that no page or worker is missed however new it is.
import { AppError, type Background, describeError, type Log } from "../../../kernel/index.ts"
import { CdpError, type CdpSession } from "../../cdp/index.ts"
import { metadataPatterns } from "./addresses.ts"
import { isUnknownName, type UrlPolicy } from "./url-policy.ts"

export interface GatedRequest {
  url: string
  frameId: string | undefined
  /** `Document` for what a frame shows. */
  type: string
}

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

/** What the gate holds up: all of it, what can speak to a server that does not prove its name, or what frames show. */
export type Seen = "everything" | "unencrypted" | "documents"

const patternsFor: Record<Seen, { urlPattern: string; resourceType?: "Document" }[]> = {
  everything: [{ urlPattern: "*" }],
  unencrypted: ["http://*", ...metadataPatterns.map((host) => `https://${host}/*`)].map((urlPattern) => ({
    urlPattern,
  })),
  documents: [{ urlPattern: "*", resourceType: "Document" }],
}

type Verdict = { pass: true } | { pass: false; reason: "BlockedByClient" | "NameNotResolved" }

export class RequestGate {
  readonly #options: RequestGateOptions
  #sees = new Set<Seen>()
  #started: Promise<unknown> | undefined
  /** Nobody knows what the browser sees now: all that was ever asked for is asked for again. */
  #hasFailed = false

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
   * Resolves when all such requests are seen; what is seen only ever grows. A request that waits for its answer waits for
   * as long as the connection lives.
   */
  async start(sees: Seen): Promise<void> {
    if (this.#hasFailed || (!this.#sees.has("everything") && !this.#sees.has(sees))) {
      this.#hasFailed = false
      this.#sees.add(sees)
      const kinds = this.#sees.has("everything") ? (["everything"] as const) : [...this.#sees]
      // Logins are answered where a proxy or a policy stands, not where addresses alone are looked at.
      const handleAuthRequests = kinds.some((kind) => kind !== "documents")
      const patterns = kinds.flatMap((kind) => patternsFor[kind])
      this.#started = this.#options.root.send("Fetch.enable", { handleAuthRequests, patterns })
    }
    const started = this.#started
    try {
      await started
    } catch (error) {
      // Whoever comes next tries again, and gets nowhere before it has worked.
      if (this.#started === started) this.#hasFailed = true
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
      const unknown = isUnknownName(error)
      // A name that is not known here may be known to the browser, which may be elsewhere.
      if (unknown && !policy.filters) return { pass: true }
      // Whatever went wrong: a request that nobody answers would hold its page up for good.
      const host = URL.canParse(url) ? new URL(url).host : ""
      this.#options.log.info({ host, reason: describeError(error) }, "request refused")
      return { pass: false, reason: unknown ? "NameNotResolved" : "BlockedByClient" }
    }
  }
}
