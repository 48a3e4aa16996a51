// Whether an update has the types that the intake reads. What is not read, or not known yet, may be of any shape.
// By the names of fields, which mean the same wherever they stand; kinds of content see to themselves (inbound/content).

/** Of what a date can be made of. */
const latestSeconds = 8.64e12

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === "string"
const isWhole: Check = (value) => Number.isSafeInteger(value)
const isFlag: Check = (value) => typeof value === "boolean"
const isRecord: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value)
const isNamed: Check = (value) => isRecord(value) && isWhole((value as { id?: unknown }).id)
const isChat: Check = (value) => isNamed(value) && isText((value as { type?: unknown }).type)
const isMessage: Check = (value) => {
  const { message_id: id, chat } = (isRecord(value) ? value : {}) as { message_id?: unknown; chat?: unknown }
  return isWhole(id) && isChat(chat)
}
const isTime: Check = (value) => isWhole(value) && Math.abs(value as number) <= latestSeconds
const isSaid: Check = (value) => isMessage(value) && isTime((value as { date?: unknown }).date)
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const isEntity: Check = (value) => {
  const { type, offset, length } = (isRecord(value) ? value : {}) as Record<string, unknown>
  return isText(type) && isWhole(offset) && isWhole(length)
}

const fields: Readonly<Record<string, Check>> = {
  message: isSaid,
  edited_message: isSaid,
  channel_post: isSaid,
  edited_channel_post: isSaid,
  reply_to_message: isMessage,
  callback_query: (value) => isRecord(value) && isText((value as { id?: unknown }).id),
  message_reaction: isMessage,
  my_chat_member: isRecord,
  stopped_message_generation: (value) => isRecord(value) && isWhole((value as { draft_id?: unknown }).draft_id),
  chat: isChat,
  sender_chat: isChat,
  actor_chat: isChat,
  from: isNamed,
  user: isNamed,
  message_id: isWhole,
  message_thread_id: isWhole,
  migrate_to_chat_id: isWhole,
  migrate_from_chat_id: isWhole,
  date: isWhole,
  edit_date: isWhole,
  is_topic_message: isFlag,
  is_forum: isFlag,
  is_bot: isFlag,
  media_group_id: isText,
  text: isText,
  caption: isText,
  data: isText,
  username: isText,
  first_name: isText,
  last_name: isText,
  title: isText,
  file_id: isText,
  file_unique_id: isText,
  mime_type: isText,
  file_name: isText,
  author_signature: isText,
  entities: isListOf(isEntity),
  caption_entities: isListOf(isEntity),
  new_reaction: isListOf(isRecord),
  old_reaction: isListOf(isRecord),
  old_chat_member: isRecord,
  new_chat_member: isRecord,
  photo: (value) => isRecord(value) || isListOf(isRecord)(value),
  document: isRecord,
  video: isRecord,
  sticker: isRecord,
}

/** Messages answer messages, one level; nothing that is read lies deeper. */
const deepest = 8

/** The first field of a wrong type, as a path; undefined when all can be read. */
export function wrongField(update: unknown): string | undefined {
  return isRecord(update) ? wrongBelow(update as object, "", 0) : "the update"
}

/** Looks into the fields of the table only: what else an update holds may use their names for something else. */
function wrongBelow(value: object, path: string, depth: number): string | undefined {
  if (depth > deepest) return undefined
  for (const [key, field] of Object.entries(value)) {
    const check = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined || check === undefined) continue
    const place = path === "" ? key : `${path}.${key}`
    if (!check(field)) return place
    const wrong = isRecord(field) ? wrongBelow(field as object, place, depth + 1) : undefined
    if (wrong !== undefined) return wrong
  }
  return undefined
}
