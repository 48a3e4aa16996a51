// One configured server: started or reached when a tool of it is called, ended when it was not used for a while, and held
// to its accepted tools by hash.
import { createHash } from "node:crypto"
import {
  AppError,
  type Log,
  type Redactor,
  describeError,
  isOutOfHandles,
  raceAbort,
  withTimeout,
} from "../../kernel/index.ts"
import type { McpServerConfig } from "../config.ts"
import { problemOf } from "./definitions.ts"
import type { CallOutcome, OpenServer } from "./library.ts"
import { type ToolDefinition, hashOf } from "./pins.ts"

export interface ConnectionOptions {
  name: string
  settings: McpServerConfig
  version: string
  env: Readonly<Record<string, string>>
  cwd: string
  log: Log
  /** Of what is known to be secret: a server may answer with what it was sent. */
  redactor: Redactor
}

export interface Connection {
  readonly name: string
  readonly settings: McpServerConfig
  /** Digest of how the server is reached: another program or address is another server. */
  readonly source: string
  /** Protocol revision, while it is open. */
  readonly revision: string | undefined
  readonly isStarting: boolean
  /** Why its last use failed, with the last words of a program that has ended by it. They are words of others. */
  readonly problem: string | undefined
  /** The tools as the server has them now. Opens it. Throws `mcp-unavailable`, `timeout`. */
  tools(signal: AbortSignal): Promise<ReadonlyMap<string, ToolDefinition & { hash: string }>>
  call(name: string, input: Parameters<OpenServer["call"]>[1], signal: AbortSignal): Promise<CallOutcome>
  stop(): Promise<void>
}

export function sourceOf({ command, args, cwd, url }: McpServerConfig): string {
  return createHash("sha256")
    .update(JSON.stringify([command ?? null, args, cwd ?? null, url ?? null]))
    .digest("base64url")
}

/** How long the list of tools is believed; a server that says that it has changed is asked again at once. */
const listMs = 60_000

interface Open {
  server: OpenServer
  listed: { at: number; tools: Promise<ReadonlyMap<string, ToolDefinition & { hash: string }>> } | undefined
}

interface Failed {
  reason: string
  server: OpenServer | undefined
}

/** Asked late: what a program writes last may come after the news of its end. */
function describeFailed({ reason, server }: Failed): string {
  const words = server?.lastWords() ?? ""
  return words === "" ? reason : `${reason}: ${words}`
}

export function createConnection(options: ConnectionOptions): Connection {
  const { name, settings, log } = options
  let current: Promise<Open> | undefined
  let revision: string | undefined
  let idle: NodeJS.Timeout | undefined
  let running = 0
  let ending = new AbortController()
  let failed: Failed | undefined
  const end = async () => {
    clearTimeout(idle)
    const last = current
    current = revision = undefined
    // A program that does not come up is not waited for.
    ending.abort(new AppError("mcp-unavailable", `The MCP server ${name} was ended while it started`))
    ending = new AbortController()
    await closed(last)
  }
  const use = async <Result>(signal: AbortSignal, work: (open: Open) => Promise<Result>): Promise<Result> => {
    clearTimeout(idle)
    running += 1
    let server: OpenServer | undefined
    try {
      const result = await inSession({ opened, leave, signal }, async (each) => {
        server = each.server
        return await work(each)
      })
      failed = undefined
      return result
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const told = error instanceof AppError ? error : unavailable(options, error)
      failed = { reason: told.message, server }
      throw told
    } finally {
      running -= 1
      if (running === 0 && current) idle = endLater(options, end)
    }
  }
  /** The server was started anew, say. Others who are at it find that out by themselves. */
  const leave = (lost: Promise<Open>) => {
    if (current === lost) current = revision = undefined
    if (running === 1) closed(lost).catch((error: unknown) => log.debug({ err: error }, "mcp session not closed"))
  }
  const opened = (): Promise<Open> => {
    if (current) return current
    const events = {
      onClose() {
        if (current === started) current = revision = undefined
      },
      onToolsChanged: () => void started.then((each) => (each.listed = undefined)).catch(() => undefined),
    }
    const started = open(options, events, ending.signal)
    current = started
    started.then(
      ({ server }) => (revision = server.revision),
      () => {
        if (current === started) current = undefined
      },
    )
    return started
  }
  return {
    name,
    settings,
    source: sourceOf(settings),
    get revision() {
      return revision
    },
    get isStarting() {
      return current !== undefined && revision === undefined
    },
    get problem() {
      return failed && describeFailed(failed)
    },
    // One list for all who wait for it: it does not end with the first of them.
    tools: (signal) => use(signal, (each) => raceAbort(listTools(each, options), signal)),
    call: (tool, input, signal) =>
      use(signal, ({ server }) => limited(settings, tool, (limit) => server.call(tool, input, limit), signal)),
    stop: end,
  }
}

