// Finds registered secrets in text: a rolling hash of the last six characters is looked up at every place, and only
// where a secret could end is it compared. The ends are what nobody can guess; many secrets begin alike (`sk-ant-`).
import { Places, codesOf } from "../places.ts"

/** The shortest secret, and the window that is hashed: each character moves the others up by five of the 30 bits. */
const window = 6
const shift = 5
const windowBits = (1 << (window * shift)) - 1
const factor = 0x9e3779b1
const slotBits = 16

export class KnownSecrets {
  readonly #known = new Set<string>()
  /** By the slot of their ending; 0 where none ends. */
  readonly #groupOf = new Uint16Array(1 << slotBits)
  readonly #groups: Uint16Array[][] = [[]]

  add(secret: string): void {
    this.#register(secret)
    // As it stands in an address, and inside a string of JSON.
    this.#register(encodeURIComponent(secret.toWellFormed()))
    this.#register(JSON.stringify(secret).slice(1, -1))
  }

  /** Every place where one stands; of those with one end, the longest. */
  find(codes: Uint16Array): Places {
    const places = new Places()
    if (this.#known.size === 0) return places
    const groupOf = this.#groupOf
    let hash = 0
    for (let at = 0; at < codes.length; at += 1) {
      hash = roll(hash, codes[at] as number)
      const group = groupOf[slotOf(hash)] as number
      if (group === 0) continue
      const length = longestThatEnds(codes, at + 1, this.#groups[group] as Uint16Array[])
      if (length > 0) places.add(at + 1 - length, at + 1)
    }
    return places
  }

  #register(text: string): void {
    if (text.length < window || this.#known.has(text)) return
    this.#known.add(text)
    const secret = codesOf(text)
    const slot = slotOf(secret.subarray(-window).reduce(roll, 0))
    if (this.#groupOf[slot] === 0) this.#groupOf[slot] = this.#groups.push([]) - 1
    const group = this.#groups[this.#groupOf[slot] as number] as Uint16Array[]
    group.push(secret)
    group.sort((a, b) => b.length - a.length)
  }
}

function roll(hash: number, code: number): number {
  return ((hash << shift) ^ code) & windowBits
}

function slotOf(hash: number): number {
  return Math.imul(hash, factor) >>> (32 - slotBits)
}

function longestThatEnds(codes: Uint16Array, end: number, group: readonly Uint16Array[]): number {
  for (const secret of group) if (endsWith(codes, end, secret)) return secret.length
  return 0
}

/** From both ends on: what fell into its slot by chance differs there. */
function endsWith(codes: Uint16Array, end: number, secret: Uint16Array): boolean {
  const start = end - secret.length
  if (start < 0 || codes[start] !== secret[0]) return false
  for (let at = secret.length - 1; at > 0; at -= 1) if (codes[start + at] !== secret[at]) return false
  return true
}
