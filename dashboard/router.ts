// The address behind the mark: `#/runs/4f2a?state=done`. The page is one file, wherever a proxy puts it.
import { type ReadonlySignal, signal } from "./ui/signals.ts"

export interface Place {
  /** The page's name, then what it shows. */
  path: string[]
  query: URLSearchParams
}

const now = signal(read())
export const place: ReadonlySignal<Place> = now
addEventListener("hashchange", () => {
  // A link to sign in, pasted into a page that is open.
  if (location.hash.startsWith("#enter=")) location.reload()
  else now.current = read()
})

function read(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2)
  return { path: path.split("/").filter(Boolean).map(plain), query: new URLSearchParams(query) }
}

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
  const { path, query } = place.current
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") next.delete(name)
    else next.set(name, value)
  }
  const text = String(next)
  replace(link(...path) + (text === "" ? "" : `?${text}`))
}

/** One word behind the question mark, as the value of a field. */
export const inQuery = (name: string): { current: string } => ({
  get current() {
    return place.current.query.get(name) ?? ""
  },
  set current(next) {
    setQuery({ [name]: next })
  },
})

/** It, where it is one of these. */
export const oneInQuery = <Word extends string>(name: string, words: readonly Word[]): Word | undefined =>
  words.find((word) => word === place.current.query.get(name))

/** Puts another address in the place of this one, of which browsers tell nobody. */
export function replace(address: string): void {
  history.replaceState(null, "", address)
  now.current = read()
}

export function go(address: string): void {
  location.hash = address
}
