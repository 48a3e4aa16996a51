// The sending of a scripted reply, whole or in the way in which it is to be broken.
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises"
import type { ScriptedReply } from "./reply.ts"
import type { WholeReply, Wire } from "./wires/index.ts"

export interface SendParts {
  wire: Wire
  whole: WholeReply
  response: ServerResponse
  /** Whether the client asked for a stream. */
  streams: boolean
  stopped: AbortSignal
}

export async function sendReply(reply: ScriptedReply, parts: SendParts): Promise<void> {
  const { wire, whole, response, stopped } = parts
  const stream = wire.stream(whole)
  const startStream = (type = wire.contentType) => response.writeHead(200, { "content-type": type }).flushHeaders()
  switch (reply.kind) {
    case "status":
      return sendStatus(reply, wire, response)
    case "raw":
      return await sendRaw(reply, response)
    case "hang":
      if (reply.afterHeaders) startStream()
      return
    case "garbage":
      startStream()
      response.end(reply.body ?? 'data: {"choices":[{"delta":{"content":"hal\n\ndata: ]]]\n\n')
      return
    case "html":
      startStream("text/html; charset=utf-8")
      response.end("<!doctype html><title>Welcome</title><p>It works!")
      return
    case "empty":
      startStream()
      if (reply.events === false) return void response.end()
      response.write(stream.begin())
      response.end(stream.end())
      return
    case "endless":
      startStream()
      response.write(stream.begin())
      while (!response.destroyed) {
        if (!response.write(stream.text("on and on ".repeat(50)))) await drained(response)
      }
      return
    case "cut":
      startStream()
      response.write(stream.begin())
      response.write(stream.text(reply.text), () => (reply.politely ? response.end() : response.destroy()))
      return
    case "broken-off":
      startStream()
      response.write(stream.begin())
      if (reply.text !== "") response.write(stream.text(reply.text))
      response.end(stream.error(reply.error?.type, reply.error?.message ?? "Overloaded"))
      return
    case "drip":
      startStream()
      response.write(stream.begin())
      for (const [index, part] of whole.parts.entries()) if (part.type !== "text") response.write(stream.part(index))
      await reply.after
      for (const character of reply.text) {
        if (response.destroyed || stopped.aborted) return
        response.write(stream.text(character))
        await delay(reply.everyMs)
      }
      response.end(stream.end())
      return
    case "reply":
      sendWhole(reply.pieces ?? 3, parts)
  }
}

function sendWhole(pieces: number, { wire, whole, response, streams }: SendParts): void {
  if (!streams && wire.whole) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(wire.whole(whole)))
    return
  }
  response.writeHead(200, { "content-type": wire.contentType })
  const stream = wire.stream(whole)
  response.write(stream.begin())
  for (const [index, part] of whole.parts.entries()) {
    if (part.type !== "text") {
      response.write(stream.part(index))
      continue
    }
    const size = Math.max(1, Math.ceil(part.text.length / pieces))
    for (let start = 0; start < part.text.length; start += size) {
      response.write(stream.text(part.text.slice(start, start + size)))
    }
  }
  response.end(stream.end())
}

function sendStatus(reply: Extract<ScriptedReply, { kind: "status" }>, wire: Wire, response: ServerResponse): void {
  const { status, body } = reply
  const isText = typeof body === "string"
  const own = wire.error(reply.message ?? `status ${status}`, reply.type ?? "error", status)
  response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json", ...reply.headers })
  response.end(isText ? body : JSON.stringify(body ?? own))
}

async function sendRaw(reply: Extract<ScriptedReply, { kind: "raw" }>, response: ServerResponse): Promise<void> {
  const bytes = Buffer.from(reply.body)
  response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers })
  const size = reply.chunks === undefined ? bytes.length : reply.chunks === "bytes" ? 1 : reply.chunks
  for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
    const written = response.write(bytes.subarray(start, start + size))
    // A turn of the loop between two pieces lets each leave by itself.
    await (written ? nextTurn() : drained(response))
  }
  response.end()
}

async function drained(response: ServerResponse): Promise<void> {
  const settled = new AbortController()
  const { signal } = settled
  try {
    await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })])
  } finally {
    settled.abort()
  }
}
