// Which waiting messages belong together: those of one person in one chat, in the order in which they came. What somebody
// else has said, or a command that changes what follows, is never passed over.
import { type JobRow, type Store, firstOfOthers, waitingOfSender } from "../../store/index.ts"
import { type TurnInput, senderKey } from "../turn-input.ts"

/** One message, or the parts of one: an album, a text that was cut. */
export interface WaitingMessage {
  jobs: JobRow[]
  inputs: TurnInput[]
  /** It waits for no more parts, nor for a pause. */
  isDue: boolean
}

/** Waits only for a pause of whoever writes, not for parts. */
export const pauseKeyPrefix = "queue:"

/** The messages of this sender that wait in the lane, oldest first, up to what may not be passed over. */
export function waitingOf(
  store: Store,
  laneKey: string,
  { sender, after = 0, passesOthers }: { sender: string; after?: number; passesOthers: boolean },
): WaitingMessage[] {
  const end = passesOthers ? undefined : firstOfOthers(store, laneKey, sender, after)
  const rows = waitingOfSender(store, laneKey, sender, after)
    .filter((row) => end === undefined || row.id < end)
    .map((row): [JobRow, TurnInput] => [row, JSON.parse(row.payload) as TurnInput])
    .filter(([row, input]) => row.sender !== null || (senderKey(input) === sender && input.purpose === "chat"))
  return grouped(rows, store.clock.now())
}

/** What the sender of a turn has said since it began; its chat may have got another id meanwhile. */
export function waitingBehind(store: Store, job: Pick<JobRow, "id" | "lane_key">, input: TurnInput): WaitingMessage[] {
  const row = store.handle.prepare("select lane_key, sender from job where id = ?").get(job.id)
  const sender = typeof row?.["sender"] === "string" ? row["sender"] : senderKey(input)
  const lane = typeof row?.["lane_key"] === "string" ? row["lane_key"] : job.lane_key
  return waitingOf(store, lane, { sender, after: job.id, passesOthers: true })
}

function grouped(rows: readonly [JobRow, TurnInput][], now: number): WaitingMessage[] {
  const messages: WaitingMessage[] = []
  let lastKey: string | undefined
  for (const [job, input] of rows) {
    const key = input.join?.key
    const isDue = job.run_at <= now || (job.join_key?.startsWith(pauseKeyPrefix) ?? false)
    const last = messages.at(-1)
    if (last && key !== undefined && key === lastKey) {
      last.jobs.push(job)
      last.inputs.push(input)
      last.isDue &&= isDue
    } else messages.push({ jobs: [job], inputs: [input], isDue })
    lastKey = key
  }
  return messages
}
