// The listener for updates, one for each address, shared by the accounts on it, each at its own path:
// path -> method (405) -> secret (401, before the body is read) -> size (413) -> JSON (400) -> commit (else 503) -> 200.
// No other path answers anything. Host and Origin are not checked: this is the one public surface.
import type { IncomingMessage } from "node:http"
import type { HttpBindings } from "@hono/node-server"
import { AppError, type Clock, type Log, type Redactor, type Secret, toAppError } from "../../../kernel/index.ts"
import {
  type FailureThrottle,
  type Listener,
  createFailureThrottle,
  errorResponse,
  listen,
  readJson,
  refuse,
} from "../../../kernel/http/index.ts"
import type { WebhookAddress } from "./address.ts"

export interface WebhookRoute {
  account: string
  secret: Secret
  /** Durable when it resolves. It may be anything: what is no update is set aside and not sent again for ever. */
  take(body: unknown): Promise<void>
}

export interface WebhookListenersOptions {
  clock: Clock
  log: Log
  redactor: Redactor
  /** Of each address, at once. */
  maxConnections?: number
  /** Is told of every request to the path of a webhook without its secret. */
  onRefused?: (address: string) => void
}

/** An update with the longest message, what it replies to and all formatting stays far below. */
const bodyLimits = { maxBytes: 1024 * 1024, timeoutMs: 20_000 }
const stopGraceMs = 2_000
const retryAfterSeconds = 5

interface Place {
  routes: Map<string, WebhookRoute>
  listener: Promise<Listener>
}

export class WebhookListeners {
  readonly #options: WebhookListenersOptions
  readonly #throttle: FailureThrottle
  readonly #places = new Map<string, Place>()

  constructor(options: WebhookListenersOptions) {
    this.#options = options
    this.#throttle = createFailureThrottle({ clock: options.clock })
  }

  /** Throws `port-in-use`, or `conflict` when another account has the path. Resolves with the way to end it. */
  async add(address: WebhookAddress, route: WebhookRoute): Promise<() => Promise<void>> {
    const known = this.#places.get(address.bind)
    const other = known?.routes.get(address.path)
    if (other) {
      throw new AppError("conflict", `webhookPath ${address.path} is used by account ${other.account} as well`, {
        hint: "Give each account a path of its own, or leave webhookPath out of the account",
      })
    }
    const place = known ?? this.#open(address)
    place.routes.set(address.path, route)
    try {
      await place.listener
    } catch (error) {
      this.#places.delete(address.bind)
      throw error
    }
    return () => this.#remove(address, place)
  }

  async #remove({ bind, path }: WebhookAddress, place: Place): Promise<void> {
    // The last one closes the door first, so that nobody is told that there is nothing here.
    if (place.routes.size === 1) {
      this.#places.delete(bind)
      await (await place.listener).stop(stopGraceMs)
    }
    place.routes.delete(path)
  }

  #open({ bind, host, port }: WebhookAddress): Place {
    const routes = new Map<string, WebhookRoute>()
    const listener = listen({
      host,
      port,
      maxConnections: this.#options.maxConnections,
      purpose: "the chat webhook (channels.chatapp.webhookBind)",
      hint: "Stop the other program, or set channels.chatapp.webhookBind to another host:port",
      fetch: (_request, env) => this.#answer(routes, (env as HttpBindings).incoming),
    })
    const place = { routes, listener }
    this.#places.set(bind, place)
    return place
  }

  async #answer(routes: ReadonlyMap<string, WebhookRoute>, request: IncomingMessage): Promise<Response> {
    const route = routes.get(request.url?.split("?", 1)[0] ?? "")
    if (!route) return closing(new Response(null, { status: 404 }))
    try {
      await this.#take(route, request)
      return new Response(null, { status: 200 })
    } catch (thrown) {
      const error = toAppError(thrown)
      this.#tell(route, error)
      const response = errorResponse(error, this.#options.redactor)
      if (error.code === "method-not-allowed") response.headers.set("allow", "POST")
      return error.status < 500 ? closing(response) : response
    }
  }

  async #take(route: WebhookRoute, request: IncomingMessage): Promise<void> {
    if (request.method !== "POST") throw new AppError("method-not-allowed", "Updates are sent with POST")
    const given = request.headers["x-telegram-bot-api-secret-token"]
    if (typeof given !== "string" || !route.secret.matches(given)) {
      const message =
        given === undefined ? "The secret of the webhook is missing" : "The secret of the webhook is wrong"
      this.#options.onRefused?.(request.socket.remoteAddress ?? "")
      refuse(this.#throttle, request.socket.remoteAddress ?? "", {
        message,
        hint: "The platform sends it in X-Telegram-Bot-Api-Secret-Token; it is set by the gateway itself",
      })
    }
    const body = await readJson(request, bodyLimits)
    try {
      await route.take(body)
    } catch (error) {
      if (error instanceof AppError) throw error
      throw new AppError("storage-failed", "The update was not stored", { cause: error, retryAfterSeconds })
    }
  }

  #tell({ account }: WebhookRoute, error: AppError): void {
    const level = error.status >= 500 ? "error" : error.status === 401 ? "warn" : "debug"
    this.#options.log[level](
      { account, status: error.status, code: error.code, reason: error.message },
      "update refused",
    )
  }
}

/** The body was not read, or not to its end: the connection cannot be used again. */
function closing(response: Response): Response {
  response.headers.set("connection", "close")
  return response
}
