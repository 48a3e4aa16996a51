// `/mcp` on the gateway's listener: request -> guard and door as for every route -> whoever speaks the protocol, which is
// given the caller and a way to the routes of `/api`. What a tool does passes the door once more, as the route that it is:
// the same scope, the same checks of its input, the same row of the audit log, the same redaction.
import type { Hono } from "hono"
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { type Admit, type Visitor, errorResponse } from "../kernel/http/index.ts"
import { AppError, type ErrorCode, type JsonObject, type Redactor, errorTable, isJsonObject } from "../kernel/index.ts"
import { type Scope, covers } from "./access/index.ts"
import type { CallInside, Env, InsideCall } from "./route.ts"
import { notAllowed } from "./routes.ts"

export interface McpCaller {
  visitor: Visitor
  may(scope: Scope): boolean
  /** Throws the AppError that the route answers with. */
  call: CallInside
}

export interface MountedMcp {
  handle(request: Request, caller: McpCaller): Promise<Response>
}

const methods = ["POST", "GET", "DELETE"]

export function addMcpRoutes(app: Hono<Env>, { mcp, redactor }: { mcp: MountedMcp; redactor: Redactor }): void {
  for (const method of methods) {
    app.on(method, "/mcp", async ({ req, env: { visit, inside } }) => {
      if (!visit || !inside) return errorResponse(new AppError("unauthorized", "A token is needed"), redactor)
      if (visit.visitor.kind === "page")
        return errorResponse(new AppError("forbidden", "This is for programs"), redactor)
      const held = visit.scopes as Scope[]
      return await mcp.handle(req.raw, { visitor: visit.visitor, may: (scope) => covers(held, scope), call: inside })
    })
  }
  app.all("/mcp", () => notAllowed(methods, redactor))
}

interface Inside {
  app: Hono<Env>
  admit: Admit
}

/** Calls in the name of whoever has made `incoming`. */
export function insideOf({ app, admit }: Inside, incoming: IncomingMessage): CallInside {
  return async ({ method, path, query = {}, body }, signal) => {
    const words = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value))
    const target = words.size === 0 ? path : `${path}?${words}`
    const inner = innerRequest(incoming, { method, path: target, body })
    const visit = admit(inner, path)
    try {
      const request = new Request(`http://localhost${target}`, { method, signal })
      // What is sent by the routes that stop the gateway is none of this.
      const response = await app.fetch(request, { incoming: inner, visit } as Env["Bindings"])
      visit.end(response.status)
      return await read(response)
    } catch (error) {
      visit.end(error instanceof AppError ? error.status : 500)
      throw error
    }
  }
}

/** What the routes and the door read of a request: its line, who it is from, its body. */
function innerRequest(outer: IncomingMessage, { method, path, body }: InsideCall): IncomingMessage {
  const { authorization } = outer.headers
  const text = body === undefined ? "" : JSON.stringify(body)
  const headers = {
    authorization,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
  }
  const stream = Readable.from(text === "" ? [] : [Buffer.from(text)], { objectMode: false })
  return Object.assign(stream, { method, url: path, headers, socket: outer.socket }) as unknown as IncomingMessage
}

async function read(response: Response): Promise<JsonObject> {
  const body: unknown = await response.json()
  if (!isJsonObject(body)) throw new AppError("internal", "A route gave no answer")
  const { ok: _ok, error, ...rest } = body
  if (response.ok || !isJsonObject(error)) return rest
  const { code, message, hint } = error
  const known = typeof code === "string" && Object.hasOwn(errorTable, code) ? (code as ErrorCode) : "internal"
  throw new AppError(known, String(message), typeof hint === "string" ? { hint } : {})
}
