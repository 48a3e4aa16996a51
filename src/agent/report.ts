// What the main session is told of a run that was not its own: the result of a webhook, or of a schedule in a session apart,
// as a waiting event, in the transaction that ends the run. Whose words they are decides what they taint there.
import { mainKey } from "../sessions/index.ts"
import type { NewEvent, Write } from "../store/index.ts"
import { isHeartbeatAck } from "./prompt.ts"
import { type TurnInput, heartbeatJob } from "./turn-input.ts"
import type { TurnOptions } from "./turn-options.ts"

/** Length of a result in the main session. */
export const maxSummary = 2_000

export interface RunResult {
  /** What was said, or why nothing was. */
  text: string
  /** Where it went, in words. */
  delivered: string
  isError: boolean
  /** Words of others may be in it. */
  isTainted: boolean
}

export function reportRun(
  { ids, ackMaxChars = () => 300 }: Pick<TurnOptions, "ids" | "ackMaxChars">,
  write: Write,
  input: TurnInput,
  result: RunResult,
): void {
  const { hook, schedule, agentId } = input
  // A heartbeat would be spent on telling that there is nothing to tell.
  const isNothing = schedule !== undefined && !result.isError && isHeartbeatAck(result.text, false, ackMaxChars())
  if ((!hook && !schedule) || isNothing) return
  const sessionKey = mainKey(agentId)
  write.addEvent({ sessionKey, ...(hook ? ofHook(hook, result) : ofSchedule(schedule, input, result)) })
  if ((hook ?? schedule)?.wakeMode === "now") write.addJob(heartbeatJob(ids.uuid(), sessionKey, "hook"))
}

type Words = Omit<NewEvent, "sessionKey">

/** Always words of others: the payload is. */
function ofHook({ name, shareHistory = false }: NonNullable<TurnInput["hook"]>, result: RunResult): Words {
  const told = tell(`Hook ${name}`, result)
  return { ...asForeign("a run has ended with this result:", told), origin: "webhook", shareHistory }
}

/** As good as what its turn was made of: an owner's schedule that read nothing from outside has said nobody else's words. */
function ofSchedule(schedule: TurnInput["schedule"], { trusted, origin }: TurnInput, result: RunResult): Words {
  const told = tell(`Schedule ${schedule?.name}`, result)
  if (trusted && !result.isTainted) return { text: told, origin, trusted: true }
  return { ...asForeign("a schedule has run, with this result:", told), origin }
}

function tell(who: string, { text, delivered, isError }: RunResult): string {
  const summary = text.length > maxSummary ? `${text.slice(0, maxSummary)}…` : text || "(no text)"
  return `${who}${isError ? " (error)" : ""}: ${summary}\n(${delivered})`
}

function asForeign(introduction: string, text: string): Pick<Words, "text" | "segments" | "trusted"> {
  return {
    text,
    trusted: false,
    segments: [
      { kind: "operator", text: introduction },
      { kind: "value", text },
    ],
  }
}
