// The event stream of the page: changes of the store and what parts publish -> numbered entries -> every listener that may
// see them. The last entries are kept, so that who comes back after a sleep or a cut is told what it has missed; who
// was away for longer, or before this gateway's start, is told to read anew (`reset`).
import type { Background, Log } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import { covers } from "../access/scopes.ts"
import type { Scope } from "../access/contract.ts"
import { type WatchedTable, createChanges } from "./changes.ts"

/** A kind of entry: which rows make it, who may see it, and what is told of them. */
export interface Topic {
  name: string
  scope: Scope
  /** Told to whoever listens now and kept for nobody: what counts of it can be asked for. */
  isPassing?: boolean
  /** Without any, it is only published. */
  tables?: readonly Omit<WatchedTable, "topic">[]
  /** One entry for each; ids whose rows are gone are left out. */
  read?(ids: readonly (number | string)[]): object[]
}

export interface PageFeed {
  /** The answer to one listener, a `text/event-stream` that goes on until it or the gateway ends. */
  listen(listener: { scopes: readonly Scope[]; lastId: string | undefined }): Promise<Response>
  /** Tells what no table has, such as an answer while it is written. Nothing is made of it while nobody listens. */
  publish(topic: string, data: () => object): void
  stop(): Promise<void>
}

export interface PageFeedOptions {
  store: Store
  topics: readonly Topic[]
  background: Background
  log: Log
  /** What passes to a reader may hold no secret. */
  redact: (json: string) => string
  everyMs?: number
}

interface Entry {
  rev: number
  scope: Scope
  text: string
}

interface Listener {
  scopes: readonly Scope[]
  controller: ReadableStreamDefaultController<Uint8Array>
}

const everyMs = 150
const heartbeatMs = 20_000
const mostEntries = 2_000
/** What waits for one reader; who is slower begins anew. */
const mostWaitingBytes = 1024 * 1024
/** After the last reader has gone, changes are noted for so long, for one that only reloads or sleeps a little. */
const lingerMs = 60_000
const encoder = new TextEncoder()

export function createPageFeed(options: PageFeedOptions): PageFeed {
  return new Feed(options)
}

class Feed implements PageFeed {
  readonly #options: PageFeedOptions
  readonly #topics: ReadonlyMap<string, Topic>
  readonly #changes
  readonly #listeners = new Set<Listener>()
  #entries: Entry[] = []
  /** Changes that are not told yet, by topic. */
  readonly #untold = new Map<string, Set<number | string>>()
  #rev = 0
  /** Entries below are not kept any more. */
  #floor = 0
  #watching: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #beat = 0
  #idleSince = 0
  #isStopped = false

  constructor(options: PageFeedOptions) {
    this.#options = options
    this.#topics = new Map(options.topics.map((topic) => [topic.name, topic]))
    const tables = options.topics.flatMap(({ name, tables = [] }) => tables.map((table) => ({ ...table, topic: name })))
    this.#changes = createChanges(options.store, tables)
  }