function endLater({ settings, log }: ConnectionOptions, end: () => Promise<void>): NodeJS.Timeout {
  const told = (error: unknown) => log.warn({ err: error }, "mcp server not ended")
  return setTimeout(() => void end().catch(told), settings.idleMinutes * 60_000).unref()
}

/** Once more, in a new session, where the server has lost the one of before: nothing was done in that. */
async function inSession<Result>(
  { opened, leave, signal }: { opened(): Promise<Open>; leave(lost: Promise<Open>): void; signal: AbortSignal },
  work: (open: Open) => Promise<Result>,
): Promise<Result> {
  const first = opened()
  const { server } = await first
  try {
    return await work(await first)
  } catch (error) {
    if (signal.aborted || !server.hasLostSession(error)) throw error
    leave(first)
    return await work(await opened())
  }
}

async function closed(last: Promise<Open> | undefined): Promise<void> {
  await last?.then(
    ({ server }) => server.close(),
    () => undefined,
  )
}

async function open(
  options: ConnectionOptions,
  events: { onClose(): void; onToolsChanged(): void },
  ended: AbortSignal,
): Promise<Open> {
  const { name, settings, log } = options
  const { openServer } = await import("./library.ts")
  // Of the connection itself: whoever waits for it may give up before.
  const { signal, clear } = withTimeout(settings.startSeconds * 1_000, `Starting the MCP server ${name}`, ended)
  try {
    const onError = (error: Error) => log.debug({ server: name, reason: reasonOf(options, error) }, "mcp server error")
    const server = await openServer({ ...options, ...events, onError, signal })
    log.info({ server: name, revision: server.revision }, "mcp server opened")
    return { server, listed: undefined }
  } catch (error) {
    if (isTimeout(signal.reason)) throw tooSlow(options)
    throw signal.aborted ? signal.reason : error
  } finally {
    clear()
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof AppError && reason.code === "timeout"
}

function tooSlow({ name, settings: { startSeconds } }: ConnectionOptions): AppError {
  return new AppError("timeout", `Starting the MCP server ${name} took longer than ${startSeconds} s`, {
    hint: `Give it more time: svc config set mcp.servers.${name}.startSeconds ${Math.min(startSeconds * 4, 600)}`,
  })
}

function usable({ name, log }: ConnectionOptions, found: readonly ToolDefinition[]): ToolDefinition[] {
  return found.filter((tool) => {
    const problem = problemOf(tool)
    if (problem === undefined) return true
    log.warn({ server: name, tool: tool.name.slice(0, 80) }, `mcp tool left out: ${problem}`)
    return false
  })
}

function listTools(each: Open, options: ConnectionOptions) {
  const { settings } = options
  const now = performance.now()
  if (!each.listed || now - each.listed.at > listMs) {
    const tools = limited(settings, "The list of its tools", (limit) => each.server.tools(limit)).then(
      (found) => new Map(usable(options, found).map((tool) => [tool.name, { ...tool, hash: hashOf(tool) }])),
    )
    const listed = { at: now, tools }
    each.listed = listed
    tools.catch(() => {
      if (each.listed === listed) each.listed = undefined
    })
  }
  return each.listed.tools
}

async function limited<Result>(
  settings: McpServerConfig,
  what: string,
  work: (signal: AbortSignal) => Promise<Result>,
  parent?: AbortSignal,
): Promise<Result> {
  const { signal, clear } = withTimeout(settings.timeoutSeconds * 1_000, what, parent)
  try {
    return await work(signal)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    clear()
  }
}

/** A server may answer with an error of any length, and with what it was sent. */
const maxReasonChars = 1_000

function reasonOf({ redactor }: ConnectionOptions, error: unknown): string {
  return redactor.redact(describeError(error).slice(0, 2 * maxReasonChars)).slice(0, maxReasonChars)
}

function unavailable(options: ConnectionOptions, error: unknown): AppError {
  const { name, settings } = options
  const keys = settings.url === undefined ? "command, args and env" : "url and headers"
  return new AppError("mcp-unavailable", `The MCP server ${name} does not work: ${reasonOf(options, error)}`, {
    isForeign: true,
    // Its causes would bring all of its words into the log.
    cause: isOutOfHandles(error) ? error : undefined,
    hint: `Look at ${keys} of mcp.servers.${name}, then try it: svc mcp servers ${name}`,
  })
}
