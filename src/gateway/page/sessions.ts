// Who has signed in to the page: link (a code of five minutes, good once) -> session (a cookie and the page's own key).
// Sessions are held in memory, so that a request asks no database, and are rows, so that a restart ends none of them.
// A session can do what the token could that asked for its link, and ends with that token.
import { createHmac, timingSafeEqual } from "node:crypto"
import type { Background, Clock, Ids } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import { type Scope, scopes as allScopes } from "../access/contract.ts"
import { fits, hashOf } from "../access/token-form.ts"
import { type Grant, createLinkCodes } from "./link-codes.ts"

export interface PageSession {
  id: string
  name: string
  scopes: readonly Scope[]
  createdAt: number
  expiresAt: number
  lastUsedAt: number
}

export interface EnteredSession extends PageSession {
  /** For the cookie; it is nowhere else. */
  cookie: string
  /** For the page: every request shows it beside the cookie, which other ports of this host are sent too. */
  key: string
}

export interface PageSessions {
  /** A code that signs in once. `issuer` is the id of the token that asks; without one it is the gateway's own. */
  makeLink(wish: { scopes: readonly Scope[]; issuer?: string | undefined }): { code: string; expiresAt: number }
  /** Undefined where the code is wrong, used or too old. */
  enter(code: string, browser: string): Promise<EnteredSession | undefined>
  find(cookie: string, key: string | undefined): PageSession | undefined
  list(): PageSession[]
  /** Whether the session of this id still opens something. */
  isGood(id: string): boolean
  /** The token that a session was made with. */
  issuerOf(id: string): string | undefined
  /** By id; false where there is none. From then on it opens nothing. */
  end(id: string): Promise<boolean>
}

export interface PageSessionsOptions {
  store: Store
  clock: Clock
  ids: Ids
  background: Background
  /** Of the gateway's own token: another one ends the sessions that it has made. */
  ownIssuer: string
  /** Whether this token with scopes still opens anything. */
  isIssuer: (id: string) => boolean
  /** How long a session lasts. */
  sessionMs: () => number
}

interface Entry extends PageSession {
  hash: string
  issuer: string
  writtenUseAt: number
  /** It opens nothing any more; kept until the disk knows, so that an end that failed can be repeated. */
  isEnded: boolean
}

const mostSessions = 200
/** Last uses are for people: some minutes matter to nobody. */
const useEveryMs = 5 * 60_000
const secretBytes = 32
const mostNameCharacters = 80

export function createPageSessions(options: PageSessionsOptions): PageSessions {
  const { store, clock, ids, background } = options
  const entries = new Map(readEntries(store).map((entry) => [entry.id, entry]))
  const links = createLinkCodes(options)

  const isGood = (entry: Entry) =>
    !entry.isEnded &&
    entry.expiresAt > clock.now() &&
    (entry.issuer === options.ownIssuer || options.isIssuer(entry.issuer))
  const drop = async (entry: Entry) => {
    const { id } = entry
    entry.isEnded = true
    await store.write(async ({ prepare }) => void prepare("delete from page_session where id = ?").run(id))
    entries.delete(id)
  }
  const noteUse = (entry: Entry) => {
    entry.lastUsedAt = clock.now()
    if (entry.lastUsedAt - entry.writtenUseAt < useEveryMs) return
    entry.writtenUseAt = entry.lastUsedAt
    background.run("write last use of a page session", () =>
      store.write(async ({ prepare }) => {
        prepare("update page_session set last_used_at = ? where id = ?").run(entry.lastUsedAt, entry.id)
      }),
    )
  }
  for (const entry of entries.values()) {
    if (!isGood(entry)) background.run("end a page session", () => drop(entry))
  }

  return {
    makeLink: ({ scopes, issuer }) => links.make({ scopes, issuer: issuer ?? options.ownIssuer }),
    async enter(code, browser) {
      const link = links.take(code)
      if (!link) return undefined
      const secret = ids.token(secretBytes)
      const entry = newEntry(secret, { id: `page_${ids.token(6)}`, name: browser, ...link }, clock.now())
      entry.expiresAt += options.sessionMs()
      if (!isGood(entry)) return undefined
      try {
        await store.write(async ({ prepare }) => insert(prepare, entry))
      } catch (error) {
        link.giveBack()
        throw error
      }
      entries.set(entry.id, entry)
      for (const old of tooMany(entries)) background.run("end a page session", () => drop(old))
      return { ...plain(entry), cookie: `${entry.id}.${secret}`, key: keyOf(secret) }
    },
    find(cookie, key) {
      const dot = cookie.indexOf(".")
      const entry = entries.get(cookie.slice(0, dot))
      const secret = cookie.slice(dot + 1)
      // Compared in any case, so that the time does not tell which ids there are.
      const isRight = fits(secret, entry?.hash) && isSame(key ?? "", keyOf(secret))
      if (!entry || !isRight || !isGood(entry)) return undefined
      noteUse(entry)
      return entry
    },
    isGood(id) {
      const entry = entries.get(id)
      return entry !== undefined && isGood(entry)
    },
    list: () =>
      [...entries.values()]
        .filter(isGood)
        .toSorted((a, b) => a.createdAt - b.createdAt)
        .map(plain),
    issuerOf: (id) => entries.get(id)?.issuer,
    async end(id) {
      const entry = entries.get(id)
      if (!entry) return false
      await drop(entry)
      return true
    },
  }
}

/** Its end is its beginning, until its length is added. */
function newEntry(secret: string, who: { id: string; name: string } & Grant, now: number): Entry {
  const { id, name, scopes, issuer } = who
  const hash = hashOf(secret)
  const times = { createdAt: now, expiresAt: now, lastUsedAt: now, writtenUseAt: now, isEnded: false }
  return { id, hash, name: name.slice(0, mostNameCharacters), scopes, issuer, ...times }
}

/** Made from the secret, so that it needs no place of its own, and says nothing about it. */
function keyOf(secret: string): string {
  return createHmac("sha256", secret).update("key of the page").digest("base64url")
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function tooMany(entries: ReadonlyMap<string, Entry>): Entry[] {
  return [...entries.values()].toSorted((a, b) => b.lastUsedAt - a.lastUsedAt).slice(mostSessions)
}

function plain({ id, name, scopes, createdAt, expiresAt, lastUsedAt }: Entry): PageSession {
  return { id, name, scopes, createdAt, expiresAt, lastUsedAt }
}

function insert(prepare: Store["handle"]["prepare"], entry: Entry): void {
  const { id, hash, name, scopes, issuer, createdAt, expiresAt, lastUsedAt } = entry
  prepare(
    "insert into page_session (id, hash, name, scopes, issuer, created_at, expires_at, last_used_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
  ).run(id, hash, name, JSON.stringify(scopes), issuer, createdAt, expiresAt, lastUsedAt)
}

interface Row {
  id: string
  hash: string
  name: string
  scopes: string
  issuer: string
  created_at: number
  expires_at: number
  last_used_at: number
}

function readEntries(store: Store): Entry[] {
  const rows = store.handle.prepare("select * from page_session").all() as unknown as Row[]
  return rows.map((row) => ({
    id: row.id,
    hash: row.hash,
    name: row.name,
    // Another release may know more of them.
    scopes: allScopes.filter((scope) => (JSON.parse(row.scopes) as unknown[]).includes(scope)),
    issuer: row.issuer,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    writtenUseAt: row.last_used_at,
    isEnded: false,
  }))
}
