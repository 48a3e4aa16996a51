// Which waiting messages belong together: those of one person in one chat, in the order in which they came. What somebody
// else has said, or a command that changes what follows, is never passed over.
import { type JobRow, type Store, waitingJobs, workClasses } from "../../store/index.ts"
import { type TurnInput, turnJobKind } from "../turn-input.ts"

/** One message, or the parts of one: an album, a text that was cut. */
export interface WaitingMessage {
  jobs: JobRow[]
  inputs: TurnInput[]
  /** It waits for no more parts, nor for a pause. */
  isDue: boolean
}

/** Waits only for a pause of whoever writes, not for parts. */
export const pauseKeyPrefix = "queue:"

/** Who speaks where. Neither a name nor a text is part of it: they may change from message to message. */
export function senderKey({ route, askedBy }: Pick<TurnInput, "route" | "askedBy">): string {
  const { channel, account, chatId, threadId = "" } = route ?? { channel: "", account: "", chatId: "" }
  const { id, origin, isAuthorised } = askedBy ?? { id: "", origin: "", isAuthorised: false }
  return JSON.stringify([channel, account, chatId, threadId, id, origin, isAuthorised])
}

/** The messages of this sender that wait in the lane, oldest first, up to what may not be passed over. */
export function waitingOf(
  store: Store,
  laneKey: string,
  { sender, after = 0, passesOthers }: { sender: string; after?: number; passesOthers: boolean },
): WaitingMessage[] {
  const rows: [JobRow, TurnInput][] = []
  for (const row of waitingJobs(store, laneKey, after)) {
    if (row.class !== workClasses.people) continue
    if (row.kind !== turnJobKind) break
    const input = JSON.parse(row.payload) as TurnInput
    if (senderKey(input) === sender && input.purpose === "chat") rows.push([row, input])
    else if (!passesOthers) break
  }
  return grouped(rows, store.clock.now())
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
