// Wire types of tokens with scopes, and the words for scopes, shared with the command line. Nothing else at run time.

export const scopes = ["browser", "hooks", "status", "message", "admin"] as const
export type Scope = (typeof scopes)[number]

/** Times are milliseconds since the epoch. */
export interface TokenSummary {
  id: string
  name: string
  scopes: Scope[]
  createdAt: number
  /** Null: never. At most a minute behind after a crash. */
  lastUsedAt: number | null
  /** Null: it does not. */
  expiresAt: number | null
  expired: boolean
}

export interface TokenToCreate {
  name: string
  scopes: Scope[]
  /** `30d`, `12h`, or a moment; without it the token ends only when it is revoked. */
  expires?: string | undefined
}

export interface CreatedToken extends TokenSummary {
  /** Shown this once. */
  token: string
}
