// A request of the control service without HTTP around it: method, path and fields -> the route -> the core. The listener
// uses it, and the node's side of the proxy, whose gateway asks two things more that no HTTP caller may.
import { z } from "zod"
import { AppError, type JsonObject } from "../../kernel/index.ts"
import type { BrowserCore, Caller } from "../core.ts"
import { parseRequest } from "../requests/index.ts"
import { lookRequest } from "../script/elements.ts"
import { controlRoutes } from "./all.ts"
import type { Method, Route } from "./route.ts"

export interface FoundRoute {
  route: Route
  /** What the path says in the places of `:names`, decoded. */
  named: Record<string, string>
}

const parts = new Map<Route, readonly string[]>(controlRoutes.map((route) => [route, route.path.split("/")]))

/** Throws `not-found`, `method-not-allowed` or `bad-request`. The path is as it stands in a request, without its query. */
export function findRoute(method: string, path: string): FoundRoute {
  const given = path.split("/")
  const others: Method[] = []
  for (const [route, wanted] of parts) {
    const named = match(wanted, given)
    if (!named) continue
    if (route.method === method) return { route, named }
    others.push(route.method)
  }
  if (others.length === 0) throw new AppError("not-found", "There is no such route")
  throw new AppError("method-not-allowed", `This route answers to ${others.join(", ")}`)
}

function match(wanted: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (wanted.length !== given.length) return undefined
  const named: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index] as string
    if (part.startsWith(":") && value !== "") named[part.slice(1)] = decode(value)
    else if (part !== value) return undefined
  }
  return named
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    throw new AppError("bad-request", "The path has a malformed % sequence", { cause: error })
  }
}

export interface ControlRequest {
  method: string
  path: string
  query: Readonly<Record<string, string>>
  body: JsonObject
}

/** Fields in the order in which they win: path, then body (POST) or query, where a blank one is left out. */
export function fieldsOf({ route, named }: FoundRoute, { query, body }: ControlRequest): JsonObject {
  const inQuery = () => Object.fromEntries(Object.entries(query).filter(([, value]) => !/^\s*$/.test(value)))
  return { ...(route.method === "POST" ? body : inQuery()), ...named }
}

const addressOf = z.object({ address: z.string().max(8_000), targetId: z.string().max(200).optional() })
const sitesOf = z.object({
  targetId: z.string().max(200).optional(),
  refs: z.array(z.string().max(200)).max(100),
  anywhere: z.boolean().default(false),
})

/** What a gateway asks besides, before a call that words of others may have made. */
const lookRoutes: Readonly<
  Record<string, (core: BrowserCore, caller: Caller, fields: JsonObject) => Promise<unknown>>
> = {
  async "/look/link"(core, caller, fields) {
    const { address, targetId } = parseRequest(addressOf, fields)
    return { shows: await core.showsLink(caller, address, targetId) }
  },
  async "/look/elements"(core, caller, fields) {
    const { targetId, refs } = parseRequest(sitesOf, fields)
    return await core.shownAt(caller, targetId, refs)
  },
  "/look/words": async (core, caller, fields) => await core.look(caller, parseRequest(lookRequest, fields)),
  "/look/sites": async (core, caller, fields) => ({
    sites: await core.sitesOf(caller, parseRequest(sitesOf, fields)),
  }),
}

/** The reply, as the route gives it; throws as the route does. */
export async function dispatch(core: BrowserCore, request: ControlRequest, caller: Caller): Promise<unknown> {
  const look = request.method === "POST" ? lookRoutes[request.path] : undefined
  if (look) return await look(core, caller, request.body)
  const found = findRoute(request.method, request.path)
  return await found.route.run(caller, fieldsOf(found, request), core)
}
