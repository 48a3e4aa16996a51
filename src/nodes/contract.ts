// Wire types of `/api/nodes`. No runtime.

export type NodeState = "asked" | "approved" | "revoked"

export interface NodeSummary {
  id: string
  name: string
  state: NodeState
  connected: boolean
  /** Of its key, as the node shows it too. */
  fingerprint: string
  platform: string
  /** Of svc on the node. */
  version: string
  /** What the node shows while it waits to be let in. */
  code: string | null
  /** Until when the code counts; milliseconds since the epoch. */
  codeUntil: number | null
  /** Where it connected from the last time. */
  address: string
  askedAt: number
  decidedAt: number | null
  decidedBy: string | null
  lastSeenAt: number | null
  connectedSince: number | null
  /** Null while it offers none. */
  browser: { profiles: string[]; defaultProfile: string } | null
}
