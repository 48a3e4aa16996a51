// A delivery that may or may not have arrived: what `delivery.onUncertain` makes of it. The person is asked in the chat,
// below a button that sends it once more; the agent gets a line; nothing is repeated that nobody asked to be repeated.
import type { Ids } from "../kernel/index.ts"
import type { Route } from "../sessions/route.ts"
import { mainKey } from "../sessions/index.ts"
import { type JobEnd, type JobHandler, type NewJob, type OutboxRow, type Store, type Write } from "../store/index.ts"
import { isRestored, sendDoubtfulAgain, workClasses } from "../store/index.ts"
import type { DeliveryConfig } from "./config.ts"
import type { ChannelSender, Reply } from "./contract.ts"

export interface DoubtOptions {
  store: Store
  senders: () => ReadonlyMap<string, ChannelSender>
  ids: Ids
  policy: () => DeliveryConfig["onUncertain"]
  /** Whether a message of ours may have buttons there. */
  canShowButtons: (route: Route) => boolean
}

export const resendJobKind = "resend"

const question = "My last message here may not have arrived."
const withButton = `${question} Is it missing?`
const withoutButton = `${question} If it is missing, ask me again.`

/** What a touched button leads to: see `ReplyButton.handler`. */
export function resendJob(runId: string, doubt: string, { channel, account, chatId }: Route): NewJob {
  const payload = { doubt, channel, account, chatId }
  return { runId, kind: resendJobKind, laneKey: `resend:${doubt}`, payload, urgent: true }
}

/** In the transaction that records the doubt. A question about a question is never asked. */
export function tellDoubt(options: DoubtOptions, write: Write, row: OutboxRow): void {
  if (row.doubt !== null) return
  tellAgent(write, row)
  if (options.policy() === "ask") ask(options, write, row)
}

function tellAgent(write: Write, row: OutboxRow): void {
  if (row.job_id === null) return
  const job = write.prepare("select lane_key, class from job where id = ?").get(row.job_id)
  if (!job) return
  const lane = String(job["lane_key"])
  const agentId = /^agent:([^:]+):/.exec(lane)?.[1]
  if (agentId === undefined) return
  // The session of a webhook's run ends with it.
  const sessionKey = job["class"] === workClasses.hooks ? mainKey(agentId) : lane
  const at = new Date(row.created_at).toISOString()
  const reason = isRestored(row)
    ? "it had not been sent when a backup was made, and that backup has been restored"
    : "the connection ended before the platform had answered"
  const text = `The message that you wrote at ${at} for ${row.channel} chat ${row.chat_id} may not have arrived: ${reason}.`
  write.addEvent({ sessionKey, text, origin: "system", trusted: true })
}

/** One question a chat, however many messages of it are in doubt at once. */
function ask({ senders, ids, canShowButtons }: DoubtOptions, write: Write, row: OutboxRow): void {
  const sender = senders().get(row.channel)
  if (!sender?.isAnswer?.(row)) return
  const waiting = write
    .prepare(
      "select doubt from outbox where lane_key = ? and state in ('new', 'sending') and state = 'new' and doubt is not null",
    )
    .get(row.lane_key)
  const doubt = waiting === undefined ? ids.uuid() : String(waiting["doubt"])
  write.prepare("update outbox set doubt = ? where id = ?").run(doubt, row.id)
  if (waiting !== undefined) return
  const { messageId: _answered, ...route } = JSON.parse(row.route) as Route
  const reply: Reply = canShowButtons(route)
    ? { text: withButton, media: [], buttons: [[{ text: "Send it again", data: doubt, handler: "resend" }]] }
    : { text: withoutButton, media: [] }
  for (const planned of sender.plan(route, reply)) write.addOutbox({ ...planned, doubt })
}

/** Sends again what a person says is missing; a second touch finds nothing left to do. */
export function createResendHandler(options: { store: Store; wake: () => void }): JobHandler {
  return {
    async run(job): Promise<JobEnd> {
      const { doubt, ...chat } = JSON.parse(job.payload) as Parameters<typeof sendDoubtfulAgain>[2] & { doubt: string }
      const count = await options.store.write(async (write) => sendDoubtfulAgain(write, doubt, chat))
      options.wake()
      return { result: JSON.stringify({ sentAgain: count }) }
    },
  }
}
