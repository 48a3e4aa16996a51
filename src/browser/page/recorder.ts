// What a page has said and asked for, kept for those who look later: console, errors and requests, the last of each.
// Recording begins when the tab is attached. Texts are the page's and as such not to be trusted.
import type { CdpSession } from "../cdp/index.ts"

export interface ConsoleMessage {
  type: string
  text: string
  timestamp: string
  location?: { url: string; lineNumber: number; columnNumber: number }
}

export interface PageError {
  message: string
  name?: string
  stack?: string
  timestamp: string
}

export interface RequestRecord {
  /** `r<n>` */
  id: string
  timestamp: string
  method: string
  url: string
  resourceType: string
  status?: number
  ok?: boolean
  failureText?: string
}

const maxConsole = 500
const maxErrors = 200
const maxRequests = 500
const maxText = 4_000
const maxUrl = 2_000

interface RemoteValue {
  type: string
  value?: unknown
  description?: string
  unserializableValue?: string
  objectId?: string
}

interface CallFrame {
  url: string
  lineNumber: number
  columnNumber: number
}

interface ConsoleEvent {
  type: string
  args: RemoteValue[]
  timestamp: number
  stackTrace?: { callFrames: CallFrame[] }
}

/** What the browser itself says of a page: resources that do not come, what a policy has kept from it, mixed content. */
interface LogEvent {
  entry: {
    source: string
    level: "verbose" | "info" | "warning" | "error"
    text: string
    timestamp: number
    url?: string
    lineNumber?: number
    args?: RemoteValue[]
  }
}

interface ExceptionEvent {
  timestamp: number
  exceptionDetails: { text: string; exception?: RemoteValue & { className?: string } }
}

interface RequestEvent {
  requestId: string
  request: { url: string; method: string }
  type?: string
  wallTime: number
  redirectResponse?: { status: number }
}

const levels: Record<string, number> = { error: 3, assert: 3, warning: 2, warn: 2, info: 1, log: 1, debug: 0 }

export class Recorder {
  /** Nothing is kept of what happens now. */
  isPaused = false
  #console: ConsoleMessage[] = []
  #errors: PageError[] = []
  #requests: RequestRecord[] = []
  readonly #open = new Map<string, RequestRecord>()
  #count = 0

