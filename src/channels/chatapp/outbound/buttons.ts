// Buttons below a message. The platform takes 64 bytes a value: longer ones stay here, under a key made of the value
// itself, so that sending the same button again needs no new one.
import { createHash } from "node:crypto"
import type { ReplyButton } from "../../../delivery/contract.ts"
import type { Route } from "../../../sessions/route.ts"
import type { Store } from "../../../store/index.ts"
import type { AccountSettings } from "../settings.ts"

const maxDataBytes = 64
const keyPrefix = "kept:"
/** Buttons of older messages no longer do anything. */
const keepMs = 90 * 24 * 60 * 60 * 1000

export function inlineKeyboard(rows: readonly (readonly ReplyButton[])[]) {
  return {
    inline_keyboard: rows
      .filter((row) => row.length > 0)
      .map((row) =>
        row.map(({ text, data, style }) => ({
          text,
          callback_data: isLong(data) ? keyOf(data) : data,
          ...(style === undefined ? {} : { style }),
        })),
      ),
  }
}

/** Durable before the message is sent. Most keyboards hold nothing long and cost nothing here. */
export async function keepLongValues(store: Store, rows: readonly (readonly ReplyButton[])[]): Promise<void> {
  const long = rows.flat().filter(({ data }) => isLong(data))
  if (long.length === 0) return
  await store.write(async (write) => {
    write.prepare("delete from chat_button where created_at < ?").run(write.now - keepMs)
    const insert = write.prepare(
      `insert into chat_button (key, value, created_at) values (?, ?, ?)
       on conflict (key) do update set created_at = excluded.created_at`,
    )
    for (const { data } of long) insert.run(keyOf(data), data, write.now)
  })
}

/** The value of a button that was touched; undefined when its key is not known any more. */
export function readButtonValue(store: Store, data: string): string | undefined {
  if (!data.startsWith(keyPrefix)) return data
  const row = store.handle.prepare("select value from chat_button where key = ?").get(data)
  return row?.value as string | undefined
}

/** Why buttons may not be used in this chat; undefined when they may. */
export function buttonsRefused({ capabilities }: AccountSettings, chatKind: Route["chatKind"]): string | undefined {
  const scope = capabilities?.inlineButtons ?? "allowlist"
  const isPrivate = chatKind === "private"
  if (scope === "off") return "buttons are switched off (channels.chatapp.capabilities.inlineButtons)"
  if (scope === "dm" && !isPrivate) return "buttons are only for direct chats (capabilities.inlineButtons is dm)"
  if (scope === "group" && isPrivate) return "buttons are only for groups (capabilities.inlineButtons is group)"
  return undefined
}

/** A value that looks like one of our keys is kept too: else it would be taken for one. */
function isLong(data: string): boolean {
  return Buffer.byteLength(data) > maxDataBytes || data.startsWith(keyPrefix)
}

function keyOf(data: string): string {
  return keyPrefix + createHash("sha256").update(data).digest("base64url")
}
