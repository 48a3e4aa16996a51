// What is known of a sticker, and the cache as intake and the tool see it.

export interface Sticker {
  /** To send it with; belongs to the bot of `account` alone. */
  fileId: string
  /** The same for every bot. */
  fileUniqueId: string
  account: string
  /** Empty when the platform names none; so are the next two. */
  emoji: string
  setName: string
  /** What it shows, in a sentence. */
  description: string
  /** ISO 8601. */
  cachedAt: string
}

export interface Stickers {
  /** The account's own entry, else the one of another account: then only what it shows is of use. */
  get(account: string, fileUniqueId: string): Sticker | undefined
  /** Keeps it, or brings it up to date. A description that is empty leaves the one that is known. */
  put(sticker: Omit<Sticker, "cachedAt">): Promise<void>
  /** The best first, of this account. */
  search(account: string, query: string, limit: number): Promise<Sticker[]>
}
