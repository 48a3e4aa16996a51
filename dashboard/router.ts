// The address behind the mark: `#/runs/4f2a?state=done`. The page is one file, wherever a proxy puts it.
import { computed, signal } from "@preact/signals"

export interface Place {
  /** The page's name, then what it shows. */
  path: string[]
  query: URLSearchParams
}

const hash = signal(location.hash)
addEventListener("hashchange", () => (hash.value = location.hash))

export const place = computed<Place>(() => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?", 2)
  return { path: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) }
})

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
  history.replaceState(null, "", link(...path) + (text === "" ? "" : `?${text}`))
  hash.value = location.hash
}

export function go(address: string): void {
  location.hash = address
}
