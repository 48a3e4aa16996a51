// Stickers that the bot has seen: seen -> described once -> kept, found again by words. Read and written by SQL at each
// use; only the index for searching is kept in memory, until something changes.
import type { Store } from "../../../store/index.ts"
import type { Sticker, Stickers } from "./contract.ts"
import { type StickerSearch, createStickerSearch } from "./search.ts"

/** Of one account; the oldest make room. */
const mostKept = 2_000

interface Row {
  file_unique_id: string
  file_id: string
  account: string
  emoji: string
  set_name: string
  description: string
  cached_at: number
}

export function createStickers({ store }: { store: Store }): Stickers {
  const searches = new Map<string, { state: string; search: StickerSearch }>()
  return {
    get(account, fileUniqueId) {
      const row = store.handle
        .prepare("select * from sticker where file_unique_id = ? order by account = ? desc, description = '' limit 1")
        .get(fileUniqueId, account) as Row | undefined
      return row && fromRow(row)
    },
    async put({ fileId, fileUniqueId, account, emoji, setName, description }) {
      await store.write(async (write) => {
        write
          .prepare(
            `insert into sticker (file_unique_id, file_id, account, emoji, set_name, description, cached_at)
             values (?, ?, ?, ?, ?, ?, ?)
             on conflict (account, file_unique_id) do update set file_id = excluded.file_id, emoji = excluded.emoji,
               set_name = excluded.set_name, cached_at = excluded.cached_at,
               description = case excluded.description when '' then description else excluded.description end`,
          )
          .run(fileUniqueId, fileId, account, emoji, setName, description, write.now)
        write
          .prepare(
            `delete from sticker where account = ? and cached_at < (
               select cached_at from sticker where account = ? order by cached_at desc limit 1 offset ?)`,
          )
          .run(account, account, mostKept - 1)
      })
    },
    async search(account, query, limit) {
      const state = stateOf(store, account)
      let known = searches.get(account)
      if (known?.state !== state) {
        const rows = store.handle.prepare("select * from sticker where account = ?").all(account)
        known = { state, search: createStickerSearch((rows as unknown as Row[]).map(fromRow)) }
        searches.set(account, known)
      }
      return await known.search(query, limit)
    },
  }
}

/** Changes with the account's entries, whoever writes them. */
function stateOf(store: Store, account: string): string {
  const row = store.handle
    .prepare(
      "select count(*) as n, max(cached_at) as newest, sum(length(description)) as words from sticker where account = ?",
    )
    .get(account)
  return JSON.stringify(row)
}

function fromRow(row: Row): Sticker {
  return {
    fileId: row.file_id,
    fileUniqueId: row.file_unique_id,
    account: row.account,
    emoji: row.emoji,
    setName: row.set_name,
    description: row.description,
    cachedAt: new Date(row.cached_at).toISOString(),
  }
}