  /** Listens to one process of the tab. Console values are let go of at once: the page would keep them for us. */
  async watch(session: CdpSession, signal: AbortSignal): Promise<void> {
    session.on("Runtime.consoleAPICalled", (event: ConsoleEvent) => {
      if (!this.isPaused) push(this.#console, toMessage(event), maxConsole)
      if (event.args.some((value) => value.objectId !== undefined)) release(session)
    })
    session.on("Log.entryAdded", ({ entry }: LogEvent) => {
      if (!this.isPaused && !isOfNobody(entry)) push(this.#console, fromBrowser(entry), maxConsole)
      if (entry.args?.some((value) => value.objectId !== undefined)) release(session)
    })
    session.on("Runtime.exceptionThrown", (event: ExceptionEvent) => {
      if (!this.isPaused) push(this.#errors, toError(event), maxErrors)
    })
    session.on("Network.requestWillBeSent", (event: RequestEvent) => this.#began(event))
    session.on("Network.responseReceived", (event: { requestId: string; response: { status: number } }) =>
      this.#answered(event.requestId, event.response.status),
    )
    session.on("Network.loadingFailed", (event: { requestId: string; errorText: string }) => {
      const record = this.#open.get(event.requestId)
      if (record) Object.assign(record, { ok: false, failureText: event.errorText })
      this.#open.delete(event.requestId)
    })
    session.on("Network.loadingFinished", (event: { requestId: string }) => this.#open.delete(event.requestId))
    // An extension of an earlier version refuses the log where a tab shows no page of the web: that is no reason to fail.
    const log = session.send("Log.enable", {}, { signal }).catch(() => undefined)
    await Promise.all([session.send("Runtime.enable", {}, { signal }), log])
  }

  #began(event: RequestEvent): void {
    if (this.isPaused) return
    if (event.redirectResponse) this.#answered(event.requestId, event.redirectResponse.status)
    this.#count += 1
    const record: RequestRecord = {
      id: `r${this.#count}`,
      timestamp: new Date(event.wallTime * 1000).toISOString(),
      method: event.request.method,
      url: event.request.url.slice(0, maxUrl),
      resourceType: (event.type ?? "other").toLowerCase(),
    }
    push(this.#requests, record, maxRequests)
    this.#open.set(event.requestId, record)
    // Requests that never end (streams) must not pile up.
    if (this.#open.size > maxRequests) this.#open.delete(this.#open.keys().next().value as string)
  }

  #answered(requestId: string, status: number): void {
    const record = this.#open.get(requestId)
    if (record) Object.assign(record, { status, ok: status < 400 })
  }

  /** Messages of this level and above. */
  console(level: string | undefined): ConsoleMessage[] {
    if (level === undefined) return [...this.#console]
    const least = levels[level] ?? 1
    return this.#console.filter(({ type }) => (levels[type] ?? 1) >= least)
  }

  errors(clear: boolean): PageError[] {
    const errors = this.#errors
    this.#errors = clear ? [] : errors
    return [...errors]
  }

  requests(filter: string, clear: boolean): RequestRecord[] {
    const requests = this.#requests
    this.#requests = clear ? [] : requests
    return requests.filter(({ url }) => url.includes(filter))
  }
}

function push<Item>(items: Item[], item: Item, max: number): void {
  items.push(item)
  if (items.length > max) items.shift()
}

function release(session: CdpSession): void {
  // A page that is gone has let go of everything by itself.
  session.send("Runtime.releaseObjectGroup", { objectGroup: "console" }).catch(() => undefined)
}

function toMessage({ type, args, timestamp, stackTrace }: ConsoleEvent): ConsoleMessage {
  const frame = stackTrace?.callFrames[0]
  return {
    type,
    text: args.map(textOf).join(" ").slice(0, maxText),
    timestamp: new Date(timestamp).toISOString(),
    ...(frame
      ? {
          location: { url: frame.url.slice(0, maxUrl), lineNumber: frame.lineNumber, columnNumber: frame.columnNumber },
        }
      : {}),
  }
}

/** Workers have consoles of their own; for the icon of the tab the browser asks by itself. */
function isOfNobody({ source, url = "" }: LogEvent["entry"]): boolean {
  return source === "worker" || (source === "network" && URL.parse(url)?.pathname === "/favicon.ico")
}

function fromBrowser({ level, text, timestamp, url, lineNumber = 0 }: LogEvent["entry"]): ConsoleMessage {
  return {
    type: level === "verbose" ? "debug" : level,
    text: text.slice(0, maxText),
    timestamp: new Date(timestamp).toISOString(),
    ...(url === undefined ? {} : { location: { url: url.slice(0, maxUrl), lineNumber, columnNumber: 0 } }),
  }
}

function textOf(value: RemoteValue): string {
  if (typeof value.value === "string") return value.value
  if (value.value !== undefined) return JSON.stringify(value.value)
  return value.unserializableValue ?? value.description ?? value.type
}

function toError({ timestamp, exceptionDetails }: ExceptionEvent): PageError {
  const { exception, text } = exceptionDetails
  const stack = exception?.description
  const thrown = exception?.value === undefined ? text : `${text} ${textOf(exception)}`
  return {
    message: (stack?.split("\n")[0] ?? thrown).slice(0, maxText),
    ...(exception?.className === undefined ? {} : { name: exception.className }),
    ...(stack === undefined ? {} : { stack: stack.slice(0, maxText) }),
    timestamp: new Date(timestamp).toISOString(),
  }
}
