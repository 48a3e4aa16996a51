// An answer that a group does not take any more (its topic was closed or deleted, the bot was put out): it goes nowhere
// else by itself, because the place is who was meant. An owner is told what it said, once all of it has ended.
import { type Route, agentOfKey } from "../sessions/index.ts"
import type { OutboxRow, Write } from "../store/index.ts"
import type { ChannelSender } from "./contract.ts"

export interface LostOptions {
  senders: () => ReadonlyMap<string, ChannelSender>
  /** Where an owner of this agent is told what nobody has asked for. */
  ownersChat: (agentId: string) => Route | undefined
  /** Takes secrets out. */
  hide: (text: string) => string
}

/** Of the words; the whole of them stands in the outbox. */
const maxWords = 2_500

/** In the transaction that gives the row up. */
export function tellLost(
  { senders, ownersChat, hide }: LostOptions,
  write: Write,
  row: OutboxRow,
  error: string,
): void {
  const route = JSON.parse(row.route) as Route
  if (route.chatKind === "private" || senders().get(row.channel)?.wordsOf?.(row) === undefined) return
  const agentId = agentWhoAnswered(write, row)
  const owners = agentId === undefined ? undefined : ownersChat(agentId)
  const sender = owners && senders().get(owners.channel)
  if (!owners || !sender) return
  const rows = write
    .prepare("select * from outbox where job_id = ? and lane_key = ? order by id")
    .all(row.job_id, row.lane_key) as unknown as OutboxRow[]
  if (rows.some(({ state }) => state === "new" || state === "sending")) return
  const words = rows
    .filter(({ state }) => state === "dead")
    .map((each) => senders().get(each.channel)?.wordsOf?.(each) ?? "")
    .filter((each) => each !== "")
    .join("\n")
  const topic = route.threadId === undefined ? "" : `, topic ${route.threadId}`
  const why = `An answer of mine could not be sent to ${route.channel} chat \`${route.chatId}\`${topic}: ${error}`
  const cut = words.length <= maxWords ? words : `${words.slice(0, maxWords)}…`
  const quoted = cut === "" ? "" : `\n\n${cut.replace(/^/gm, "> ")}`
  for (const planned of sender.plan(owners, { text: hide(`${why}${quoted}`), media: [], noPreview: true }))
    write.addOutbox(planned)
}

/** Undefined while the turn goes on: a tool of it has sent the row, and the model is told. */
function agentWhoAnswered(write: Write, { job_id: jobId }: OutboxRow): string | undefined {
  if (jobId === null) return undefined
  const job = write.prepare("select lane_key, state from job where id = ?").get(jobId)
  return job === undefined || job["state"] === "running" ? undefined : agentOfKey(String(job["lane_key"]))
}
