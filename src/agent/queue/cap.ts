// How many messages of one person may wait in one chat. What goes beyond is dropped as the message says that came last:
// in the transaction that takes it in, so that no message is ever half there, and never without a word.
import { type Store, type Write, countOfSender, endJob } from "../../store/index.ts"
import { type TurnContext, type TurnInput, senderKey } from "../turn-input.ts"
import type { QueueRule } from "./contract.ts"
import { type WaitingMessage, waitingOf } from "./waiting.ts"

/** Of what is kept of a message that was dropped. */
const maxLine = 160
/** As many lines as are shown; of more only the number is told. */
const maxShownLines = 20

export interface Dropped {
  count: number
  /** The first since a turn has told of some: now its sender is to hear of it. */
  isFirst: boolean
}

/** Drops what goes beyond the cap of this message. Undefined when nothing does. */
export function keepToCap(store: Store, write: Write, input: TurnInput): Dropped | undefined {
  const { queue, sessionKey } = input
  if (!queue) return undefined
  const sender = senderKey(input)
  // The parts of a message are one: there are never more messages than jobs.
  if (countOfSender(store, sessionKey, sender) <= queue.cap) return undefined
  const waiting = waitingOf(store, sessionKey, { sender, passesOthers: true }).filter(hasNotBegun)
  const over = waiting.length - queue.cap
  if (over <= 0) return undefined
  const victims = queue.drop === "new" ? waiting.slice(-over) : waiting.slice(0, over)
  const isFirst = !hasDropped(write, sessionKey, sender)
  const insert = write.prepare(
    "insert into queue_drop (lane_key, sender, line, trusted, created_at) values (?, ?, ?, ?, ?)",
  )
  for (const message of victims) {
    for (const row of message.jobs)
      endJob(store, write, row, { state: "cancelled", error: `dropped: more than ${queue.cap} messages wait` })
    const line = queue.drop === "summarize" ? lineOf(message) : ""
    const trusted = message.inputs.every((each) => each.trusted)
    insert.run(sessionKey, sender, line, trusted ? 1 : 0, write.now)
  }
  return { count: victims.length, isFirst }
}

function hasNotBegun({ jobs }: WaitingMessage): boolean {
  return jobs.every((job) => job.attempts === 0)
}

function hasDropped(write: Write, laneKey: string, sender: string): boolean {
  const found = write
    .prepare("select 1 from queue_drop where lane_key = ? and sender = ? and shown_by is null limit 1")
    .get(laneKey, sender)
  return found !== undefined
}

function lineOf({ inputs }: WaitingMessage): string {
  const text = inputs
    .map((input) => input.text)
    .join(" ")
    .replace(/\s+/g, " ")
    .trim()
  if (text.length <= maxLine) return text
  return `${text.slice(0, maxLine - 1).replace(/[\ud800-\udbff]$/, "")}…`
}

/** For the person, once: what their next turn tells of, the agent says itself. */
export function droppedText({ cap, drop }: QueueRule): string {
  const what = {
    new: "what you write now is dropped until some of it is done",
    old: "the oldest is dropped for each new one",
    summarize: "of the oldest only a line is kept",
  }
  return `More than ${cap} messages of yours wait: ${what[drop]}. \`/queue\` shows this and changes it, \`/stop\` empties the queue.`
}

/** What was dropped since a turn of this sender has last told of it. In the transaction that keeps the prompt. */
export function takeDropped(write: Write, jobId: number, input: TurnInput): TurnContext | undefined {
  if (input.purpose !== "chat") return undefined
  const rows = write
    .prepare(
      "select id, line, trusted from queue_drop where lane_key = ? and sender = ? and shown_by is null order by id",
    )
    .all(input.sessionKey, senderKey(input)) as { id: number; line: string; trusted: number }[]
  if (rows.length === 0) return undefined
  const update = write.prepare("update queue_drop set shown_by = ? where id = ?")
  for (const { id } of rows) update.run(jobId, id)
  const lines = rows.filter(({ line }) => line !== "").slice(-maxShownLines)
  const many = `${rows.length} ${rows.length === 1 ? "message was" : "messages were"} dropped because too many waited`
  const label = `[${many}; say so in your answer. ${lines.length === 0 ? "What was in them is not known." : "In short, oldest first:"}]`
  const isOwn = rows.every(({ trusted }) => trusted === 1)
  return { label, text: lines.map(({ line }) => `- ${line}`).join("\n"), ...(isOwn ? { isOwn: true } : {}) }
}
