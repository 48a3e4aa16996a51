// An update that cannot be read becomes a row that a person can look at, and holds up nothing. The rows are bounded:
// what a broken server sends without end is told of by the newest.
import { createHash } from "node:crypto"
import { describeError } from "../../../kernel/index.ts"
import type { IngestEntry } from "../../../store/index.ts"
import type { BotKey } from "../../store.ts"
import { isUpdate } from "./batch.ts"

/** An update with everything that it answers is smaller. */
const maxBodyChars = 64 * 1024
const maxRows = 1_000

const insert = `insert into unreadable_update (channel, account, bot_id, update_id, received_at, reason, body)
  values (?, ?, ?, ?, ?, ?, ?)`
const trim = "delete from unreadable_update where id <= (select max(id) from unreadable_update) - ?"

/** Its inbox row, so that the same thing is set aside once, with the row for people. */
export function asideEntry(bot: BotKey, update: unknown, reason: string, now: number): IngestEntry {
  const body = textOf(update)
  const updateId = isUpdate(update) ? update.update_id : null
  const digest = createHash("sha256").update(body).digest("hex").slice(0, 32)
  return {
    source: bot.channel,
    account: bot.botId,
    deliveryId: updateId === null ? `unreadable:${digest}` : String(updateId),
    payload: { skipped: "unreadable", error: reason },
    rows: [
      {
        sql: insert,
        values: [bot.channel, bot.account, bot.botId, updateId, now, reason, body.slice(0, maxBodyChars)],
      },
      { sql: trim, values: [maxRows] },
    ],
  }
}

function textOf(update: unknown): string {
  try {
    return JSON.stringify(update) ?? "undefined"
  } catch (error) {
    // Nested more deeply than can be written.
    return describeError(error)
  }
}
