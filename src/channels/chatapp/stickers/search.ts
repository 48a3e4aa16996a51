// Words -> stickers, forgiving typing errors: over what a sticker shows, its emoji and the name of its set.
import type { Sticker } from "./contract.ts"

export type StickerSearch = (query: string, limit: number) => Promise<Sticker[]>

/** Words, and emoji with all that is joined to them. */
const tokens =
  /[\p{L}\p{M}\p{N}_]+|\p{RI}\p{RI}|\p{Extended_Pictographic}\p{EMod}?(?:\u200d\p{Extended_Pictographic}\p{EMod}?)*/gu

/** How far a word may be from what was asked for: one letter in four. */
const threshold = 0.3

/** Loaded with the first search, as nobody else pays for the library then; the index is made once for the list. */
export function createStickerSearch(stickers: readonly Sticker[]): StickerSearch {
  let loaded: ReturnType<typeof load> | undefined
  return async (query, limit) => {
    // The library takes a query without a word for a wish to see everything.
    if (query.search(tokens) < 0) return []
    loaded ??= load(stickers)
    const found = (await loaded).search(plain(query), { limit })
    return found.map(({ item }) => item)
  }
}

async function load(stickers: readonly Sticker[]) {
  const { default: Fuse } = await import("fuse.js")
  return new Fuse(stickers, {
    keys: [
      { name: "description", weight: 3, getFn: ({ description }) => plain(description) },
      { name: "emoji", weight: 3, getFn: ({ emoji }) => plain(emoji) },
      { name: "setName", weight: 1, getFn: ({ setName }) => [plain(setName), plain(wordsOf(setName))] },
    ],
    useTokenSearch: true,
    tokenize: tokens,
    ignoreLocation: true,
    ignoreDiacritics: true,
    threshold,
  })
}

/** Without the selector that asks for the coloured form of an emoji. */
function plain(text: string): string {
  return text.replaceAll("\ufe0f", "")
}

/** `HappyCats_by_bot` -> `Happy Cats by bot`. */
function wordsOf(name: string): string {
  return name.replaceAll("_", " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
}
