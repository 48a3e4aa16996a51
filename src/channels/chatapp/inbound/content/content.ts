// What a message says, as text for the agent, and the files that come with it.
import type { Message } from "grammy/types"
import { hasMark } from "../../../../agent/prompt.ts"
import { type RemoteFile, filesOf } from "./files.ts"
import { describeKind } from "./kinds.ts"
import { withLinks } from "./links.ts"

export interface Content {
  text: string
  files: RemoteFile[]
  /** It is written text and nothing else: what may be joined to more of the same. */
  isPlainText: boolean
  /** Values stand in it that the sender has not typed. */
  hasNames: boolean
}

/** Undefined for service messages (a pinned message, a new topic): nobody said anything. */
export function contentOf(message: Message): Content | undefined {
  const text = messageText(message)
  if (text === undefined) return undefined
  return { text, files: filesOf(message), isPlainText: message.text !== undefined, hasNames: hasNames(message) }
}

/** Of a message, also of one that is referred to. */
export function hasNames(message: Partial<Message>): boolean {
  return message.text === undefined && hasMark(describeKind(message) ?? "")
}

/** The words alone, with a placeholder for what is no text. */
export function messageText(message: Partial<Message>): string | undefined {
  if (message.text !== undefined) return withLinks(message.text, message.entities)
  const caption = message.caption === undefined ? undefined : withLinks(message.caption, message.caption_entities)
  const said = [describeKind(message), caption].filter((words) => words !== undefined)
  if (said.length > 0) return said.join("\n")
  const unknown = unknownKind(message)
  return unknown === undefined ? undefined : `<${unknown}>`
}

/** What every message has, and what says something about it and not in it. */
const common = new Set(
  `message_id message_thread_id from sender_chat date guest_query_id business_connection_id chat is_topic_message
  direct_messages_topic sender_tag receiver_user ephemeral_message_id sender_boost_count sender_business_bot
  forward_origin is_automatic_forward reply_to_message reply_to_checklist_task_id reply_to_poll_option_id is_paid_post
  external_reply quote reply_to_story via_bot guest_bot_caller_user guest_bot_caller_chat edit_date
  has_protected_content show_caption_above_media is_from_offline author_signature link_preview_options effect_id
  paid_star_count reply_markup media_group_id has_media_spoiler entities caption_entities origin
  forward_from forward_from_chat forward_from_message_id forward_signature forward_sender_name forward_date`.split(
    /\s+/,
  ),
)

/** Messages that tell what happened to a chat; nobody speaks in them. */
const service =
  /^(?:new_chat_|left_chat_|delete_chat_|group_chat_|supergroup_chat_|channel_chat_|chat_owner_|chat_background_|community_chat_|migrate_|pinned_message|forum_topic_|general_forum_topic_|video_chat_|message_auto_delete_|checklist_tasks_|suggested_post_|poll_option_|managed_bot_|giveaway_created|giveaway_completed|gift|unique_gift|paid_message_price_|direct_message_price_|successful_payment|refunded_payment|connected_website|write_access_allowed|passport_data|proximity_alert_|boost_added)/

/** A kind that this program does not know yet. */
function unknownKind(message: Partial<Message>): string | undefined {
  const keys = Object.keys(message).filter((key) => !common.has(key) && /^[a-z][a-z0-9_]{0,40}$/.test(key))
  return keys.some((key) => service.test(key)) ? undefined : keys[0]
}
