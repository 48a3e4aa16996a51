// What became of the messages of a run, asked of the outbox each time: a reply that was queued is not yet one that has
// arrived, and may never be.
import type { OutboxState } from "./schema.ts"
import type { Store } from "./store.ts"

export interface RunMessage {
  /** Of the outbox row. */
  id: number
  channel: string
  chatId: string
  state: "queued" | "sent" | "uncertain" | "dead"
  /** The platform's id of the message; null where it has none, or none yet. */
  messageId: string | null
  error: string | null
}

export interface RunDelivery {
  /** The least of all messages; `none` while the run has written none. */
  state: RunMessage["state"] | "none"
  messages: RunMessage[]
}

interface Row {
  id: number
  lane_key: string
  channel: string
  chat_id: string
  payload: string
  state: OutboxState
  remote_id: string | null
  error: string | null
}

const columns = "id, lane_key, channel, chat_id, payload, state, remote_id, error"
// Reactions are decoration: they tell nobody anything, and whether they work says nothing of the reply.
const ofRun = `select ${columns} from outbox where job_id = ? and kind <> 'react' order by id limit 200`
const byIds = `select ${columns} from outbox where id in (select value from json_each(?)) order by id`

export function readRunDelivery(store: Pick<Store, "handle">, jobId: number): RunDelivery {
  const rows = store.handle.prepare(ofRun).all(jobId) as unknown as Row[]
  // Sent once more by hand, a message is a new row: what became of that one counts.
  const latest = new Map(rows.map((row) => [`${row.lane_key}\n${row.payload}`, row.id]))
  return summarise(rows.filter((row) => latest.get(`${row.lane_key}\n${row.payload}`) === row.id || isSettled(row)))
}

export function readDeliveryOf(store: Pick<Store, "handle">, ids: readonly number[]): RunDelivery {
  return summarise(store.handle.prepare(byIds).all(JSON.stringify(ids)) as unknown as Row[])
}

function isSettled({ state }: Row): boolean {
  return state !== "dead" && state !== "uncertain"
}

const stateOf: Record<OutboxState, RunMessage["state"]> = {
  new: "queued",
  sending: "queued",
  sent: "sent",
  uncertain: "uncertain",
  dead: "dead",
  dropped: "dead",
}

function summarise(rows: readonly Row[]): RunDelivery {
  const messages = rows.map((row) => ({
    id: row.id,
    channel: row.channel,
    chatId: row.chat_id,
    state: stateOf[row.state],
    messageId: row.remote_id,
    error: row.error,
  }))
  const worst = (["dead", "uncertain", "queued", "sent"] as const).find((state) =>
    messages.some((message) => message.state === state),
  )
  return { state: worst ?? "none", messages }
}

/** One line; undefined where nothing was to be sent. */
export function describeRunDelivery({ state, messages }: RunDelivery): string | undefined {
  const shown = messages.findLast((message) => message.state === state)
  if (!shown) return undefined
  const chat = `${shown.channel} chat ${shown.chatId}`
  const why = shown.error === null ? "" : `: ${shown.error}`
  const count =
    messages.length > 1
      ? ` (${messages.filter((one) => one.state === state).length} of ${messages.length} messages)`
      : ""
  switch (shown.state) {
    case "sent":
      return `sent to ${chat}${shown.messageId === null ? "" : ` as message ${shown.messageId}`}${count}`
    case "queued":
      return `queued for ${chat}${count}${why}`
    case "uncertain":
      return `may or may not have arrived in ${chat}${count}${why}`
    case "dead":
      return `not delivered to ${chat}${count}${why}`
  }
}
