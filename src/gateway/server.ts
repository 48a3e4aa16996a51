// The gateway's listener: request -> hooks if below their base -> Host and Origin guard -> health without secret
// -> gateway token -> routes. Paths are taken from the raw request line, so no spelling of a path skips a step.
import type { HttpBindings } from "@hono/node-server"
import { Hono } from "hono"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import {
  type Admit,
  type FailureThrottle,
  type Listener,
  type Visit,
  checkOrigin,
  createFailureThrottle,
  errorHandler,
  errorResponse,
  jsonResponse,
  listen,
} from "../kernel/http/index.ts"
import { AppError, type Clock, type Log, type Redactor, toAppError } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import { type Tokens, createDoor } from "./access/index.ts"
import type { GatewayActions } from "./api.ts"
import type { Audit } from "./audit/index.ts"
import { type Binding, resolveBinding } from "./binding.ts"
import type { Readiness } from "./contract.ts"
import { type Metric, formatMetrics, metricsType } from "./metrics.ts"
import { type MountedMcp, addMcpRoutes, insideOf } from "./mcp.ts"
import { type PageParts, pageBase } from "./page/index.ts"
import type { Env } from "./route.ts"
import { addApiRoutes, notAllowed } from "./routes.ts"
import type { TakeoverDesk } from "./takeover/contract.ts"
import { handleTakeover, takeoverBase } from "./takeover/surface.ts"
import type { GatewayToken } from "./token.ts"

/** The webhook endpoints, which bring their own secret and checks. */
export interface MountedHooks {
  /** Base path in force; undefined while they are off. */
  path(): string | undefined
  handle(request: IncomingMessage): Promise<Response>
  /** Why nothing is under this path for whoever shows their token; undefined for everybody else. */
  explain?(authorization: string | undefined): AppError | undefined
}

/** The door of other machines, which proves who comes by itself. */
export interface MountedNodes {
  path: string
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

export interface GatewayServerOptions {
  /** `gateway.bind`. */
  bind: string
  port: number
  maxConnections?: number
  /** `gateway.allowedHosts`, asked on each request. */
  allowedHosts: () => readonly string[]
  token: GatewayToken
  /** Those with scopes. */
  tokens: Tokens
  audit: Audit
  /** Counts wrong secrets; shared with the other surfaces. Made here when not given. */
  throttle?: FailureThrottle
  readiness: () => Readiness | Promise<Readiness>
  metrics: () => Metric[]
  actions: GatewayActions
  page: PageParts
  /** Where the log files are. */
  logFolder: string
  /** Tabs that are handed to a person; there are none when not given. */
  takeover?: TakeoverDesk
  hooks: MountedHooks
  mcp: MountedMcp
  nodes: MountedNodes
  store: Store
  clock: Clock
  log: Log
  redactor: Redactor
}

export interface GatewayServer {
  /** Rejects with `port-in-use` naming the port, or `config-invalid` for an unsafe binding. */
  start(): Promise<{ host: string; port: number }>
  /** Stops accepting, lets running requests finish for `graceMs`, then cuts what is left. */
  stop(graceMs?: number): Promise<void>
}

/** Paths of our own, which no base path of the hooks may take; `hooks.path` refuses them. */
const ownPaths = ["/healthz", "/readyz", "/metrics", "/api", "/dashboard", "/takeover", "/mcp"]

export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const app = createApp(options)
  const { token, tokens, audit, clock, page } = options
  const throttle = options.throttle ?? createFailureThrottle({ clock })
  const admit = createDoor({
    surface: "gateway",
    token: token.token,
    tokens,
    audit,
    throttle,
    page: { find: (request) => page.surface.find(request), isGood: (id) => page.sessions.isGood(id) },
  })
  let listener: Listener | undefined
  return {
    async start() {
      const binding = resolveBinding(options)
      if (binding.isPublic) {
        const hint = "put a TLS proxy in front of it"
        options.log.warn({ host: binding.host, hint }, "gateway reachable from other machines")
      }
      options.redactor.add(options.token.token.reveal())
      const fetch = (request: Request, env: HttpBindings) =>
        answer({ options, app, admit, throttle, binding, port: listener?.port ?? options.port }, request, env)
      listener = await listen({
        fetch: fetch as Parameters<typeof listen>[0]["fetch"],
        host: binding.host,
        port: options.port,
        maxConnections: options.maxConnections,
        purpose: "the gateway (gateway.port)",
        upgrade(request, socket, head) {
          const surface = { options, app, admit, throttle, binding, port: listener?.port ?? options.port }
          takeWebSocket(surface, request, { socket, head })
        },
      })
      options.log.info({ host: binding.host, port: listener.port }, "gateway listening")
      return { host: binding.host, port: listener.port }
    },
    async stop(graceMs) {
      // Its listeners would wait for ever.
      await page.feed.stop()
      await listener?.stop(graceMs)
      listener = undefined
    },
  }
}

