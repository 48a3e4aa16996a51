// Faults on order: each is planned for coming calls that match, and wears off after a number of them.

export type FaultKind = "status" | "html" | "429" | "hang" | "cut" | "cut-after-accept" | "cut-body" | "slow"

/** See the README for what each kind does. */
export interface Fault {
  kind: FaultKind
  /** Only calls of this method; any case. Default: every method. */
  method?: string | undefined
  /** Only calls with this chat_id. */
  chatId?: number | undefined
  /** Matching calls to let through first. Default 0. */
  skip?: number | undefined
  /** Matching calls to hit; 0 means all until cleared. Default 1. */
  times?: number | undefined
  /** HTTP status of `status` (default 500) and `html` (default 502). */
  status?: number | undefined
  description?: string | undefined
  /** Seconds, of `429`. Default 1. */
  retryAfter?: number | undefined
  /** Pause before the answer, of `slow`. Default 1000. */
  delayMs?: number | undefined
}

interface PlannedFault extends Fault {
  id: number
  toSkip: number
  /** Infinity for a fault that stays. */
  left: number
}

/** What a fault calls the way to the bytes of a file. */
export const downloadName = "download"

const maxPlanned = 1000

export class Faults {
  #planned: PlannedFault[] = []
  #lastId = 0

  /** Plans a fault and returns its id. */
  add(fault: Fault): number {
    const left = fault.times === 0 ? Infinity : (fault.times ?? 1)
    this.#planned.push({ ...fault, id: ++this.#lastId, toSkip: fault.skip ?? 0, left })
    if (this.#planned.length > maxPlanned) this.#planned.shift()
    return this.#lastId
  }

  clear(id?: number): void {
    this.#planned = id === undefined ? [] : this.#planned.filter((fault) => fault.id !== id)
  }

  list(): (Fault & { id: number })[] {
    return this.#planned.map(({ toSkip: _toSkip, left, ...fault }) => ({
      ...fault,
      times: left === Infinity ? 0 : left,
    }))
  }

  /** The fault for this call, if one is due. */
  take(method: string, chatId: string): Fault | undefined {
    for (const fault of this.#planned) {
      if (!matches(fault, method, chatId)) continue
      if (fault.toSkip > 0) {
        fault.toSkip -= 1
        continue
      }
      fault.left -= 1
      if (fault.left <= 0) this.clear(fault.id)
      return fault
    }
    return undefined
  }
}

function matches(fault: Fault, method: string, chatId: string): boolean {
  // Ways to files are not calls: a fault for every method does not meet them.
  if (method === downloadName && fault.method !== downloadName) return false
  if (fault.method !== undefined && fault.method.toLowerCase() !== method.toLowerCase()) return false
  return fault.chatId === undefined || String(fault.chatId) === chatId
}
