// Codes that sign in once, within five minutes. In memory alone: a restart makes them void, and nobody misses them.
import { AppError, type Clock, type Ids } from "../../kernel/index.ts"
import type { Scope } from "../access/contract.ts"
import { hashOf } from "../access/token-form.ts"

/** What whoever brings the code gets. */
export interface Grant {
  scopes: readonly Scope[]
  issuer: string
}

export interface LinkCodes {
  /** Throws `conflict` when too many wait. */
  make(grant: Grant): { code: string; expiresAt: number }
  /** Takes it away: the second of two at once gets nothing. */
  take(code: string): TakenLink | undefined
}

export interface TakenLink extends Grant {
  /** Nothing came of it: the code is as good as it was before. */
  giveBack(): void
}

const linkMs = 5 * 60_000
const mostLinks = 100
const codeBytes = 24

export function createLinkCodes({ clock, ids }: { clock: Clock; ids: Ids }): LinkCodes {
  // By the hash of the code, so that the time of finding one tells nothing about others.
  const links = new Map<string, Grant & { expiresAt: number }>()
  return {
    make(grant) {
      for (const [hash, link] of links) if (link.expiresAt <= clock.now()) links.delete(hash)
      if (links.size >= mostLinks) {
        throw new AppError("conflict", `${mostLinks} links wait to be opened`, {
          hint: "Open one, or wait five minutes",
        })
      }
      const code = ids.token(codeBytes)
      const expiresAt = clock.now() + linkMs
      links.set(hashOf(code), { ...grant, expiresAt })
      return { code, expiresAt }
    },
    take(code) {
      const hash = hashOf(code)
      const link = links.get(hash)
      links.delete(hash)
      if (!link || link.expiresAt <= clock.now()) return undefined
      const { scopes, issuer } = link
      return { scopes, issuer, giveBack: () => void links.set(hash, link) }
    },
  }
}
