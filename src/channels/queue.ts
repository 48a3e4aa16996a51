// What becomes of messages that come while a turn runs: the session's `/queue`, else the channel's mode, else that of all.
// Asked for each message, so what sessions say is read once and kept in step by whoever changes it.
import type { QueueRule } from "../agent/queue/contract.ts"
import { pauseKeyPrefix } from "../agent/queue/waiting.ts"
import type { Config } from "../config/index.ts"
import type { QueueChoice, QueueMode } from "../sessions/queue-choice.ts"
import type { Store } from "../store/index.ts"

export interface QueueSettings extends QueueRule {
  /** How long nothing more must have come before what waits is taken up. */
  debounceMs: number
}

export interface Queued {
  rule: QueueRule
  /** The pause that is waited for. */
  hold?: { key: string; holdMs: number; maxHoldMs: number }
}

/** A person who never pauses is answered all the same. */
const maxHolds = 10

/** For a message of this person while a turn of its session runs or waits. */
export function queuedBy(person: string, { debounceMs, ...rule }: QueueSettings): Queued {
  if (debounceMs === 0 || rule.mode === "interrupt") return { rule }
  const key = `${pauseKeyPrefix}${person}`
  return { rule, hold: { key, holdMs: debounceMs, maxHoldMs: debounceMs * maxHolds } }
}

type ConfiguredMode = Config["messages"]["queue"]["mode"]

export function configuredQueue({ messages }: Pick<Config, "messages">, channel: string): QueueSettings {
  const { mode, byChannel, debounceMs, debounceMsByChannel, cap, drop } = messages.queue
  return {
    mode: modeOf(byChannel[channel] ?? mode),
    debounceMs: debounceMsByChannel[channel] ?? debounceMs,
    cap,
    drop,
  }
}

/** `queue` is the older name of `steer`. */
function modeOf(mode: ConfiguredMode): QueueMode {
  return mode === "queue" ? "steer" : mode
}

export class QueueChoices {
  readonly #store: Store
  #known: Map<string, QueueChoice> | undefined

  constructor(store: Store) {
    this.#store = store
  }

  of(sessionKey: string): QueueChoice | undefined {
    this.#known ??= this.#read()
    return this.#known.get(sessionKey)
  }

  /** After the commit that changed settings of sessions, or their keys. */
  refresh(): void {
    this.#known = undefined
  }

  #read(): Map<string, QueueChoice> {
    const rows = this.#store.handle
      .prepare(
        `select key, json_extract(settings, '$.queue') as queue from session
         where json_extract(settings, '$.queue') is not null`,
      )
      .all() as { key: string; queue: string }[]
    return new Map(rows.map((row) => [row.key, JSON.parse(row.queue) as QueueChoice]))
  }
}
