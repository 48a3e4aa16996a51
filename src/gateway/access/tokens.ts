// Tokens with scopes: made, listed, revoked, known again. All of them are held in memory, so that a request asks no
// database and a revoked token is refused by the very next request; the store follows. The last use is written at most
// once a minute, behind everybody's back.
import { AppError, type Background, type Clock, type Ids } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import { type CreatedToken, type Scope, type TokenSummary, type TokenToCreate, scopes } from "./contract.ts"
import { readExpiry } from "./expiry.ts"
import { fits, makeToken, parseToken } from "./token-form.ts"

export interface KnownToken {
  id: string
  name: string
  scopes: readonly Scope[]
}

export type Lookup = { kind: "known"; token: KnownToken } | { kind: "expired"; name: string } | { kind: "unknown" }

export interface Tokens {
  /** Of what a caller has sent; constant-time in the secret. A known one counts as used. */
  find(text: string): Lookup
  list(): TokenSummary[]
  /** Whether the token of this id still opens something. */
  isGood(id: string): boolean
  /** Throws `bad-request` or `conflict`. */
  create(wanted: TokenToCreate): Promise<CreatedToken>
  /** By id or by name; throws `not-found`. From then on it opens nothing. */
  revoke(idOrName: string): Promise<TokenSummary>
  stop(): Promise<void>
}

export interface TokensOptions {
  store: Store
  clock: Clock
  ids: Ids
  background: Background
  /** Of writing last uses. */
  everyMs?: number
}

interface Entry {
  id: string
  name: string
  hash: string
  scopes: Scope[]
  createdAt: number
  expiresAt: number | null
  lastUsedAt: number | null
  /** Used since it was written. */
  isTouched: boolean
  /** It opens nothing any more; kept until the disk knows, so that a revocation that failed can be repeated. */
  isRevoked: boolean
}

const minuteMs = 60_000
const mostTokens = 500

export function createTokens(options: TokensOptions): Tokens {
  const { store, clock, ids, background } = options
  const entries = new Map(readEntries(store).map((entry) => [entry.id, entry]))

  const writeUses = async () => {
    const used = [...entries.values()].filter((entry) => entry.isTouched)
    if (used.length === 0) return
    for (const entry of used) entry.isTouched = false
    try {
      await store.write(async ({ prepare }) => {
        const update = prepare("update access_token set last_used_at = ? where id = ?")
        for (const { id, lastUsedAt } of used) update.run(lastUsedAt, id)
      })
    } catch (error) {
      // The next time, even where none of them is used again.
      for (const entry of used) entry.isTouched = true
      throw error
    }
  }
  const timer = setInterval(() => background.run("write last use of tokens", writeUses), options.everyMs ?? minuteMs)
  timer.unref()

  const isExpired = (entry: Entry) => entry.expiresAt !== null && entry.expiresAt <= clock.now()
  const summary = (entry: Entry): TokenSummary => {
    const { id, name, createdAt, lastUsedAt, expiresAt } = entry
    return { id, name, scopes: entry.scopes, createdAt, lastUsedAt, expiresAt, expired: isExpired(entry) }
  }
  const isKnown = (entry: Entry) => !entry.isRevoked

  return {
    find(text) {
      const parsed = parseToken(text)
      const entry = parsed && entries.get(parsed.id)
      // Compared in any case, so that the time does not tell which ids there are.
      if (!fits(parsed?.secret ?? "", entry?.hash) || !entry || entry.isRevoked) return { kind: "unknown" }
      if (isExpired(entry)) return { kind: "expired", name: entry.name }
      entry.lastUsedAt = clock.now()
      entry.isTouched = true
      return { kind: "known", token: entry }
    },
    list: () =>
      [...entries.values()]
        .filter(isKnown)
        .toSorted((a, b) => a.createdAt - b.createdAt)
        .map(summary),
    isGood(id) {
      const entry = entries.get(id)
      return entry !== undefined && !entry.isRevoked && !isExpired(entry)
    },
    async create(wanted) {
      checkFree(entries, wanted.name)
      const { entry, text } = newEntry(wanted, ids, clock.now())
      // Taken before the write, so that two at once cannot have one name; it opens nothing until it is told.
      entries.set(entry.id, entry)
      try {
        await store.write(async (transaction) => void insertEntry(transaction.prepare, entry))
      } catch (error) {
        entries.delete(entry.id)
        throw error
      }
      return { ...summary(entry), token: text }
    },
    async revoke(idOrName) {
      const entry = entries.get(idOrName) ?? findNamed(entries, idOrName) ?? findBeginning(entries, idOrName)
      if (!entry) {
        throw new AppError("not-found", `There is no token with the id or name ${JSON.stringify(idOrName)}`, {
          hint: "Names and ids stand in: svc token list",
        })
      }
      entry.isRevoked = true
      await store.write(async ({ prepare }) => void prepare("delete from access_token where id = ?").run(entry.id))
      entries.delete(entry.id)
      return summary(entry)
    },
    async stop() {
      clearInterval(timer)
      await writeUses()
    },
  }
}

function findNamed(entries: ReadonlyMap<string, Entry>, name: string): Entry | undefined {
  return [...entries.values()].find((entry) => entry.name === name)
}

/** The token whose id begins so, when there is one only. */
function findBeginning(entries: ReadonlyMap<string, Entry>, prefix: string): Entry | undefined {
  const found = prefix.length < 4 ? [] : [...entries.values()].filter(({ id }) => id.startsWith(prefix))
  if (found.length < 2) return found[0]
  throw new AppError("conflict", `Several tokens have an id that begins with ${prefix}`, {
    hint: "Give more of the id",
  })
}

function checkFree(entries: ReadonlyMap<string, Entry>, name: string): void {
  if (findNamed(entries, name)) {
    throw new AppError("conflict", `There is a token named ${name} already`, {
      hint: `Choose another name, or revoke it first: svc token revoke ${name}`,
    })
  }
  if (entries.size < mostTokens) return
  throw new AppError("conflict", `There are ${mostTokens} tokens already`, {
    hint: "Revoke those that nobody uses: svc token list",
  })
}

function newEntry(wanted: TokenToCreate, ids: Ids, now: number): { entry: Entry; text: string } {
  const { id, hash, text } = makeToken(ids)
  const entry: Entry = {
    id,
    name: wanted.name,
    hash,
    scopes: scopes.filter((scope) => wanted.scopes.includes(scope)),
    createdAt: now,
    expiresAt: wanted.expires === undefined ? null : readExpiry(wanted.expires, now),
    lastUsedAt: null,
    isTouched: false,
    isRevoked: false,
  }
  return { entry, text }
}

function insertEntry(prepare: Store["handle"]["prepare"], entry: Entry): void {
  prepare(
    "insert into access_token (id, name, hash, scopes, created_at, expires_at, last_used_at) values (?, ?, ?, ?, ?, ?, ?)",
  ).run(entry.id, entry.name, entry.hash, JSON.stringify(entry.scopes), entry.createdAt, entry.expiresAt, null)
}

function readEntries(store: Store): Entry[] {
  const rows = store.handle.prepare("select * from access_token").all() as unknown as {
    id: string
    name: string
    hash: string
    scopes: string
    created_at: number
    expires_at: number | null
    last_used_at: number | null
  }[]
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hash: row.hash,
    // Another release may know more of them.
    scopes: scopes.filter((scope) => (JSON.parse(row.scopes) as unknown[]).includes(scope)),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    isTouched: false,
    isRevoked: false,
  }))
}
