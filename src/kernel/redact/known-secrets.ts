// Finds registered secrets in text: a rolling hash of the last six characters is looked up at every place, and only
// where a secret could end is it compared. The ends are what nobody can guess; many secrets begin alike (`sk-ant-`).

export interface KnownSecrets {
  add(secret: string): void
  /** The text with every occurrence as `***`; those that overlap are hidden together. */
  hide(text: string): string
}

/** The shortest secret, and the window that is hashed. */
const window = 6
const factor = 0x01000193
const leaving = [...Array(window)].reduce<number>((power) => Math.imul(power, factor), 1)
const slots = 1 << 16

export function createKnownSecrets(): KnownSecrets {
  const known = new Set<string>()
  const byEnd = new Map<string, string[]>()
  const mayEnd = new Uint8Array(slots)
  const register = (secret: string) => {
    if (secret.length < window || known.has(secret)) return
    known.add(secret)
    const ending = secret.slice(-window)
    mayEnd[slotOf(hashOf(ending))] = 1
    // Longest first: where several end, the longest is what is hidden.
    byEnd.set(
      ending,
      [...(byEnd.get(ending) ?? []), secret].sort((a, b) => b.length - a.length),
    )
  }
  return {
    add(secret) {
      register(secret)
      // As it stands in an address, and inside a string of JSON.
      register(encodeURIComponent(secret.toWellFormed()))
      register(JSON.stringify(secret).slice(1, -1))
    },
    hide(text) {
      if (known.size === 0 || text.length < window) return text
      return cut(text, find(text, byEnd, mayEnd))
    },
  }
}

/** Pairs [from, to), in order, none overlapping. */
function find(text: string, byEnd: ReadonlyMap<string, string[]>, mayEnd: Uint8Array): number[] {
  const places: number[] = []
  let hash = 0
  for (let at = 0; at < text.length; at += 1) {
    hash = (Math.imul(hash, factor) + text.charCodeAt(at)) | 0
    if (at >= window) hash = (hash - Math.imul(leaving, text.charCodeAt(at - window))) | 0
    if (mayEnd[slotOf(hash)] === 0) continue
    const end = at + 1
    const secret = byEnd.get(text.slice(end - window, end))?.find((each) => text.startsWith(each, end - each.length))
    if (secret !== undefined) addPlace(places, end - secret.length, end)
  }
  return places
}

function addPlace(places: number[], from: number, to: number): void {
  let start = from
  while ((places.at(-1) ?? -1) > start) {
    places.pop()
    start = Math.min(start, places.pop() as number)
  }
  places.push(start, to)
}

function cut(text: string, places: readonly number[]): string {
  let result = ""
  let copied = 0
  for (let place = 0; place < places.length; place += 2) {
    result += `${text.slice(copied, places[place])}***`
    copied = places[place + 1] as number
  }
  return result + text.slice(copied)
}

function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, factor) + text.charCodeAt(at)) | 0
  return hash
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 16)) & (slots - 1)
}
