// Who is shut out loses what waits: a turn or a command of a chat runs only while whoever asked for it may still be heard
// there, with no less standing than when it was taken in. Asked when a lane comes to it, so that pairing, lists and
// policies count as they are then, whatever has changed them. What waits to be sent as an answer to them is not sent.
import type { Asker, TurnInput } from "../agent/turn-input.ts"
import type { Channel } from "../channels/contract.ts"
import { type CommandCall, readShutOutAt } from "../channels/index.ts"
import type { Log } from "../kernel/index.ts"
import type { Route } from "../sessions/index.ts"
import type { ChannelSender } from "../delivery/index.ts"
import type { JobHandler, OutboxRow, Store } from "../store/index.ts"

type Said = Pick<TurnInput, "route" | "askedBy"> | Pick<CommandCall, "route" | "sender">

/** Asked of what is taken into another turn, too. */
export function isStillHeard(channels: ReadonlyMap<string, Channel>, { route, askedBy }: TurnInput): boolean {
  if (!route || !askedBy) return true
  return channels.get(route.channel)?.isStillHeard(route, askedBy) !== false
}

/** A private chat is its person's. Guests never become the last chat, so whoever did must still be listed or paired. */
export function isLetIn(channels: ReadonlyMap<string, Channel>, route: Route): boolean {
  if (route.chatKind !== "private") return true
  const person: Asker = { id: route.chatId, origin: "approved-sender", isAuthorised: true }
  return channels.get(route.channel)?.isStillHeard(route, person) !== false
}

export function onlyWhileHeard(
  { channels, log }: { channels: () => ReadonlyMap<string, Channel>; log: Log },
  handler: JobHandler,
): JobHandler {
  const isShutOut = (route: Route, asker: Asker) => channels().get(route.channel)?.isStillHeard(route, asker) === false
  return {
    ...handler,
    async run(job, signal) {
      const said = JSON.parse(job.payload) as Said
      const asker = "sender" in said ? said.sender : said.askedBy
      if (!asker || !said.route || !isShutOut(said.route, asker)) return await handler.run(job, signal)
      const { channel, account, chatId: chat } = said.route
      log.info(
        { run: job.run_id, channel, account, chat, sender: asker.id },
        "job cancelled: sender not let in any more",
      )
      return { state: "cancelled", error: "its sender is not let in any more" }
    },
  }
}

interface SendingOptions {
  store: Pick<Store, "handle">
  channels: () => ReadonlyMap<string, Channel>
  log: Log
}

/**
 * Answers of turns and commands go only to whoever may still ask. What has no asker (reports of webhooks, an operator's
 * message) goes to whom it was addressed, but not to somebody who was shut out after it was begun.
 */
export function onlyToHeard({ store, channels, log }: SendingOptions, sender: ChannelSender): ChannelSender {
  const jobOf = store.handle.prepare("select payload, created_at from job where id = ? and kind in ('turn', 'command')")
  const shutOutAt = readShutOutAt(store)
  const isShutOut = (row: OutboxRow): boolean => {
    const job = row.job_id === null ? undefined : jobOf.get(row.job_id)
    const begun = Number(job?.["created_at"] ?? row.created_at)
    const until = shutOutAt({ channel: row.channel, account: row.account, senderId: row.chat_id })
    if (until !== undefined && begun <= until && !isLetIn(channels(), JSON.parse(row.route) as Route)) return true
    const payload = job?.["payload"]
    if (typeof payload !== "string") return false
    const said = JSON.parse(payload) as Said
    const asker = "sender" in said ? said.sender : said.askedBy
    if (!asker || !said.route) return false
    return channels().get(said.route.channel)?.isStillHeard(said.route, asker) === false
  }
  return {
    ...sender,
    async send(row, signal, begin) {
      if (!isShutOut(row)) return await sender.send(row, signal, begin)
      log.info(
        { delivery: row.id, channel: row.channel, chat: row.chat_id },
        "not sent: who it is for is not let in any more",
      )
      return { kind: "dropped", error: "who it is for is not let in any more" }
    },
  }
}
