// Buttons below a message. The platform takes 64 bytes a value: longer ones stay here, under a key made of the value
// itself, so that sending the same button again needs no new one. Commands of ours always stay here, under keys of their
// own, so that no value that somebody else has chosen can pass for one; so do values that we handle ourselves.
import { createHash } from "node:crypto"
import type { ButtonHandler, ReplyButton } from "../../../delivery/contract.ts"
import type { Route } from "../../../sessions/route.ts"
import { type OutboxRow, type Provenance, type Store, provenanceOf } from "../../../store/index.ts"
import type { AccountSettings } from "../settings.ts"

const maxDataBytes = 64
const keyPrefix = "kept:"
const commandPrefix = "run:"
/** One for each handler. */
const handlerPrefixes: Record<ButtonHandler, string> = { resend: "resend:" }
const ownPrefixes = [keyPrefix, commandPrefix, ...Object.values(handlerPrefixes)]

export function inlineKeyboard(rows: readonly (readonly ReplyButton[])[]) {
  return {
    inline_keyboard: rows
      .filter((row) => row.length > 0)
      .map((row) =>
        row.map((button) => ({
          text: button.text,
          callback_data: isKept(button) ? keyOf(button) : button.data,
          ...(button.style === undefined ? {} : { style: button.style }),
        })),
      ),
  }
}

/**
 * Durable before the message is sent. Most keyboards hold nothing long and cost nothing here. A value that several turns
 * have made is that of the least trusted.
 */
export async function keepLongValues(
  store: Store,
  rows: readonly (readonly ReplyButton[])[],
  maker: Pick<OutboxRow, "job_id" | "origin" | "trusted">,
): Promise<void> {
  const kept = rows.flat().filter(isKept)
  if (kept.length === 0) return
  await store.write(async (write) => {
    const insert = write.prepare(
      `insert into chat_button (key, value, created_at, origin, trusted, run_id)
       values (?, ?, ?, ?, ?, (select run_id from job where id = ?))
       on conflict (key) do update set created_at = excluded.created_at,
         origin = iif(trusted = 0, origin, excluded.origin), run_id = iif(trusted = 0, run_id, excluded.run_id),
         trusted = iif(trusted = 0, 0, excluded.trusted)`,
    )
    for (const button of kept) {
      insert.run(keyOf(button), button.data, write.now, maker.origin, maker.trusted, maker.job_id)
    }
  })
}

export interface ButtonValue {
  value: string
  /** It is a command of ours. */
  runs: boolean
  /** Whose words the turn held that made it, where it is kept with its value. */
  madeBy?: Provenance
  /** Who of us handles it. */
  handler?: ButtonHandler
}

/** What a button that was touched stands for; undefined when its key is not known any more. */
export function readButtonValue(store: Store, data: string): ButtonValue | undefined {
  if (!isOwnKey(data)) return { value: data, runs: false }
  const row = store.handle.prepare("select value, origin, trusted from chat_button where key = ?").get(data) as
    | { value: string; origin: string | null; trusted: number | null }
    | undefined
  if (!row) return undefined
  const madeBy = provenanceOf(row)
  const [handler] = Object.entries(handlerPrefixes).find(([, prefix]) => data.startsWith(prefix)) ?? []
  return {
    value: row.value,
    runs: data.startsWith(commandPrefix),
    ...(madeBy ? { madeBy } : {}),
    ...(handler === undefined ? {} : { handler: handler as ButtonHandler }),
  }
}

/** Why buttons may not be used in this chat; undefined when they may. */
export function buttonsRefused({ capabilities }: AccountSettings, chatKind: Route["chatKind"]): string | undefined {
  const scope = capabilities.inlineButtons
  const isPrivate = chatKind === "private"
  if (scope === "off") return "buttons are switched off (channels.chatapp.capabilities.inlineButtons)"
  if (scope === "dm" && !isPrivate) return "buttons are only for direct chats (capabilities.inlineButtons is dm)"
  if (scope === "group" && isPrivate) return "buttons are only for groups (capabilities.inlineButtons is group)"
  return undefined
}

/** A value that looks like one of our keys is kept too: else it would be taken for one. */
function isKept({ data, runs, handler }: ReplyButton): boolean {
  if (runs || handler !== undefined || Buffer.byteLength(data) > maxDataBytes) return true
  return isOwnKey(data)
}

function isOwnKey(data: string): boolean {
  return ownPrefixes.some((prefix) => data.startsWith(prefix))
}

function keyOf({ data, runs, handler }: ReplyButton): string {
  const prefix = handler === undefined ? (runs ? commandPrefix : keyPrefix) : handlerPrefixes[handler]
  return prefix + createHash("sha256").update(data).digest("base64url")
}
