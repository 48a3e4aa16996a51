// What MCP needs of the rest of the product. No runtime.
import type { ToolResult } from "../agent/tool.ts"
import type { JsonObject } from "../kernel/index.ts"

/** What a caller of our tools may do; the names are those of the scopes of tokens. */
export type Right = "browser" | "message" | "admin"

/** A call of the gateway's own HTTP API. */
export interface ApiCall {
  method: "GET" | "POST"
  path: string
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  body?: unknown
}

/** Who calls our tools: one token, with what it opens. */
export interface Caller {
  /** Of the token; empty for the gateway's own. */
  id: string
  may(right: Right): boolean
  /** Tells the audit log that it does this in a browser. */
  drives(action: string): void
  /** In the caller's name: checked, limited and audited like a call from outside. Throws AppError. */
  call(call: ApiCall, signal: AbortSignal): Promise<JsonObject>
}

/** The agent's own tool `browser`, in the hands of a caller. */
export interface BrowserPort {
  schema: JsonObject
  description: string
  run(input: JsonObject, caller: Caller, signal: AbortSignal): Promise<ToolResult>
}

export interface ServerLinks {
  version: string
  /** Undefined while browser control is switched off. */
  browser(): BrowserPort | undefined
}
