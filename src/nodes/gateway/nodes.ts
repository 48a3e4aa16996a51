// The gateway's side of nodes: a WebSocket comes in -> handshake -> the book (let in, asking, or turned away) -> a session that
// takes calls. A node has one connection: a new one takes the place of the one before, which is most likely dead.
import { mkdirSync, rmSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { AppError, type Background, type Clock, type Ids, type Log, type Redactor } from "../../kernel/index.ts"
import type { NodeRow, Store, Write } from "../../store/index.ts"
import { NodeBook, type NodeFacts, codeLifetimeMs } from "../book.ts"
import type { NodeSummary } from "../contract.ts"
import { type KeyPair, keyPairOf, newPrivateKey } from "../keys.ts"
import { Link } from "../link/link.ts"
import type { PulseTiming } from "../link/pulse.ts"
import { type Refused, fingerprintOf, longestFrame, longestMessage } from "../protocol.ts"
import { type Known, greet } from "./handshake.ts"
import { nodeName } from "./messages.ts"
import { type Answer, type Call, NodeSession } from "./session.ts"

export interface NodesOptions {
  store: Store
  stateFolder: string
  clock: Clock
  ids: Ids
  log: Log
  background: Background
  redactor: Redactor
  /** Adds the words that ask an owner in the chat whether to let a node in. Inside a transaction. */
  tell(write: Write, node: NodeRow): boolean
  /** For tests that cannot wait as long. */
  pulse?: Partial<PulseTiming>
}

export interface ConnectedNode {
  id: string
  name: string
  browser: { profiles: string[]; defaultProfile: string } | undefined
}

/** Who has proved nothing yet, or waits to be let in: anybody who reaches the port. Fewer than half of them may wait. */
const mostStrangers = 24
/** In the store: it goes with backups, so that nodes know a gateway that was moved. */
const keyName = "node-gateway-key"

interface Stranger {
  link: Link | undefined
  socket: WebSocket
  let?: (row: NodeRow) => void
  turnAway?: (refusal: Omit<Refused, "type">) => void
}

export class Nodes {
  readonly #options: NodesOptions
  readonly #book: NodeBook
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 2 * longestFrame,
    // Of requests that come at once with the upgrade.
    clientTracking: true,
  })
  readonly #sessions = new Map<string, { session: NodeSession; link: Link }>()
  /** Oldest first, with their addresses. */
  readonly #strangers = new Map<WebSocket, string>()
  readonly #asking = new Map<string, Stranger>()
  readonly #folder: string
  #keys: Promise<KeyPair> | undefined
  #isStopped = false

  constructor(options: NodesOptions) {
    this.#options = options
    this.#book = new NodeBook(options)
    this.#folder = join(options.stateFolder, "nodes", "incoming")
    // What a killed gateway had begun to take in.
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** The guard of the listener has looked at it already. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy())
    if (this.#isStopped) {
      socket.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      return
    }
    const address = request.socket.remoteAddress ?? ""
    this.#sockets.handleUpgrade(request, socket, head, (open) => {
      if (this.#strangers.size >= mostStrangers) this.#pushOut()
      this.#strangers.set(open, address)
      open.on("close", () => this.#strangers.delete(open))
      open.on("error", () => open.terminate())
      this.#options.background.run("greet a node", () => this.#greet(open, address))
    })
  }

  /**
   * Makes room, so that nobody who says nothing keeps those out who have been let in: of those that have not come to ask, the
   * oldest one of the address that holds the most places.
   */
  #pushOut(): void {
    const asking = new Set([...this.#asking.values()].map(({ socket }) => socket))
    const silent = [...this.#strangers].filter(([socket]) => !asking.has(socket))
    const counts = new Map<string, number>()
    for (const [, address] of silent) counts.set(address, (counts.get(address) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const [socket] = silent.find(([, address]) => counts.get(address) === most) ?? []
    if (!socket) return
    this.#strangers.delete(socket)
    socket.terminate()
  }

  async #greet(socket: WebSocket, address: string): Promise<void> {
    const { ids, log } = this.#options
    try {
      const greeting = await greet(socket, { keyPair: () => this.#keyPair(), ids })
      if (greeting.kind === "refused") {
        const { code, message } = greeting.refusal
        log.warn({ address, code, reason: message }, "node refused")
        return endWith(socket, greeting.refusal)
      }
      await this.#receive(socket, { ...greeting.node, address })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      log.info({ address, reason: error.message }, "connection to the nodes' door ended")
      endWith(socket, { code: "protocol", message: error.message, final: false })
    }
  }

  async #receive(socket: WebSocket, node: Known & { address: string }): Promise<void> {
    const row = this.#book.get(node.id)
    if (row?.state === "revoked") return endWith(socket, turnedAway(row))
    if (row?.state !== "approved") return await this.#ask(socket, node)
    this.#admit(this.#open(socket, node), node, row)
  }

  async #ask(socket: WebSocket, node: Known & { address: string }): Promise<void> {
    const row = await this.#book.ask(factsOf(node))
    if (!row) {
      const message = "Too many nodes ask to be let in"
      return endWith(socket, { code: "too-many", message, hint: "svc nodes list shows them", final: false })
    }
    if (socket.readyState !== socket.OPEN) return
    this.#options.log.info({ node: row.id, name: row.name, address: row.address }, "node asks to be let in")
    const opened = this.#open(socket, node)
    const { link } = opened
    const until = this.#book.until(row)
    const timer = setTimeout(
      () => link.dismiss({ code: "lapsed", message: "Nobody has let the node in within an hour", final: false }),
      Math.min(codeLifetimeMs, until - this.#options.clock.now()),
    )
    timer.unref()
    this.#asking.get(node.id)?.turnAway?.(replaced)
    const stranger: Stranger = {
      link,
      socket,
      let: (approved) => {
        clearTimeout(timer)
        this.#asking.delete(node.id)
        this.#admit(opened, node, approved)
      },
      turnAway: (refusal) => {
        clearTimeout(timer)
        this.#asking.delete(node.id)
        link.dismiss(refusal)
      },
    }
    this.#asking.set(node.id, stranger)
    socket.on("close", () => {
      clearTimeout(timer)
      if (this.#asking.get(node.id) === stranger) this.#asking.delete(node.id)
    })
    const now = this.#book.get(node.id)
    if (now?.state === "approved") return stranger.let?.(now)
    if (now?.state === "revoked") return stranger.turnAway?.(turnedAway(now, "asked"))
    link.send({ type: "pending", code: row.code ?? "", until })
  }

  #open(socket: WebSocket, node: Known): { link: Link; session: NodeSession } {
    const { ids, clock, log, pulse } = this.#options
    const session = new NodeSession(
      {
        id: node.id,
        offers: node.offers,
        folder: this.#folder,
        ids,
        onOffers: () => log.info({ node: node.id, commands: session.offers.commands }, "node offers changed"),
      },
      clock.now(),
    )
    const isAdmitted = () => this.#sessions.get(node.id)?.link === link
    const link: Link = new Link({
      socket,
      onMessage(message) {
        if (!isAdmitted()) throw new Error("it speaks before it was let in")
        session.receive(message)
      },
      longest: () => (isAdmitted() ? longestMessage : 0),
      onClose: (why) => {
        session.end(why)
        this.#gone(node.id, link, why)
      },
      isBusy: () => session.isBusy,
      ...(pulse ? { pulse } : {}),
    })
    session.use(link)
    return { link, session }
  }

  #admit(
    { link, session }: { link: Link; session: NodeSession },
    node: Known & { address: string },
    row: NodeRow,
  ): void {
    if (!link.isOpen) return
    this.#sessions.get(node.id)?.link.dismiss(replaced)
    this.#sessions.set(node.id, { link, session })
    for (const socket of this.#strangers.keys()) if (link.isOn(socket)) this.#strangers.delete(socket)
    link.send({ type: "welcome", id: node.id, name: row.name })
    this.#options.log.info({ node: node.id, name: row.name, version: node.version }, "node connected")
    this.#options.background.run("note a node", () => this.#book.seen(factsOf(node)))
  }

  #gone(id: string, link: Link, why: string | undefined): void {
    if (this.#sessions.get(id)?.link !== link) return
    this.#sessions.delete(id)
    this.#options.log.info({ node: id, why: why ?? "it went away" }, "node disconnected")
  }

  /** Made when the first node comes. */
  #keyPair(): Promise<KeyPair> {
    this.#keys ??= this.#loadKeys().catch((error: unknown) => {
      this.#keys = undefined
      throw error
    })
    return this.#keys
  }

  async #loadKeys(): Promise<KeyPair> {
    const { store, redactor } = this.#options
    const kept = await store.meta.get(keyName)
    const secret = typeof kept === "string" ? kept : newPrivateKey()
    if (kept === undefined) await store.meta.set(keyName, secret)
    redactor.add(secret)
    return keyPairOf(secret)
  }

  list(): NodeSummary[] {
    return this.#book.all.map((row) => this.#summaryOf(row))
  }

  #summaryOf(row: NodeRow): NodeSummary {
    const held = this.#sessions.get(row.id)
    const isOpen = this.#book.isOpen(row)
    const { id, name, state, platform, version, address } = row
    return {
      id,
      name,
      state,
      platform,
      version,
      address,
      connected: held !== undefined,
      fingerprint: fingerprintOf(row.key),
      code: isOpen ? row.code : null,
      codeUntil: isOpen ? this.#book.until(row) : null,
      askedAt: row.asked_at,
      decidedAt: row.decided_at,
      decidedBy: row.decided_by,
      lastSeenAt: held ? this.#options.clock.now() : row.last_seen_at,
      connectedSince: held?.session.since ?? null,
      browser: (held && browserOf(held.session)) ?? null,
    }
  }

  async approve(wanted: string, by: string): Promise<NodeSummary> {
    const row = await this.#book.approve(wanted, by)
    this.#asking.get(row.id)?.let?.(row)
    return this.#summaryOf(row)
  }

  async revoke(wanted: string, by: string): Promise<NodeSummary> {
    const before = this.#book.find(wanted).state
    const row = await this.#book.revoke(wanted, by)
    this.#asking.get(row.id)?.turnAway?.(turnedAway(row, before))
    this.#sessions.get(row.id)?.link.dismiss(turnedAway(row, before))
    return this.#summaryOf(row)
  }

  async rename(wanted: string, name: string): Promise<NodeSummary> {
    const parsed = nodeName.safeParse(name)
    if (!parsed.success) throw new AppError("bad-request", `name: ${parsed.error.issues[0]?.message ?? "is wrong"}`)
    return this.#summaryOf(await this.#book.rename(wanted, parsed.data))
  }

  /** By name or id; throws `node-not-found` for one that may not connect. */
  named(wanted: string): { id: string; name: string; isConnected: boolean } {
    const { id, name, state } = this.#book.find(wanted)
    if (state === "approved") return { id, name, isConnected: this.#sessions.has(id) }
    throw new AppError("node-not-found", `The node ${name} is not let in`, {
      hint: `svc nodes approve ${id.slice(0, 8)}`,
    })
  }

  get connected(): ConnectedNode[] {
    return [...this.#sessions.values()].map(({ session }) => ({
      id: session.id,
      name: this.#book.get(session.id)?.name ?? session.id,
      browser: browserOf(session),
    }))
  }

  transfersOf(id: string): NodeSession["transfers"] {
    return this.#sessions.get(id)?.session.transfers ?? []
  }

  /** Rejects with `node-not-connected`, `node-lost` or `node-failed`. */
  async call(id: string, call: Call): Promise<Answer> {
    const held = this.#sessions.get(id)
    if (!held) {
      const name = this.#book.get(id)?.name ?? id
      throw new AppError("node-not-connected", `The node ${name} is not connected`, {
        hint: "Run svc node run on it; svc nodes list shows when it was seen last",
      })
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    return await held.session.call(call)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    const stopping = { code: "stopping", message: "The gateway stops", final: false } as const
    for (const { link } of this.#sessions.values()) link.dismiss(stopping)
    for (const { link } of this.#asking.values()) link?.dismiss(stopping)
    const cut = setTimeout(() => {
      for (const client of this.#sockets.clients) client.terminate()
    }, 500)
    for (const client of this.#sockets.clients) client.close(1001)
    await new Promise<void>((resolve) => this.#sockets.close(() => resolve()))
    clearTimeout(cut)
  }
}

function factsOf({ id, key, name, platform, version, address }: Known & { address: string }): NodeFacts {
  return { id, key, name, platform, version, address }
}

const replaced = { code: "replaced", message: "The node has connected anew", final: true } as const

function browserOf({ offers }: NodeSession): ConnectedNode["browser"] {
  return offers.commands.includes("browser.proxy") ? offers.browser : undefined
}

function turnedAway(row: NodeRow, before: NodeRow["state"] = "approved"): Omit<Refused, "type"> {
  const message = before === "asked" ? "The owner has turned this node away" : "The owner has revoked this node"
  const hint = `To let it in again, on the gateway: svc nodes approve ${row.id.slice(0, 8)}`
  return { code: before === "asked" ? "denied" : "revoked", message, hint, final: true }
}

function endWith(socket: WebSocket, refusal: Omit<Refused, "type">): void {
  if (socket.readyState !== socket.OPEN) return socket.terminate()
  socket.send(JSON.stringify({ type: "refused", ...refusal }))
  socket.close()
  setTimeout(() => socket.terminate(), 1_000).unref()
}
