// Who may connect: nodes that ask, that were let in, and that no longer may. All of them are in memory, since every
// connection asks; each change is in the store before anybody is told.
import { AppError, type Clock, type Ids, type Log } from "../kernel/index.ts"
import type { NodeRow, Store, Write } from "../store/index.ts"
import { deleteNode, readNodes, saveNode } from "./rows.ts"

/** As long as a pairing code of the chat lives. */
export const codeLifetimeMs = 60 * 60_000
/** Anybody who reaches the gateway can ask; nobody reads more. */
const mostAsked = 10
const mostNodes = 500
/** Of one key in the chat, and of all together in an hour. */
const tellAgainMs = 24 * 60 * 60_000
const mostToldAnHour = 3
/** How often the last time of a connected node is written down. */
const seenEveryMs = 10 * 60_000

export interface NodeFacts {
  id: string
  key: string
  name: string
  platform: string
  version: string
  address: string
}

export interface NodeBookOptions {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  /** Adds the words that ask an owner in the chat; false where there is no owner to ask. Inside the transaction. */
  tell(write: Write, node: NodeRow): boolean
}

/** Without letters that are taken for one another. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

export class NodeBook {
  readonly #options: NodeBookOptions
  readonly #rows: Map<string, NodeRow>
  /** One change after the other: each looks at what the one before has left, and a write takes its time. */
  #line: Promise<unknown> = Promise.resolve()

  constructor(options: NodeBookOptions) {
    this.#options = options
    this.#rows = new Map(readNodes(options.store).map((row) => [row.id, row]))
  }

  get all(): NodeRow[] {
    return [...this.#rows.values()].toSorted((a, b) => a.name.localeCompare(b.name))
  }

  get(id: string): NodeRow | undefined {
    return this.#rows.get(id)
  }

  isOpen(row: NodeRow): boolean {
    return row.state === "asked" && row.code !== null && this.until(row) > this.#options.clock.now()
  }

  until(row: NodeRow): number {
    return row.asked_at + codeLifetimeMs
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work)
    this.#line = done.catch(() => undefined)
    return done
  }

  /** A node that was let in has connected. */
  seen(facts: NodeFacts): Promise<void> {
    return this.#inLine(() => this.#seen(facts))
  }

  async #seen({ id, platform, version, address }: NodeFacts): Promise<void> {
    const row = this.#rows.get(id)
    const now = this.#options.clock.now()
    if (!row) return
    const isSame = row.platform === platform && row.version === version && row.address === address
    if (isSame && row.last_seen_at !== null && now - row.last_seen_at < seenEveryMs) return
    await this.#save({ ...row, platform, version, address, last_seen_at: now })
  }

  /**
   * Asks for a node that is not known, or goes on asking. Undefined where too many ask. One that was decided about while this
   * waited for its turn stays as it is.
   */
  ask(facts: NodeFacts): Promise<NodeRow | undefined> {
    return this.#inLine(() => this.#ask(facts))
  }

  async #ask(facts: NodeFacts): Promise<NodeRow | undefined> {
    const { clock, ids } = this.#options
    const known = this.#rows.get(facts.id)
    if (known && (known.state !== "asked" || this.isOpen(known))) return known
    await this.#dropLapsed(facts.id)
    const asked = this.all.filter((row) => this.isOpen(row))
    if (asked.length >= mostAsked || this.#rows.size >= mostNodes) return undefined
    const now = clock.now()
    const code = Array.from({ length: 8 }, () => alphabet[ids.below(alphabet.length)]).join("")
    const row: NodeRow = {
      ...facts,
      name: this.#freeName(facts.name, facts.id),
      state: "asked",
      code: `${code.slice(0, 4)}-${code.slice(4)}`,
      asked_at: now,
      told_at: known?.told_at ?? null,
      decided_at: null,
      decided_by: null,
      last_seen_at: null,
    }
    await this.#save(row, this.#mayTell(row, now))
    return row
  }

  #mayTell(row: NodeRow, now: number): boolean {
    if (row.told_at !== null && now - row.told_at < tellAgainMs) return false
    return this.all.filter(({ told_at: at }) => at !== null && now - at < codeLifetimeMs).length < mostToldAnHour
  }

  /** By code, name, or id; throws `node-not-found` or `node-ambiguous`. */
  approve(wanted: string, by: string): Promise<NodeRow> {
    return this.#inLine(async () => {
      const row = this.find(wanted)
      if (row.state === "asked" && !this.isOpen(row)) throw lapsed(row)
      return await this.#decide(row, "approved", by)
    })
  }

  /** A node that only asks is turned away by it. */
  revoke(wanted: string, by: string): Promise<NodeRow> {
    return this.#inLine(() => this.#decide(this.find(wanted), "revoked", by))
  }

  rename(wanted: string, name: string): Promise<NodeRow> {
    return this.#inLine(() => this.#rename(wanted, name))
  }

  async #rename(wanted: string, name: string): Promise<NodeRow> {
    const row = this.find(wanted)
    const holder = this.all.find((each) => each.id !== row.id && isNamed(each, name))
    if (holder) throw new AppError("conflict", `Another node is named ${holder.name}`)
    return await this.#save({ ...row, name })
  }

  find(wanted: string): NodeRow {
    const text = wanted.trim()
    const code = text.toUpperCase().replace(/[\s-]/g, "")
    const asked = this.all.filter((row) => this.isOpen(row) && row.code?.replace("-", "") === code)
    const exact = this.all.filter((row) => isNamed(row, text) || row.id === text.toLowerCase())
    const begun = /^[0-9a-f]{4,16}$/i.test(text) ? this.all.filter(({ id }) => id.startsWith(text.toLowerCase())) : []
    const found = [asked, exact, begun].find((rows) => rows.length > 0) ?? []
    const [first] = found
    if (first && found.length === 1) return first
    if (first) throw new AppError("node-ambiguous", `Several nodes have an id that begins with ${text}`)
    throw new AppError("node-not-found", `No node has the code, name or id ${JSON.stringify(text.slice(0, 60))}`, {
      hint: "svc nodes list shows them; a code counts for an hour, and the node shows a new one by itself",
    })
  }

  async #decide(row: NodeRow, state: "approved" | "revoked", by: string): Promise<NodeRow> {
    const { clock, log } = this.#options
    if (row.state === state) return row
    const saved = await this.#save({ ...row, state, code: null, decided_at: clock.now(), decided_by: by })
    log.info({ node: row.id, name: row.name, by }, `node ${state}`)
    return saved
  }

  /** Requests that nobody has answered, but for the one that asks again. */
  async #dropLapsed(except: string): Promise<void> {
    const now = this.#options.clock.now()
    const old = this.all.filter((row) => row.state === "asked" && row.id !== except && now - row.asked_at > tellAgainMs)
    if (old.length === 0) return
    await this.#options.store.write(async (write) => {
      for (const { id } of old) deleteNode(write, id)
    })
    for (const { id } of old) this.#rows.delete(id)
  }

  async #save(row: NodeRow, tells = false): Promise<NodeRow> {
    const { store, clock } = this.#options
    let saved = row
    await store.write(async (write) => {
      if (tells && this.#options.tell(write, row)) saved = { ...row, told_at: clock.now() }
      saveNode(write, saved)
    })
    this.#rows.set(saved.id, saved)
    return saved
  }

  #freeName(wanted: string, id: string): string {
    const others = this.all.filter((row) => row.id !== id)
    for (let n = 1; ; n += 1) {
      const name = n === 1 ? wanted : `${wanted}-${n}`
      if (!others.some((row) => isNamed(row, name))) return name
    }
  }
}

function isNamed(row: NodeRow, name: string): boolean {
  return row.name.toLowerCase() === name.trim().toLowerCase()
}

function lapsed(row: NodeRow): AppError {
  return new AppError("node-not-found", `The request of ${row.name} has lapsed`, {
    hint: "The node asks again by itself while it runs; svc nodes list shows its new code",
  })
}
