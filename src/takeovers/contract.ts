// Tabs that are handed to a person, as rows: who asked, which tab, until when. No runtime.
import type { Json } from "../kernel/index.ts"
import type { Write } from "../store/index.ts"

/** `waiting`: the link is not opened yet; `gone`: the tab was closed, or its browser has ended. */
export type TakeoverState = "waiting" | "open" | "given-back" | "expired" | "gone"
export type TakeoverEnd = "given-back" | "expired" | "gone"

export interface TakeoverRow {
  id: string
  run_id: string | null
  session_key: string | null
  /** JSON: how the turn begins that is told the end; in a shape of the agent's own. */
  resume: string | null
  profile: string | null
  target_id: string
  reason: string
  state: TakeoverState
  /** SHA-256 of the link's token, and from its opening on of the key that it was exchanged for. */
  link_hash: string
  link_expires_at: number
  asked_at: number
  expires_at: number
  opened_at: number | null
  ended_at: number | null
}

export interface NewTakeover {
  /** Of the turn that asks; not there when a person has asked. */
  turn?: { runId: string; sessionKey: string; resume: Json } | undefined
  profile: string
  targetId: string
  reason: string
  /** Of its page, where a person has asked: it is opened again there should the tab be gone. */
  url?: string
}

export interface TakeoverSummary {
  id: string
  state: TakeoverState
  profile: string
  targetId: string
  reason: string
  session: string | null
  askedAt: number
  expiresAt: number
  openedAt: number | null
  endedAt: number | null
}

/** A link's secret is shown once, where it is made. */
export interface TakeoverLink {
  row: TakeoverRow
  token: string
}

export interface TakeoverHooks {
  /** Sends the link to its person, in the transaction that keeps it; false where there is no private chat. */
  tell(write: Write, link: TakeoverLink): boolean
  /** Begins the turn that is told, in the transaction that ends it. */
  resume(write: Write, row: TakeoverRow): void
}
