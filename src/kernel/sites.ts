// Sites: what an address and the words of a person have in common. A site is a host with its port, without `www.`, so
// that `example.org`, `http://www.example.org/` and `https://example.org/shop` are one; a host below it is another.

/** An owner's message is never longer; what is named in a book that somebody pastes is not what he names. */
const maxScanned = 20_000
const maxSites = 50
const maxWord = 2_048

/** Undefined for what is no http(s) address. */
export function siteOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname, port } = new URL(address)
  if (protocol !== "http:" && protocol !== "https:") return undefined
  const host = hostname.replace(/\.$/, "").replace(/^www\./, "")
  return port === "" ? host : `${host}:${port}`
}

/** Sites that a text names: complete addresses, and names such as `example.org/shop` or `localhost:3000`. */
export function sitesIn(text: string): string[] {
  const sites = new Set<string>()
  for (const word of wordsOf(text)) {
    const site = siteNamedBy(word)
    if (site !== undefined) sites.add(site)
    if (sites.size >= maxSites) break
  }
  return [...sites]
}

/**
 * Complete addresses that stand in a text, in the form that a browser gives them, and each without its fragment. Another
 * fragment makes another address: the page that is opened can read it.
 */
export function addressesIn(text: string): Set<string> {
  const addresses = wordsOf(text).flatMap((word) => (hasScheme(word) && URL.canParse(word) ? [new URL(word).href] : []))
  return new Set(addresses.flatMap((address) => [address, address.split("#", 1)[0] as string]))
}

/** The address in the form that a browser gives it. */
export function plainAddress(address: string): string {
  return URL.canParse(address) ? new URL(address).href : address
}

const between = new Set(" \t\r\n\f\v\u0085\u00a0\u2028\u2029<>\"`|{}[]()*,;⟦⟧“”„«»'")
const atTheEnd = new Set(".:!?…_~")

function wordsOf(text: string): string[] {
  const words: string[] = []
  const end = Math.min(text.length, maxScanned)
  let start = 0
  for (let at = 0; at <= end; at += 1) {
    if (at < end && !between.has(text[at] as string)) continue
    let stop = at
    while (stop > start && atTheEnd.has(text[stop - 1] as string)) stop -= 1
    if (stop > start && stop - start <= maxWord) words.push(text.slice(start, stop))
    start = at + 1
  }
  return words
}

function hasScheme(word: string): boolean {
  return /^https?:\/\//i.test(word)
}

/** Endings of files that are also endings of names: `notes.md` names no site, `https://notes.md` does. */
const fileEndings = new Set(["md", "sh", "py", "rs", "pl", "ps", "so", "cc", "ml", "zip", "mov"])

function siteNamedBy(word: string): string | undefined {
  if (hasScheme(word)) return siteOf(word)
  // An address of mail names the host of a mailbox, and a scheme of another kind nothing that could be opened.
  if (word.includes("@") || word.includes("://")) return undefined
  const host = word.split(/[/?#]/, 1)[0] as string
  const isLocal = /^localhost(?::\d{1,5})?$/i.test(host)
  const dots = host.split(":", 1)[0]?.split(".") ?? []
  const last = (dots.at(-1) ?? "").toLowerCase()
  const isNumber = dots.length === 4 && dots.every((part) => /^\d{1,3}$/.test(part))
  const isName =
    dots.length > 1 &&
    !dots.includes("") &&
    /^(?:\p{L}{2,63}|xn--[a-z0-9-]{1,59})$/u.test(last) &&
    !fileEndings.has(last)
  return isLocal || isNumber || isName ? siteOf(`https://${host}/`) : undefined
}