interface Surface {
  options: GatewayServerOptions
  app: Hono<Env>
  admit: Admit
  throttle: FailureThrottle
  binding: Binding
  port: number
}

async function answer(surface: Surface, request: Request, env: HttpBindings): Promise<Response> {
  const { hooks, redactor, log } = surface.options
  const { incoming } = env
  const path = pathOf(incoming.url ?? "")
  // Nothing is posted to the base itself: reading it is the owner's way to the list of deliveries.
  const isHookList = incoming.method === "GET" && path === hooks.path()
  if (!isHookList && isBelow(path, hooks.path())) return await hooks.handle(incoming)
  let visit: Visit | undefined
  const { page } = surface.options
  try {
    guard(surface, incoming, path)
    if (isVisit(incoming, path)) return new Response(null, { status: 307, headers: { location: `${pageBase}/` } })
    if (page.surface.isBelow(path)) return await page.surface.handle(incoming, path)
    if (isBelow(path, takeoverBase, [])) return secured(await handTo(surface, incoming, path))
    if (!isOpen(incoming, path)) {
      visit = admitted(surface, incoming, isHookList ? "/api/hooks" : path)
      checkSpelling(path)
    }
    const inside = insideOf(surface, incoming)
    const response = await surface.app.fetch(isHookList ? hookListRequest(incoming) : request, {
      ...env,
      visit,
      inside,
    })
    visit?.end(response.status)
    return secured(response)
  } catch (thrown) {
    const error = toAppError(thrown)
    visit?.end(error.status)
    if (error.status >= 500) log.error({ err: thrown, path }, "request failed")
    return secured(errorResponse(error, redactor))
  }
}

