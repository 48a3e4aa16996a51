// The address behind the mark: `#/runs/4f2a?state=done`. The page is one file, wherever a proxy puts it.
import { computed, signal } from "@preact/signals"

export interface Place {
  /** The page's name, then what it shows. */
  path: string[]
  query: URLSearchParams
}

const hash = signal(location.hash)
addEventListener("hashchange", () => {
  // A link to sign in, pasted into a page that is open.
  if (location.hash.startsWith("#enter=")) location.reload()
  else hash.value = location.hash
})

export const place = computed<Place>(() => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?", 2)
  return { path: path.split("/").filter(Boolean).map(plain), query: new URLSearchParams(query) }
})

/** As it stands where it is no encoded text: addresses are typed by people too. */
function plain(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function link(...path: (string | number)[]): string {
  return `#/${path.map((part) => encodeURIComponent(part)).join("/")}`
}

/** Changes what stands behind the question mark, without a step in the history. */
export function setQuery(changes: Record<string, string>): void {
  const { path, query } = place.value
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") next.delete(name)
    else next.set(name, value)
  }
  const text = String(next)
  replace(link(...path) + (text === "" ? "" : `?${text}`))
}

/** Puts another address in the place of this one, of which browsers tell nobody. */
export function replace(address: string): void {
  history.replaceState(null, "", address)
  hash.value = location.hash
}

export function go(address: string): void {
  location.hash = address
}