  async listen({ scopes, lastId }: Parameters<PageFeed["listen"]>[0]): Promise<Response> {
    await this.#watch()
    let listener: Listener
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          listener = { scopes, controller }
          // Before it is told anything: who has missed too much is closed by that, and must not be listed afterwards.
          this.#listeners.add(listener)
          this.#tell(listener, this.#greeting(scopes, lastId))
          if (this.#isStopped && this.#listeners.has(listener)) this.#close(listener)
        },
        cancel: () => this.#drop(listener),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }),
    )
    return new Response(stream, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    })
  }

  publish(name: string, data: () => object): void {
    const topic = this.#topics.get(name)
    if (!topic || this.#timer === undefined || (topic.isPassing && this.#listeners.size === 0)) return
    // What the store has changed before comes before.
    this.#flush()
    this.#add(topic, [data()])
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const listener of this.#listeners) this.#close(listener)
    if (this.#timer !== undefined) clearInterval(this.#timer)
    this.#timer = undefined
    await this.#watching?.catch(() => undefined)
  }

  /** What a new reader is told first: what it has missed, or that it cannot be told. */
  #greeting(scopes: readonly Scope[], lastId: string | undefined): string {
    const { bootId } = this.#options.store
    const [boot, rev] = lastId?.split(":") ?? []
    const last = Number(rev)
    const isKnown = boot === bootId && Number.isInteger(last) && last >= this.#floor && last <= this.#rev
    const name = lastId === undefined || isKnown ? "ready" : "reset"
    const missed = isKnown ? this.#entries.filter((entry) => entry.rev > last) : []
    return `retry: 1000\n\n${textFor(missed, scopes)}id: ${bootId}:${this.#rev}\nevent: ${name}\ndata: {}\n\n`
  }

  #watch(): Promise<void> {
    this.#watching ??= this.#changes.begin().then(
      () => {
        if (this.#isStopped) return
        this.#timer = setInterval(() => this.#tick(), this.#options.everyMs ?? everyMs)
        this.#timer.unref()
      },
      (error: unknown) => {
        this.#watching = undefined
        throw error
      },
    )
    return this.#watching
  }

  #tick(): void {
    const now = this.#options.store.clock.monotonic()
    this.#flush()
    if (this.#listeners.size > 0) {
      this.#idleSince = now
      if (now - this.#beat < heartbeatMs) return
      this.#beat = now
      for (const listener of this.#listeners) this.#tell(listener, ": still here\n\n")
    } else if (now - this.#idleSince > lingerMs) this.#rest()
  }

  /** Nobody has listened for a while. */
  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#watching = undefined
    this.#entries = []
    this.#untold.clear()
    // Whoever comes back has missed what is not noted from now on.
    this.#rev += 1
    this.#floor = this.#rev
    this.#options.background.run("stop watching for the page", () => this.#changes.end())
  }

  /** A disk that gives nothing for a moment fails nobody who publishes; what it did not give is told the next time. */
  #flush(): void {
    try {
      for (const [name, ids] of this.#changes.take()) {
        this.#untold.set(name, new Set([...(this.#untold.get(name) ?? []), ...ids]))
      }
      for (const [name, ids] of this.#untold) {
        const topic = this.#topics.get(name)
        if (topic?.read) this.#add(topic, topic.read([...ids]))
        this.#untold.delete(name)
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, "changes for the page could not be read")
    }
  }

  #add({ name, scope, isPassing }: Topic, items: readonly object[]): void {
    if (items.length === 0) return
    const { redact, store } = this.#options
    if (isPassing) {
      const texts = items.map((item) => `event: ${name}\ndata: ${redact(JSON.stringify(item))}\n\n`)
      return this.#tellAll(scope, texts.join(""))
    }
    const added = items.map((item): Entry => {
      this.#rev += 1
      const data = redact(JSON.stringify(item))
      return { rev: this.#rev, scope, text: `id: ${store.bootId}:${this.#rev}\nevent: ${name}\ndata: ${data}\n\n` }
    })
    this.#entries.push(...added)
    const removed = this.#entries.splice(0, Math.max(0, this.#entries.length - mostEntries))
    this.#floor = removed.at(-1)?.rev ?? this.#floor
    this.#tellAll(scope, added.map((entry) => entry.text).join(""))
  }

  /** One text for all that may see it. */
  #tellAll(scope: Scope, text: string): void {
    const chunk = encoder.encode(text)
    for (const listener of this.#listeners) if (covers(listener.scopes, scope)) this.#send(listener, chunk)
  }

  #tell(listener: Listener, text: string): void {
    this.#send(listener, encoder.encode(text))
  }

  #send(listener: Listener, chunk: Uint8Array): void {
    listener.controller.enqueue(chunk)
    if ((listener.controller.desiredSize ?? 0) <= 0) this.#close(listener)
  }

  #close(listener: Listener): void {
    this.#drop(listener)
    listener.controller.close()
  }

  #drop(listener: Listener): void {
    this.#listeners.delete(listener)
    this.#idleSince = this.#options.store.clock.monotonic()
  }
}

function textFor(entries: readonly Entry[], scopes: readonly Scope[]): string {
  return entries
    .filter(({ scope }) => covers(scopes, scope))
    .map(({ text }) => text)
    .join("")
}