/** Nodes have none of the browser's headers; a page cannot leave them out. */
function takeWebSocket(surface: Surface, incoming: IncomingMessage, to: { socket: Duplex; head: Buffer }): void {
  const { nodes, redactor } = surface.options
  to.socket.on("error", () => to.socket.destroy())
  try {
    const path = pathOf(incoming.url ?? "")
    guard(surface, incoming, path)
    if (path !== nodes.path) throw new AppError("not-found", "There is no WebSocket endpoint under this path")
    if (incoming.headers.origin !== undefined) {
      throw new AppError("forbidden-origin", "Requests from web pages are refused")
    }
    nodes.upgrade(incoming, to.socket, to.head)
  } catch (thrown) {
    const { status, code, message } = toAppError(thrown)
    const body = redactor.redact(JSON.stringify({ ok: false, error: { code, message } }))
    to.socket.end(
      `HTTP/1.1 ${status} ${status === 404 ? "Not Found" : "Refused"}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
}

function hookListRequest(incoming: IncomingMessage): Request {
  const target = incoming.url ?? ""
  const mark = target.indexOf("?")
  return new Request(`http://localhost/api/hooks${mark === -1 ? "" : target.slice(mark)}`)
}

/** What is refused before any secret is looked at. */
function guard(surface: Surface, incoming: IncomingMessage, path: string): void {
  const { allowedHosts } = surface.options
  const extraHosts = [...allowedHosts().map((host) => host.toLowerCase()), ...surface.binding.ownHosts(incoming.socket)]
  // Files that are open to all may be linked to; what they show has a guard of its own.
  const { page } = surface.options
  const isOpenFile = isVisit(incoming, path) || (page.surface.isBelow(path) && page.surface.isFile(incoming, path))
  checkOrigin(isOpenFile ? { host: incoming.headers.host } : incoming.headers, { port: surface.port, extraHosts })
  if (!path.startsWith("/")) throw new AppError("bad-request", "The request target must be a path")
  if (/%(?![0-9a-f]{2})/i.test(path)) throw new AppError("bad-request", "The path has a broken percent-encoding")
}

/** Somebody who types our bare address into a browser wants the page. */
function isVisit({ method, headers }: IncomingMessage, path: string): boolean {
  return path === "/" && method === "GET" && (headers.accept ?? "").includes("text/html")
}

/** Asking whether it lives and works needs no token; guessing one there is no way round the throttle. */
function isOpen(incoming: IncomingMessage, path: string): boolean {
  if (path === "/healthz") return true
  return path === "/readyz" && incoming.headers.authorization === undefined
}

/** Who has the right secret of the webhooks learns what is wrong with the address; it counts as a wrong one all the same. */
function admitted({ admit, options }: Surface, incoming: IncomingMessage, path: string): Visit {
  try {
    return admit(incoming, path)
  } catch (error) {
    const isOwn = path === options.hooks.path() || ownPaths.some((own) => path === own || path.startsWith(`${own}/`))
    const isRefused = error instanceof AppError && error.code === "unauthorized"
    throw (isRefused && !isOwn ? options.hooks.explain?.(incoming.headers.authorization) : undefined) ?? error
  }
}

/** The router sees a decoded and normalised path: only those that are the same in both forms may reach it. */
function checkSpelling(path: string): void {
  if (!/^(?:\/(?!\.{1,2}(?:\/|$))[\w.~:@!$&'()*+,;=-]+)+$/.test(path)) {
    throw new AppError("not-found", "There is nothing under this path")
  }
}

export function createApp(options: GatewayServerOptions): Hono<Env> {
  const app = new Hono<Env>()
  app.onError(errorHandler({ log: options.log, redactor: options.redactor }))
  app.notFound(() => errorResponse(new AppError("not-found", "There is nothing under this path"), options.redactor))
  app.get("/healthz", () => jsonResponse({ ok: true }))
  app.get("/readyz", async (context) => {
    const readiness = await options.readiness()
    // Strangers learn whether, not what there is and what is broken; who shows a token has shown the right one by now.
    const isKnown = context.env.incoming.headers.authorization !== undefined
    return jsonResponse(isKnown ? readiness : { ok: readiness.ok }, readiness.ok ? 200 : 503)
  })
  app.get("/metrics", (context) => context.text(formatMetrics(options.metrics()), 200, { "content-type": metricsType }))
  for (const path of ["/healthz", "/readyz", "/metrics"]) app.all(path, () => notAllowed(["GET"], options.redactor))
  addMcpRoutes(app, options)
  addApiRoutes(app, options)
  return app
}

function secured(response: Response): Response {
  const { headers } = response
  headers.set("cache-control", "no-store")
  headers.set("x-content-type-options", "nosniff")
  headers.set("referrer-policy", "no-referrer")
  headers.set("x-frame-options", "DENY")
  if (response.status === 401) headers.set("www-authenticate", "Bearer")
  headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
  return response
}

function pathOf(target: string): string {
  const mark = target.indexOf("?")
  return mark === -1 ? target : target.slice(0, mark)
}

async function handTo({ options, throttle }: Surface, incoming: IncomingMessage, path: string): Promise<Response> {
  const { takeover: desk, page, audit } = options
  if (!desk) throw new AppError("not-found", "There is nothing under this path")
  return await handleTakeover({ desk, settings: page.settings, audit, throttle }, incoming, path)
}

function isBelow(path: string, base: string | undefined, own: readonly string[] = ownPaths): boolean {
  if (base === undefined || !path.startsWith(base)) return false
  if (path.length > base.length && path[base.length] !== "/") return false
  return !own.some((each) => path === each || path.startsWith(`${each}/`))
}
