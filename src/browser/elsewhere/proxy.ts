// A request of the control service, made on a node: files that it reads go along, the answer is held to its schema, and a file
// that came with it gets its place here. Codes and statuses stay as the node gave them; a path of the node is never believed.
import { open, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { AppError, type ErrorCode, type Ids, type JsonObject, errorTable, isJsonObject } from "../../kernel/index.ts"
import type { Caller } from "../core.ts"
import { safeName } from "../files/safe-name.ts"
import { moveInto, pathToRead, pathToWrite } from "../files/safe-path.ts"
import { replies } from "../replies/index.ts"
import { type ControlRequest, fieldsOf, findRoute } from "../routes/dispatch.ts"
import type { Route, RouteFiles } from "../routes/route.ts"
import type { NodeAnswer, NodeCall, NodeLinks } from "./links.ts"

export interface ProxyOptions {
  links: NodeLinks
  stateFolder: string
  ids: Ids
}

/** Longer than anything that a caller may wait for. */
const longestCallMs = 10 * 60_000

export type Gives = NonNullable<RouteFiles["gives"]>

/** The reply of the route. `node` is an id. */
export async function throughNode(
  options: ProxyOptions,
  node: string,
  request: ControlRequest,
  caller: Caller,
): Promise<unknown> {
  const { links } = options
  const found = findRoute(request.method, request.path)
  const { route } = found
  const { reads, gives } = route.files ?? {}
  const wanted = fieldsOf(found, request)["path"]
  const wantedPath = typeof wanted === "string" && gives?.folder !== "media" ? wanted : undefined
  if (gives && wantedPath !== undefined) await pathToWrite(folderOf(options, gives), wantedPath)
  const files = reads ? await uploadsOf(options, request.body[reads]) : []
  const answer = await links.call(node, callOf(request, caller), {
    files,
    takes: gives ? [gives.field] : [],
    signal: limited(caller.signal),
  })
  try {
    if (answer.status >= 400) throw errorOf(answer)
    const reply = replyOf(route, answer.body)
    if (gives) await placeFile(options, gives, { reply, answer, wantedPath })
    return route.path === "/downloads" ? withTransfers(links, node, reply) : reply
  } finally {
    // What was put to its place is there no more.
    for (const { path } of answer.files) await rm(path, { force: true })
  }
}

/** What only a gateway asks; see `dispatch`. */
export async function lookThroughNode(
  { links }: ProxyOptions,
  node: string,
  path: "/look/link" | "/look/sites" | "/look/elements" | "/look/words",
  { body, caller }: { body: JsonObject; caller: Caller },
): Promise<JsonObject> {
  const request = { method: "POST", path, query: {}, body }
  const more = { files: [], takes: [], signal: limited(caller.signal) }
  const answer = await links.call(node, callOf(request, caller), more)
  if (answer.status >= 400) throw errorOf(answer)
  if (!isJsonObject(answer.body)) throw senseless(path)
  return answer.body
}

function callOf({ method, path, query, body }: ControlRequest, { profile, guest, staysOn }: Caller): NodeCall {
  return {
    method,
    path,
    query,
    body,
    ...(profile === undefined ? {} : { profile }),
    ...(guest === undefined ? {} : { guest }),
    ...(staysOn === undefined ? {} : { staysOn: staysOn.list() }),
  }
}

function limited(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(longestCallMs)
  return signal ? AbortSignal.any([signal, limit]) : limit
}

/** Only what may be read here too goes to another machine. */
async function uploadsOf({ stateFolder }: ProxyOptions, paths: unknown) {
  const root = join(stateFolder, "uploads")
  const list = Array.isArray(paths) ? paths.filter((path) => typeof path === "string").slice(0, 50) : []
  return await Promise.all(
    list.map(async (given, index) => {
      const path = await pathToRead(root, given)
      return { path, field: `paths.${index}`, name: basename(path) }
    }),
  )
}

function errorOf({ status, body }: NodeAnswer): AppError {
  const error = isJsonObject(body) && isJsonObject(body["error"]) ? body["error"] : {}
  const { code, message, hint } = error
  const text = typeof message === "string" ? message.slice(0, 2_000) : `The node answered with status ${status}`
  if (typeof code !== "string" || !Object.hasOwn(errorTable, code)) return new AppError("node-failed", text)
  return new AppError(code as ErrorCode, text, {
    status,
    ...(typeof hint === "string" ? { hint: hint.slice(0, 500) } : {}),
  })
}

function replyOf(route: Route, body: unknown): JsonObject {
  const parsed = replies[route.reply].safeParse(body)
  if (parsed.success && isJsonObject(parsed.data)) return parsed.data
  throw senseless(`${route.method} ${route.path}`)
}

function senseless(what: string): AppError {
  return new AppError("node-failed", `The node answered ${what} in a form that this gateway does not know`, {
    hint: "Bring svc on both machines to the same version: svc update",
  })
}

export function folderOf({ stateFolder }: Pick<ProxyOptions, "stateFolder">, { folder }: Gives): string {
  return join(stateFolder, folder === "media" ? join("media", "browser") : folder)
}

async function placeFile(
  options: ProxyOptions,
  gives: Gives,
  { reply, answer, wantedPath }: { reply: JsonObject; answer: NodeAnswer; wantedPath: string | undefined },
): Promise<void> {
  const holder = gives.field === "download.path" ? reply["download"] : reply
  const field = gives.field === "imagePath" ? "imagePath" : "path"
  // Without labels a snapshot has no picture.
  if (!isJsonObject(holder) || holder[field] === undefined) return
  const file = answer.files.find((each) => each.field === gives.field)
  if (!file) throw new AppError("node-failed", "The node named a file and did not send it")
  const root = folderOf(options, gives)
  const name = wantedPath ?? (await nameOf(options, gives, { path: file.path, holder }))
  holder[field] = await moveInto(file.path, root, name)
  if (gives.field === "download.path") holder["bytes"] = file.bytes
}

async function nameOf({ ids }: ProxyOptions, { folder }: Gives, file: { path: string; holder: JsonObject }) {
  if (folder === "media") return `${ids.uuid()}.${await kindOf(file.path)}`
  if (folder === "traces") return `trace-${ids.uuid()}.zip`
  const { suggestedFilename } = file.holder
  return `${ids.uuid()}-${safeName(typeof suggestedFilename === "string" ? suggestedFilename : "")}`
}

const signatures: readonly [extension: string, bytes: string][] = [
  ["png", "89504e47"],
  ["jpg", "ffd8ff"],
  ["pdf", "25504446"],
]

/** By its first bytes: pictures go to models and chats, and nothing else may in their place. */
async function kindOf(path: string): Promise<string> {
  const handle = await open(path, "r")
  const head = Buffer.alloc(4)
  await handle.read(head, 0, 4, 0).finally(() => handle.close())
  const found = signatures.find(([, bytes]) => head.toString("hex").startsWith(bytes))
  if (found) return found[0]
  throw new AppError("node-failed", "The node sent something else than a picture or a PDF")
}

/** Whoever waits for a download also waits for its way here. */
function withTransfers(links: NodeLinks, node: string, reply: JsonObject): JsonObject {
  const coming = links
    .transfers(node)
    .filter(({ direction }) => direction === "in")
    .map(({ name, bytes, moved }) => ({
      targetId: "",
      url: "",
      suggestedFilename: safeName(name),
      receivedBytes: moved,
      totalBytes: bytes,
    }))
  return { ...reply, downloads: [...(reply["downloads"] as JsonObject[]), ...coming] }
}
