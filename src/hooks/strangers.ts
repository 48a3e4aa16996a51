// What is kept of requests that prove nothing: one small row for each address, mapping and hour, and how often. A
// stranger decides neither how many rows there are nor how large they get.
// refusal -> first of its address and hour: a row -> further ones: a count, written now and then.
import { clientOf } from "../kernel/http/index.ts"
import type { Clock } from "../kernel/index.ts"
import type { Delivery } from "./delivery.ts"

export interface Stranger {
  /** Of its row, once that is written. */
  id: number | undefined
  /** Its row is being written. */
  isWriting: boolean
  times: number
  written: number
}

export interface Strangers {
  /** The entry of this address and mapping in this hour; undefined when there are too many. */
  count(address: string, mapping: string): Stranger | undefined
  /** Those whose count has changed since it was written. */
  changed(): Stranger[]
}

const hourMs = 60 * 60 * 1000
/** From a great many addresses only so many rows an hour; the others are counted with all refusals. */
const maxRowsPerHour = 200
/** Of method, path and headers together, in UTF-8; with the brackets round them 512 at most. */
const maxBytes = 500
const maxValueCharacters = 100

export function createStrangers(clock: Clock): Strangers {
  let hour = -1
  let entries = new Map<string, Stranger>()
  let left: Stranger[] = []
  return {
    count(address, mapping) {
      const now = Math.floor(clock.now() / hourMs)
      if (now !== hour) {
        left = [...left, ...entries.values()].filter((entry) => isChanged(entry) && hasRow(entry))
        entries = new Map()
        hour = now
      }
      const key = `${clientOf(address)} ${mapping}`
      const known = entries.get(key)
      if (known) {
        known.times += 1
        return known
      }
      if (entries.size >= maxRowsPerHour) return undefined
      const entry = { id: undefined, isWriting: false, times: 1, written: 1 }
      entries.set(key, entry)
      return entry
    },
    changed() {
      left = left.filter((entry) => isChanged(entry) && hasRow(entry))
      return [...left, ...entries.values()].filter((entry) => isChanged(entry) && entry.id !== undefined)
    },
  }
}

function isChanged({ times, written }: Stranger): boolean {
  return times > written
}

function hasRow({ id, isWriting }: Stranger): boolean {
  return id !== undefined || isWriting
}

/** As much of a request as may be kept before it has proven anything: no body, no query, and its first headers cut. */
export function cutForStranger(delivery: Delivery): Delivery {
  const path = delivery.path.slice(0, maxValueCharacters)
  const headers: Record<string, string> = {}
  let left = maxBytes - Buffer.byteLength(delivery.method + path)
  for (const [name, value] of Object.entries(delivery.headers)) {
    const cut = value.slice(0, maxValueCharacters)
    // With the quotation marks and the comma of its JSON.
    const bytes = Buffer.byteLength(JSON.stringify(name) + JSON.stringify(cut)) + 2
    if (bytes > left) continue
    left -= bytes
    headers[name] = cut
  }
  return { ...delivery, path, headers, query: {}, body: Buffer.alloc(0) }
}
