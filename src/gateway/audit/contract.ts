// Wire types of the audit log. No runtime.

/** Where a thing came in. */
export type AuditDoor = "gateway" | "control" | "hooks" | "chat" | "config"

export interface AuditItem {
  id: number
  /** Milliseconds since the epoch; of a counted row the beginning of its hour. */
  at: number
  /** The last time, in a counted row. */
  lastAt: number
  door: string
  who: { kind: string; id: string; name: string }
  action: string
  /** Name or id of what it was done to; empty when there is none. */
  target: string
  /** `ok`, or what it failed with; empty where outcomes are not kept apart. */
  outcome: string
  count: number
}

export interface AuditPage {
  since: number
  until: number
  /** Newest first. */
  items: AuditItem[]
  /** Whether the time holds more than were asked for. */
  more: boolean
  /** For `before`; null when there are no more. */
  next: number | null
}
