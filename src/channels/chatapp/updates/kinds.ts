// Which kinds of updates the platform is asked for, by polls and by webhook alike.

/**
 * The platform's default set and reactions, written out: reactions are not in the default set, and naming one kind
 * means naming all. The platform remembers the list, so it is sent wherever it may differ. Kinds that this gateway does
 * not use yet are recorded as seen.
 */
export const allowedUpdates = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "business_connection",
  "business_message",
  "edited_business_message",
  "deleted_business_messages",
  "inline_query",
  "chosen_inline_result",
  "callback_query",
  "shipping_query",
  "pre_checkout_query",
  "purchased_paid_media",
  "poll",
  "poll_answer",
  "my_chat_member",
  "chat_join_request",
  "chat_boost",
  "removed_chat_boost",
  "guest_message",
  "managed_bot",
  "subscription",
  "stopped_message_generation",
  "message_reaction",
] as const
