// What secrets are to the rest: how one is set, how it is shown, and how it is taken for a page. No runtime.
import type { Secret } from "../kernel/index.ts"

/** `stored`: here, sealed; else a password manager's own program is asked each time. */
export type SecretOrigin = "stored" | "op" | "bw"

export interface NewSecret {
  name: string
  /** Exact origins of the frames that it may be filled into. */
  origins: readonly string[]
  /** Of `stored`. */
  value?: Secret | undefined
  /** 1Password: `op://vault/item/field`. */
  op?: string | undefined
  /** Bitwarden: an item, by id or by a name that only one has. */
  bw?: { item: string; field: BitwardenField } | undefined
  /** Also into fields that show what they hold. */
  anyField?: boolean | undefined
}

export type BitwardenField = "password" | "username" | "totp"

/** Everything but the value. */
export interface SecretSummary {
  name: string
  origins: string[]
  source: SecretOrigin
  /** Where the password manager has it; null for a stored one. */
  reference: string | null
  anyField: boolean
  createdAt: number
  updatedAt: number
  lastUsedAt: number | null
}

/** For one page, for one filling. */
export interface RevealedSecret {
  value: Secret
  anyField: boolean
}

/** What browser control needs of secrets. */
export interface SecretSource {
  /** Names of those that this origin may be given. */
  namesFor(origin: string): string[]
  /** Names the origins of a secret; undefined when there is none of this name. */
  originsOf(name: string): readonly string[] | undefined
  /** Throws `not-found`, `forbidden` for another origin, `secret-unavailable`. */
  reveal(name: string, origin: string, signal: AbortSignal): Promise<RevealedSecret>
}
