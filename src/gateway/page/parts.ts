// The page's parts, made and linked.
import type { FailureThrottle } from "../../kernel/http/index.ts"
import type { Background, Clock, Ids, Log, Redactor } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import type { Tokens } from "../access/index.ts"
import type { Audit } from "../audit/index.ts"
import { type PageFeed, type Topic, createPageFeed } from "./feed.ts"
import { createPageFiles } from "./files.ts"
import { type PageSessions, createPageSessions } from "./sessions.ts"
import { type PageSettings, type PageSurface, createPageSurface } from "./surface.ts"
import { storeTopics } from "./topics.ts"

export interface PageParts {
  settings: () => PageSettings
  sessions: PageSessions
  feed: PageFeed
  surface: PageSurface
  /** Where the gateway listens. */
  place: () => { bind: string; port: number }
  version: string
}

export interface PagePartsOptions extends Pick<PageParts, "settings" | "place" | "version"> {
  /** `gateway.page.sessionDays` */
  sessionDays: () => number
  /** What the build has made; undefined where it has not. */
  folder: () => string | undefined
  /** See `PageSessionsOptions`. */
  ownIssuer: string
  tokens: Tokens
  audit: Audit
  throttle: FailureThrottle
  /** Of other parts, beside those of the store. */
  topics?: readonly Topic[]
  store: Store
  clock: Clock
  ids: Ids
  background: Background
  log: Log
  redactor: Redactor
}

const dayMs = 24 * 60 * 60 * 1000

export function createPage(options: PagePartsOptions): PageParts {
  const { settings, place, version, tokens, store, redactor, background, log } = options
  const sessions = createPageSessions({
    ...options,
    isIssuer: (id) => tokens.isGood(id),
    sessionMs: () => options.sessionDays() * dayMs,
  })
  const feed = createPageFeed({
    store,
    background,
    log,
    topics: [...storeTopics(store), ...(options.topics ?? [])],
    redact: (json) => redactor.redact(json),
  })
  const files = createPageFiles(options.folder)
  const surface = createPageSurface({ ...options, sessions, files, port: () => place().port })
  return { settings, sessions, feed, surface, place, version }
}
