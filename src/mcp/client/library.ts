// The protocol's client, by the official library, which is loaded with this file: settings -> transport -> a client of
// whichever revision the server speaks, the newest first.
import { Client, SdkHttpError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { type JsonObject, isJsonObject, raceAbort } from "../../kernel/index.ts"
import type { McpServerConfig } from "../config.ts"
import { boundedFetch } from "./http.ts"
import type { ToolDefinition } from "./pins.ts"
import { StdioTransport } from "./stdio.ts"

export interface OpenOptions {
  settings: McpServerConfig
  version: string
  /** Of programs: what they are started with. */
  env: Readonly<Record<string, string>>
  cwd: string
  signal: AbortSignal
  onClose(): void
  /** The server says that its tools are others now. */
  onToolsChanged(): void
  onError(error: Error): void
}

export interface OpenServer {
  revision: string
  tools(signal: AbortSignal): Promise<ToolDefinition[]>
  call(name: string, input: JsonObject, signal: AbortSignal): Promise<CallOutcome>
  /** Of a program that has ended: what it wrote last on its standard error. Else empty. */
  lastWords(): string
  /** Whether this error of a call says that the server does not know its session any more: it was not made. */
  hasLostSession(error: unknown): boolean
  close(): Promise<void>
}

export interface CallOutcome {
  content: readonly unknown[]
  structured: unknown
  isError: boolean
}

/** Far more than anybody allows; a server that lists on and on is cut off here. */
const maxPages = 20
const maxTools = 500
/** A program that answers nothing to the newest revision's first question has an older one. */
const maxProbeMs = 5_000
/** Of the library's own clock, which is not asked: each call has a signal. */
const longMs = 24 * 3_600_000
/** By the protocol 404 says that a session is over; many servers that were started anew say 400. */
const lostStatuses: ReadonlySet<number> = new Set([400, 404])

export async function openServer(options: OpenOptions): Promise<OpenServer> {
  try {
    return toolsOf(await connect(options, "auto"))
  } catch (error) {
    // Programs of older revisions may end at a question that they do not know: they are asked in their own way.
    if (options.settings.command === undefined || options.signal.aborted) throw error
    return toolsOf(await connect(options, "legacy"))
  }
}

interface Connected {
  client: Client
  program: StdioTransport | undefined
  /** Whether the server has given us a session, which older revisions may. */
  hasSession: boolean
}

async function connect(options: OpenOptions, mode: "auto" | "legacy"): Promise<Connected> {
  const { settings, version, env, cwd, signal } = options
  const timeoutMs = Math.min(settings.startSeconds * 400, maxProbeMs)
  const client = new Client({ name: "svc", version }, { versionNegotiation: { mode, probe: { timeoutMs } } })
  client.onerror = options.onError
  client.setNotificationHandler("notifications/tools/list_changed", () => options.onToolsChanged())
  const { command, args, url, headers } = settings
  const program = command === undefined ? undefined : new StdioTransport({ command, args, cwd, env })
  const transport =
    program ??
    new StreamableHTTPClientTransport(new URL(url as string), {
      requestInit: { headers },
      fetch: boundedFetch,
      onInsufficientScope: "throw",
    })
  try {
    // Its question for the revision has a clock of its own, and does not look at the signal.
    await raceAbort(client.connect(transport, { signal, timeout: settings.startSeconds * 1_000 }), signal)
    client.onclose = options.onClose
    return { client, program, hasSession: "sessionId" in transport && transport.sessionId !== undefined }
  } catch (error) {
    await transport.close().catch(options.onError)
    throw new Error(program?.lastWords || (error instanceof Error ? error.message : String(error)), { cause: error })
  }
}

function toolsOf({ client, program, hasSession }: Connected): OpenServer {
  const limits = (given: AbortSignal) => ({ signal: given, timeout: longMs })
  return {
    revision: client.getNegotiatedProtocolVersion() ?? "",
    async tools(given) {
      const found: ToolDefinition[] = []
      let cursor: string | undefined
      for (let page = 0; page < maxPages && found.length < maxTools; page += 1) {
        const answer = await client.listTools(cursor === undefined ? {} : { cursor }, limits(given))
        found.push(...answer.tools.map(definitionOf))
        cursor = answer.nextCursor
        if (cursor === undefined) break
      }
      return found.slice(0, maxTools)
    },
    async call(name, input, given) {
      const result = await client.callTool({ name, arguments: input }, limits(given))
      return { content: result.content ?? [], structured: result.structuredContent, isError: result.isError === true }
    },
    hasLostSession: (error) => hasSession && error instanceof SdkHttpError && lostStatuses.has(error.status ?? 0),
    lastWords: () => (program?.hasEnded ? program.lastWords : ""),
    close: () => client.close(),
  }
}

function definitionOf(tool: { name: string; description?: string | undefined; inputSchema: unknown }): ToolDefinition {
  const { name, description = "", inputSchema } = tool
  return { name, description, inputSchema: isJsonObject(inputSchema) ? inputSchema : {} }
}
