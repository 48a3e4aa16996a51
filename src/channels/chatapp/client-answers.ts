// What an answer must hold to count as one, by method: the fields that are read. An answer that says `ok` and holds
// something else is no success; whether the call was carried out is then not known.
import type { Method } from "./method.ts"

type Check = (result: unknown) => boolean

const isTrue: Check = (result) => result === true
const isText: Check = (value) => typeof value === "string"
const isWhole: Check = (value) => Number.isSafeInteger(value)
const orNothing =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)

function record(fields: Readonly<Record<string, Check>>): Check {
  return (result) => {
    if (typeof result !== "object" || result === null || Array.isArray(result)) return false
    return Object.entries(fields).every(([name, check]) => check((result as Record<string, unknown>)[name]))
  }
}

const isMessage = record({ message_id: (id) => isWhole(id) && (id as number) > 0 })

const checks: Readonly<Record<Method, Check>> = {
  getMe: record({ username: isText, has_topics_enabled: orNothing((value) => typeof value === "boolean") }),
  getWebhookInfo: record({
    url: isText,
    pending_update_count: orNothing(isWhole),
    last_error_date: orNothing(isWhole),
    last_error_message: orNothing(isText),
    allowed_updates: orNothing((value) => Array.isArray(value) && value.every(isText)),
  }),
  getChat: record({ username: orNothing(isText) }),
  getChatMember: record({ status: isText }),
  getFile: record({ file_path: orNothing(isText), file_size: orNothing(isWhole) }),
  // Each of the updates is looked at by itself.
  getUpdates: Array.isArray,
  setWebhook: isTrue,
  deleteWebhook: isTrue,
  sendMessage: isMessage,
  sendPhoto: isMessage,
  sendDocument: isMessage,
  sendVideo: isMessage,
  sendAnimation: isMessage,
  sendAudio: isMessage,
  sendVoice: isMessage,
  sendSticker: isMessage,
  sendMediaGroup: (result) => Array.isArray(result) && result.length > 0 && result.every(isMessage),
  editMessageText: (result) => result === true || isMessage(result),
  editMessageCaption: (result) => result === true || isMessage(result),
  deleteMessage: isTrue,
  setMessageReaction: isTrue,
  sendMessageDraft: isTrue,
  sendChatAction: isTrue,
  answerCallbackQuery: isTrue,
  setMyCommands: isTrue,
  deleteMyCommands: isTrue,
}

export function isAnswerOf(method: Method, result: unknown): boolean {
  return checks[method](result)
}
