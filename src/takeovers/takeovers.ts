// Handing a tab to a person is a row, so a restart loses nothing:
//   ask -> waiting -> (the link, once) open -> given-back | expired | gone -> a turn that is told
// A link's secret opens once and is exchanged for a key of whoever opened it; both are kept as hashes only.
import { createHash } from "node:crypto"
import { AppError, type Clock, type Ids, type Log } from "../kernel/index.ts"
import { type JobEnd, type JobRow, type Store, type Write, cancelWaiting } from "../store/index.ts"
import type { NewTakeover, TakeoverEnd, TakeoverHooks, TakeoverLink, TakeoverRow, TakeoverSummary } from "./contract.ts"
import {
  findByLink,
  findTakeover,
  insertTakeover,
  listTakeovers,
  openTakeovers,
  resolveTakeover,
  setEnded,
  setLink,
  setOpen,
  takeGone,
  summaryOf,
} from "./rows.ts"

export const takeoverExpiryKind = "takeover-expiry"

export interface TakeoversOptions extends TakeoverHooks {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  /** How long a link is good for, and from its opening on the tab in the person's hands. */
  validMs: () => number
  /** Told when one is over, however it came to that. */
  onEnd(id: string): void
}

export interface Takeovers {
  /** For a turn; asked for already, nothing changes. */
  ask(wanted: NewTakeover & { turn: NonNullable<NewTakeover["turn"]> }): Promise<{ row: TakeoverRow; told: boolean }>
  /** For a person who has asked; the link is told to nobody else. */
  create(wanted: NewTakeover): Promise<TakeoverLink>
  /** A new link to one that waits; the old one is void. Throws `not-found`, `conflict`. */
  renew(idOrPrefix: string): Promise<TakeoverLink>
  /** One that is not over. Throws `not-found`, `conflict`. */
  resolve(idOrPrefix: string): TakeoverRow
  list(limit: number): TakeoverSummary[]
  /** Those that are not over. */
  open(): TakeoverRow[]
  /** What an unused link is for: a tab that waits, or that is gone. */
  linked(token: string): TakeoverRow | undefined
  /** Whoever has the link of a tab that is gone may have another in its place, once. */
  claimGone(token: string): Promise<TakeoverRow | undefined>
  /** Whoever brings the link's token first gets the key, or the one they have made; undefined for everybody else. */
  claim(token: string, key?: string): Promise<{ row: TakeoverRow; key: string } | undefined>
  /** What a key is for, while it is open. */
  find(key: string): TakeoverRow | undefined
  /** False when it was over before. */
  end(id: string, end: TakeoverEnd): Promise<boolean>
  /** The handler of jobs of kind `takeover-expiry`. */
  expire(job: JobRow): Promise<JobEnd>
}

const secretBytes = 32
const most = 20

export function createTakeovers(options: TakeoversOptions): Takeovers {
  const { store, clock, ids, log } = options
  const { handle } = store
  return {
    ask: (wanted) =>
      store.write(async (write) => {
        const same = openTakeovers(handle).find(
          (row) => row.target_id === wanted.targetId && row.session_key === wanted.turn.sessionKey,
        )
        if (same) return { row: same, told: true }
        const link = insert(options, write, wanted)
        return { row: link.row, told: options.tell(write, link) }
      }),
    create: (wanted) => store.write(async (write) => insert(options, write, wanted)),
    async renew(idOrPrefix) {
      const token = ids.token(secretBytes)
      return await store.write(async (write) => {
        // Here, and not before: it may be opened, or over, until it is its turn.
        const row = resolveTakeover(handle, idOrPrefix)
        if (row.state === "open") {
          throw new AppError("conflict", "Somebody has this tab in their hands", {
            hint: "It waits until they give it back",
          })
        }
        setLink(write, row.id, hashOf(token), row.expires_at)
        return { row, token }
      })
    },
    resolve: (idOrPrefix) => resolveTakeover(handle, idOrPrefix),
    open: () => openTakeovers(handle),
    linked: (token) => findByLink(handle, hashOf(token), clock.now()),
    claimGone: (token) => store.write(async (write) => takeGone(write, hashOf(token))),
    list: (limit) => listTakeovers(handle, limit).map(summaryOf),
    claim: (token, key = ids.token(secretBytes)) =>
      store.write(async (write) => {
        const hash = hashOf(token)
        const row = openTakeovers(handle).find(
          (each) => each.state === "waiting" && each.link_hash === hash && each.link_expires_at > write.now,
        )
        if (!row || !setOpen(write, row, hashOf(key), write.now + options.validMs())) return undefined
        cancelWaiting(store, write, laneOf(row.id))
        const opened = findTakeover(handle, row.id) as TakeoverRow
        addExpiry(options, write, opened)
        log.info({ takeover: row.id, targetId: row.target_id }, "takeover opened")
        return { row: opened, key }
      }),
    find(key) {
      const hash = hashOf(key)
      return openTakeovers(handle).find(
        (row) => row.state === "open" && row.link_hash === hash && row.expires_at > clock.now(),
      )
    },
    end: (id, end) => store.write(async (write) => finish(options, write, id, end)),
    expire: async (job) => {
      const { id } = JSON.parse(job.payload) as { id: string }
      return { commit: async (write) => void finish(options, write, id, "expired") }
    },
  }
}

function insert(options: TakeoversOptions, write: Write, wanted: NewTakeover): TakeoverLink {
  const { store, ids, log, validMs } = options
  if (openTakeovers(store.handle).length >= most) {
    throw new AppError("conflict", `${most} tabs wait for somebody's hands already`, {
      hint: "Wait until some are over",
    })
  }
  const token = ids.token(secretBytes)
  const expiresAt = write.now + validMs()
  const { turn, profile, targetId, reason, url } = wanted
  const row: TakeoverRow = {
    id: ids.uuid().replaceAll("-", "").slice(-16),
    run_id: turn?.runId ?? null,
    session_key: turn?.sessionKey ?? null,
    resume: turn ? JSON.stringify(turn.resume) : url === undefined ? null : JSON.stringify({ url }),
    profile,
    target_id: targetId,
    reason,
    state: "waiting",
    link_hash: hashOf(token),
    link_expires_at: expiresAt,
    asked_at: write.now,
    expires_at: expiresAt,
    opened_at: null,
    ended_at: null,
  }
  insertTakeover(write, row)
  addExpiry(options, write, row)
  log.info({ takeover: row.id, run: row.run_id, targetId }, "takeover asked")
  return { row, token }
}

function addExpiry({ ids }: TakeoversOptions, write: Write, { id, expires_at: runAt }: TakeoverRow): void {
  const payload = { id }
  write.addJob({ runId: ids.uuid(), kind: takeoverExpiryKind, laneKey: laneOf(id), payload, runAt, urgent: true })
}

function finish(options: TakeoversOptions, write: Write, id: string, end: TakeoverEnd): boolean {
  const { store, log, resume, onEnd } = options
  if (!setEnded(write, id, end)) return false
  cancelWaiting(store, write, laneOf(id))
  const row = findTakeover(store.handle, id) as TakeoverRow
  if (row.session_key !== null) resume(write, row)
  log.info({ takeover: id, end }, "takeover over")
  onEnd(id)
  return true
}

/** A lane of its own: what is to happen later must not hold up the session until then. */
function laneOf(id: string): string {
  return `takeover:${id}`
}

/** A random secret of this length needs no salt: there is nothing to guess. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}
