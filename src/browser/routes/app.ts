// The control service as a hono app. Every request: guard -> token -> path -> content type -> route -> core.
import { Hono } from "hono"
import type { IncomingMessage, ServerResponse } from "node:http"
import { AppError, isJsonObject, type JsonObject, type Log, type Redactor, type Secret } from "../../kernel/index.ts"
import {
  type Admit,
  checkBearer,
  checkOrigin,
  errorHandler,
  errorResponse,
  type FailureThrottle,
  jsonResponse,
  readJson,
  type Visit,
} from "../../kernel/http/index.ts"
import type { BrowserCore, Caller } from "../core.ts"
import { controlRoutes } from "./all.ts"
import { type ControlRequest, fieldsOf } from "./dispatch.ts"

export interface ControlEnv {
  Bindings: { incoming: IncomingMessage; outgoing: ServerResponse }
  Variables: { visit?: Visit }
}

export interface ControlOptions {
  core: BrowserCore
  token: Secret
  /** Instead of the token alone. */
  admit?: Admit | undefined
  throttle: FailureThrottle
  log: Log
  redactor: Redactor
  /** Makes a request on the node that it names. */
  forward(node: string, request: ControlRequest, caller: Caller): Promise<unknown>
  /** The port that the Host header must name. */
  port(): number
}

const bodyLimits = { maxBytes: 1024 * 1024, timeoutMs: 30_000 }

export function createControlApp(options: ControlOptions): Hono<ControlEnv> {
  const app = new Hono<ControlEnv>()
  app.use(async (context, next) => {
    const { incoming } = context.env
    checkOrigin(incoming.headers, { port: options.port() })
    const visit = options.admit?.(incoming)
    if (!options.admit) checkToken(options, incoming)
    checkPath(incoming.url ?? "/")
    checkContentType(incoming)
    if (visit) context.set("visit", visit)
    await next()
    visit?.end(context.res.status)
  })
  for (const route of controlRoutes) {
    const { method, path, run } = route
    app.on(method, path, async (context) => {
      const { incoming, outgoing } = context.env
      const body = method === "GET" ? {} : await readJson(incoming, bodyLimits)
      if (!isJsonObject(body)) throw new AppError("bad-request", "The body must be a JSON object")
      const query = context.req.query()
      const profile = nameIn("profile", query, body)
      const fields = fieldsOf({ route, named: context.req.param() }, { method, path, query, body })
      nameProfile(context.get("visit"), profile, fields)
      const caller = { profile, signal: hangUp(outgoing) }
      const node = path === "/explain" ? undefined : nameIn("node", query, body)
      if (node === undefined) return jsonResponse(await run(caller, fields, options.core))
      const { node: _inQuery, ...plainQuery } = query
      const { node: _inBody, ...plainBody } = body
      const plain = { method, path: pathOf(incoming), query: plainQuery, body: plainBody }
      return jsonResponse(await options.forward(node, plain, caller))
    })
  }
  app.notFound((context) => errorResponse(unknownRoute(context.req.path), options.redactor))
  app.onError(errorHandler(options))
  return app
}

/** From the query, else from the body; one that is blank or null is none. Another's browser is never taken instead. */
function nameIn(field: "profile" | "node", query: Record<string, string>, body: JsonObject): string | undefined {
  const inBody = body[field] ?? ""
  if (typeof inBody !== "string" && typeof inBody !== "number") {
    throw new AppError("bad-request", `${field}: must be a string`)
  }
  return [query[field] ?? "", String(inBody)].map((name) => name.trim()).find((name) => name !== "")
}

function pathOf(incoming: IncomingMessage): string {
  return (incoming.url ?? "/").split("?")[0] as string
}

function checkToken(options: ControlOptions, incoming: IncomingMessage): void {
  checkBearer({
    authorization: incoming.headers.authorization,
    token: options.token,
    address: incoming.socket.remoteAddress ?? "",
    throttle: options.throttle,
  })
}

/** The audit log keeps which profile was meant, and nothing of what was done in it. */
function nameProfile(visit: Visit | undefined, profile: string | undefined, fields: JsonObject): void {
  const { name } = fields
  if (visit) visit.target = profile ?? (typeof name === "string" ? name : "")
}

/** Aborts when the client goes away before its answer: nobody waits for the work any more. */
function hangUp(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) controller.abort(new AppError("aborted", "The client closed the connection"))
  })
  return controller.signal
}

function checkPath(url: string): void {
  try {
    decodeURIComponent(url.split("?")[0] as string)
  } catch (error) {
    throw new AppError("bad-request", "The path has a malformed % sequence", { cause: error })
  }
}

/** A web page can send plain text without being asked for leave first; JSON it cannot. */
function checkContentType(incoming: IncomingMessage): void {
  const hasBody =
    Number(incoming.headers["content-length"] ?? 0) > 0 || incoming.headers["transfer-encoding"] !== undefined
  if (!hasBody) return
  const type = (incoming.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase()
  if (type !== "application/json")
    throw new AppError("unsupported-media-type", "The body must be sent as application/json")
}

function unknownRoute(path: string): AppError {
  const same = controlRoutes.filter((route) => new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(path))
  if (same.length === 0) return new AppError("not-found", "There is no such route")
  return new AppError("method-not-allowed", `This route answers to ${same.map(({ method }) => method).join(", ")}`)
}
