// Sites that a session may carry data to whatever it has read: those that its owner has named in his own words, and those
// that the agent opened before any words of others had been read. They are gone when the session begins anew.
import type { Store, Write } from "../store/index.ts"

/** More than a person names in a day; what comes then is asked about. */
const maxSites = 500

/** Inside a transaction: with the prompt that names them, or of its own. */
export function addSites(write: Write, sessionId: string, sites: readonly string[]): void {
  if (sites.length === 0) return
  const count = write.prepare("select count(*) as n from session_site where session_id = ?").get(sessionId)
  let left = maxSites - Number(count?.["n"])
  const insert = write.prepare(
    "insert into session_site (session_id, site, created_at) values (?, ?, ?) on conflict do nothing",
  )
  for (const site of sites) {
    if (left <= 0) return
    left -= Number(insert.run(sessionId, site, write.now).changes)
  }
}

export function listSites(store: Pick<Store, "handle">, sessionId: string): string[] {
  const rows = store.handle.prepare("select site from session_site where session_id = ?").all(sessionId)
  return rows.map(({ site }) => String(site))
}

export function hasSite(store: Pick<Store, "handle">, sessionId: string, site: string): boolean {
  const row = store.handle.prepare("select 1 from session_site where session_id = ? and site = ?").get(sessionId, site)
  return row !== undefined
}
