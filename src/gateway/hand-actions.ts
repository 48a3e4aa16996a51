// What a person does by hand beside the agent: secrets that are kept, tabs that are taken over. No runtime.
import type { z } from "zod"
import type { Secret } from "../kernel/index.ts"
import type { secretSummary } from "./endpoints/secrets.ts"
import type { takeoverSummary } from "./endpoints/takeovers.ts"

export interface TakeoverLinkMade {
  id: string
  token: string
  expiresAt: number
  reason: string
}

export interface SecretToSet {
  name: string
  origins: string[]
  value?: Secret
  op?: string
  bw?: { item: string; field: "password" | "username" | "totp" }
  anyField: boolean
}

export interface HandActions {
  takeovers: {
    list(limit: number): z.output<typeof takeoverSummary>[]
    /** Throws `not-found`, `conflict`, and what keeps a tab from being taken over. */
    link(wanted: { id?: string; profile?: string; targetId?: string; reason?: string }): Promise<TakeoverLinkMade>
    /** Throws `not-found`, `conflict`. */
    end(id: string): Promise<z.output<typeof takeoverSummary>>
  }
  /** The shapes are those of their own contract. */
  secrets: {
    list(): z.output<typeof secretSummary>[]
    /** Throws `bad-request`, `secret-unavailable`. */
    set(secret: SecretToSet): Promise<z.output<typeof secretSummary>>
    /** Throws `not-found`. */
    remove(name: string): Promise<z.output<typeof secretSummary>>
  }
}
