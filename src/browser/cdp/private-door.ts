// A WebSocket of our own to a browser at the end of a pipe, for a tool that can only connect to an address: one client, one
// secret path, on loopback, and gone with that client. tool -> door -> a session of the browser on our pipe. The tool has a
// session of its own, so it sees and drives what it attaches to itself, never ours.
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { type AppError, Secret, type Ids } from "../../kernel/index.ts"
import type { CdpConnection, Message, SecondClient } from "./connection.ts"
import { maxMessageBytes } from "./transport.ts"

export interface PrivateDoor {
  /** Holds the secret. */
  url: string
  /** Ends the listening, and the client if there is one. */
  close(): void
}

/** It ends with the connection too. */
export async function openPrivateDoor(connection: CdpConnection, ids: Ids): Promise<PrivateDoor> {
  const secret = new Secret(ids.token(32))
  const server = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxMessageBytes })
  let host = ""
  let isTaken = false
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy())
    // Every page sends its origin; a name that was bent to this machine is not the address that was given out.
    const isKnown = request.headers.host === host && secret.matches((request.url ?? "").slice(1))
    if (!isKnown || request.headers.origin !== undefined || isTaken) {
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      return
    }
    isTaken = true
    server.close()
    sockets.handleUpgrade(request, socket, head, (client) => void serve(connection, client))
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    server.close()
    server.closeAllConnections()
    for (const client of sockets.clients) client.terminate()
  }
  void connection.closed.then(close)
  return { url: `ws://${host}/${secret.reveal()}`, close }
}

async function serve(connection: CdpConnection, client: WebSocket): Promise<void> {
  client.on("error", () => client.terminate())
  // What it says before its session is there waits for it.
  const early: Message[] = []
  let forward = (message: Message): void => void early.push(message)
  client.on("message", (data) => {
    try {
      const message = parse(String(data))
      if (message) return forward(message)
    } catch {
      // Nested so deep that it cannot be passed on.
    }
    client.terminate()
  })
  try {
    const { sessionId } = await connection.root.send<{ sessionId: string }>("Target.attachToBrowserTarget")
    const link = new Link(connection, sessionId, (message) => client.send(JSON.stringify(message)))
    const leave = connection.join(link)
    forward = (message) => link.pass(message)
    for (const message of early.splice(0)) link.pass(message)
    const end = () => {
      leave()
      // Its sessions go with the one that they were made in.
      connection.root.send("Target.detachFromTarget", { sessionId }).catch((_error: AppError) => undefined)
    }
    if (client.readyState === client.OPEN) client.once("close", end)
    else end()
  } catch {
    // The browser is lost: whoever waits here learns it by the end of the socket.
    client.terminate()
  }
}

/** Changes numbers and session names between the client, which takes itself for the only one, and the pipe. */
class Link implements SecondClient {
  readonly #connection: CdpConnection
  readonly #root: string
  readonly #deliver: (message: Message) => void
  /** Sessions that were made in the client's own, and theirs. */
  readonly #sessions = new Set<string>()
  /** By the number on the pipe: the client's number and session. */
  readonly #asked = new Map<number, { id: number; sessionId?: string }>()

  constructor(connection: CdpConnection, root: string, deliver: (message: Message) => void) {
    this.#connection = connection
    this.#root = root
    this.#deliver = deliver
    this.#sessions.add(root)
  }

  pass({ id = 0, method = "", params = {}, sessionId }: Message): void {
    const asked = { id, ...(sessionId === undefined ? {} : { sessionId }) }
    if (sessionId !== undefined && !this.#sessions.has(sessionId)) {
      this.#deliver({ ...asked, error: { code: -32_001, message: "Session with given id not found." } })
      return
    }
    this.#asked.set(this.#connection.forward({ method, params, sessionId: sessionId ?? this.#root }), asked)
  }

  takes(message: Message): boolean {
    const asked = message.id === undefined ? undefined : this.#asked.get(message.id)
    if (asked) {
      this.#asked.delete(message.id as number)
      const { result, error } = message
      this.#deliver({ ...asked, ...(error ? { error } : { result }) })
      return true
    }
    const { sessionId, ...rest } = message
    if (sessionId === undefined || !this.#sessions.has(sessionId)) return false
    const named = String(message.params?.["sessionId"] ?? "")
    if (message.method === "Target.attachedToTarget") this.#sessions.add(named)
    if (message.method === "Target.detachedFromTarget") this.#sessions.delete(named)
    this.#deliver(sessionId === this.#root ? rest : message)
    return true
  }
}

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Message) : undefined
  } catch {
    return undefined
  }
}
