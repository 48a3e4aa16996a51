// A model that does whatever it is told to, by whomever: what a turn may do must never depend on its goodwill. And small
// web sites that remember what reached them: what must not happen is looked for where it would arrive.
import { once } from "node:events"
import { type IncomingMessage, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { TestContext } from "node:test"
import type { Json } from "../../src/kernel/index.ts"
import { type RecordedRequest, text, toolCall } from "./model-server/index.ts"
import { lastPrompt, messagesOf } from "./prompts.ts"
import type { World } from "./world.ts"

/** The name of a tool with its input, or the answer of the turn. May look at what the tool before it gave. */
export type Deed = [tool: string, input: Json] | string
export type Script = (Deed | ((results: readonly string[]) => Deed))[]

/** Each prompt that holds the phrase gets the steps behind it, one after the other; what no phrase fits gets `ok`. */
export function obey(world: World, scripts: Record<string, Script>): void {
  world.model.script((request) => {
    const prompt = lastPrompt(request)
    const script = Object.entries(scripts).find(([phrase]) => prompt.includes(phrase))?.[1] ?? []
    const results = resultsOf(request)
    const step = script[results.length] ?? "ok"
    const deed = typeof step === "function" ? step(results) : step
    return typeof deed === "string" ? text(deed) : toolCall(deed[0], deed[1])
  })
}

/** What the tools of the turn under way have given so far. */
export function resultsOf(request: RecordedRequest): string[] {
  const messages = messagesOf(request)
  const start = messages.findLastIndex((message) => message.role === "user")
  return messages
    .slice(start + 1)
    .filter((message) => message.role === "tool")
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
}

/** The results of the last step of the turn with this phrase. */
export function lastResults(world: World, phrase: string): string[] {
  const request = world.model.requests.findLast((each) => lastPrompt(each).includes(phrase))
  return request ? resultsOf(request) : []
}

/** The ref of the element of a snapshot that has these words. */
export function refOf(snapshot: string | undefined, words: string): string {
  const line = (snapshot ?? "").split(/\\n|\n/).find((each) => each.includes(words) && each.includes("ref="))
  return /ref=(\w+)/.exec(line ?? "")?.[1] ?? "none"
}

export interface Site {
  url: string
  /** `host:port`, as the product names it. */
  name: string
  /** Path and query of each request for a document or anything else, icons left out. */
  requests: string[]
  bodies: string[]
}

export type Page = string | { redirect: string }

/** A site of its own: the port is part of what tells sites apart. */
export async function startSite(
  context: Pick<TestContext, "after">,
  page: (path: string, request: IncomingMessage) => Page = () => "<title>empty</title>",
): Promise<Site> {
  const requests: string[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/"
    let body = ""
    for await (const chunk of request) body += String(chunk)
    if (path === "/favicon.ico") return void response.writeHead(404).end()
    requests.push(path)
    if (body !== "") bodies.push(body)
    const found = page(path, request)
    if (typeof found === "string") return void response.writeHead(200, { "content-type": "text/html" }).end(found)
    response.writeHead(302, { location: found.redirect }).end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const name = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `http://${name}`, name, requests, bodies }
}
