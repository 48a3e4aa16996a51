// What browser control needs to know of other machines that offer their browser; whoever connects to them provides it.
export interface NodeBrowser {
  id: string
  /** As the owner calls it; safe to show. */
  name: string
  /** What it offers now. */
  profiles: readonly string[]
  defaultProfile: string
}

export interface NodeCall {
  method: string
  path: string
  /** Of the query and of the body. */
  query: Readonly<Record<string, unknown>>
  body: Readonly<Record<string, unknown>>
  profile?: string | undefined
  /** As the caller's `guest` and `staysOn` say it. */
  guest?: string | undefined
  staysOn?: { sites: readonly string[]; orNone: boolean } | undefined
}

export interface NodeAnswer {
  status: number
  body: unknown
  /** Came with it, and belong to whoever has called. */
  files: readonly { field: string; path: string; name: string; bytes: number }[]
}

export interface NodeLinks {
  /** `gateway.nodes.browser`. */
  settings(): { mode: "auto" | "manual" | "off"; node?: string | undefined }
  /** Connected ones with a browser. */
  browsers(): readonly NodeBrowser[]
  /** By name or id, connected or not; throws `node-not-found` or `node-ambiguous`. */
  named(name: string): { id: string; name: string; isConnected: boolean }
  /** Rejects with `node-not-connected`, `node-lost` or `node-failed`. */
  call(
    id: string,
    call: NodeCall,
    more: {
      files: readonly { field: string; path: string; name: string }[]
      takes: readonly string[]
      signal: AbortSignal
    },
  ): Promise<NodeAnswer>
  /** Files that are on their way from or to a node. */
  transfers(id: string): readonly { name: string; bytes: number; moved: number; direction: "in" | "out" }[]
}
