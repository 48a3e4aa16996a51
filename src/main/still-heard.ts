// Who is shut out loses what waits: a turn or a command of a chat runs only while whoever asked for it may still be heard
// there, with no less standing than when it was taken in. Asked when a lane comes to it, so that pairing, lists and
// policies count as they are then, whatever has changed them.
import type { Asker, TurnInput } from "../agent/turn-input.ts"
import type { Channel } from "../channels/contract.ts"
import type { CommandCall } from "../channels/index.ts"
import type { Log } from "../kernel/index.ts"
import type { Route } from "../sessions/index.ts"
import type { JobHandler } from "../store/index.ts"

type Said = Pick<TurnInput, "route" | "askedBy"> | Pick<CommandCall, "route" | "sender">

/** Asked of what is taken into another turn, too. */
export function isStillHeard(channels: ReadonlyMap<string, Channel>, { route, askedBy }: TurnInput): boolean {
  if (!route || !askedBy) return true
  return channels.get(route.channel)?.isStillHeard(route, askedBy) !== false
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
