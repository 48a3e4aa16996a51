// The kinds of updates, which of them a bot gets unless it asks for others, and how long each is kept.

export const updateKinds = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "business_connection",
  "business_message",
  "edited_business_message",
  "deleted_business_messages",
  "guest_message",
  "stopped_message_generation",
  "message_reaction",
  "message_reaction_count",
  "inline_query",
  "chosen_inline_result",
  "callback_query",
  "shipping_query",
  "pre_checkout_query",
  "purchased_paid_media",
  "poll",
  "poll_answer",
  "my_chat_member",
  "chat_member",
  "chat_join_request",
  "chat_boost",
  "removed_chat_boost",
  "managed_bot",
  "subscription",
] as const

export type UpdateKind = (typeof updateKinds)[number]

const onRequestOnly: ReadonlySet<string> = new Set(["chat_member", "message_reaction", "message_reaction_count"])
const queryKinds: ReadonlySet<string> = new Set(["callback_query", "shipping_query", "pre_checkout_query"])

export function defaultKinds(): Set<string> {
  return new Set(updateKinds.filter((kind) => !onRequestOnly.has(kind)))
}

/** Queries wait for an answer on somebody's screen, so they are worthless after 150 seconds; the rest is kept a day. */
export function lifetimeMs(kind: string): number {
  return queryKinds.has(kind) ? 150_000 : 24 * 60 * 60 * 1000
}
