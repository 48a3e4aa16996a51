// What is told of configured servers, shared with the command line. No runtime.
import type { JsonObject } from "../../kernel/index.ts"

export interface ServerState {
  name: string
  kind: "program" | "address"
  enabled: boolean
  /** Protocol revision, while it is open. */
  revision: string | null
  isStarting: boolean
  /** Accepted tools. */
  tools: number
  /** Why its tools could not be read. */
  problem: string | null
}

export interface ServerTool {
  name: string
  state: "accepted" | "changed" | "new" | "gone"
  description: string
  /** As it was accepted. */
  accepted?: ToolWords
  /** As it is, where that is something else. */
  now?: ToolWords
}

export interface ServerDetail extends ServerState {
  items: ServerTool[]
}

/** Everything of a tool that a model is told. */
export interface ToolWords {
  name: string
  description: string
  inputSchema: JsonObject
}
