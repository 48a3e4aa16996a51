// What a turn has written to the outbox so far, and whether a tool of it has answered already.
import type { Route } from "../sessions/route.ts"
import type { OutboxRow, Store } from "../store/index.ts"
import type { ChannelSender } from "./contract.ts"
import { earlyPart } from "./early/record.ts"

export function rowsOf(handle: Pick<Store["handle"], "prepare">, jobId: number): OutboxRow[] {
  return handle.prepare("select * from outbox where job_id = ? order by id").all(jobId) as unknown as OutboxRow[]
}

/** A tool of the turn has written to the chat and thread that its reply would go to. Early parts are the reply itself. */
export function hasAnswered(rows: readonly OutboxRow[], sender: ChannelSender, route: Route): boolean {
  const { isAnswer } = sender
  if (!isAnswer) return false
  return rows.some((row) => {
    if (row.state === "dead" || !isSameChat(row, route) || earlyPart(row)) return false
    return (JSON.parse(row.route) as Route).threadId === route.threadId && isAnswer(row)
  })
}

function isSameChat(row: OutboxRow, { channel, account, chatId }: Route): boolean {
  return row.channel === channel && row.account === account && row.chat_id === chatId
}

/** Models copy the prefix from their own earlier answers: it is not put there twice. A picture alone needs none. */
export function prefixed(text: string, prefix: string): string {
  return prefix === "" || text === "" || text.startsWith(prefix) ? text : `${prefix} ${text}`
}
