// The `reply_markup` argument: inline keyboards and reply keyboards, checked as the platform checks them.
import type { InlineKeyboardMarkup } from "grammy/types"
import { badRequest } from "../errors.ts"
import type { Arguments } from "../wire/arguments.ts"
import { parseJson } from "../wire/arguments.ts"
import type { Room } from "../world/room.ts"

const maxCallbackDataBytes = 64
const styles = new Set(["danger", "success", "primary", "link"])
/** What makes a button of an inline keyboard do something. */
const buttonTypes = [
  "callback_data",
  "url",
  "login_url",
  "web_app",
  "switch_inline_query",
  "switch_inline_query_current_chat",
  "switch_inline_query_chosen_chat",
  "copy_text",
  "callback_game",
  "pay",
  "disabled",
]

export interface ReplyMarkup {
  /** An inline keyboard becomes part of the message; reply keyboards are checked and shown to nobody. */
  keyboard: InlineKeyboardMarkup | undefined
  /** What the platform finds wrong only when it sends to this chat. */
  checkFor(room: Room): void
}

/** Reads the form of the argument, which the platform does before it looks at the chat. */
export function readReplyMarkup(source: Arguments): ReplyMarkup {
  const json = source.text("reply_markup")
  const none = { keyboard: undefined, checkFor: () => undefined }
  if (json === "") return none
  const value = parseJson(json, () => badRequest("Can't parse reply keyboard markup JSON object"))
  if (value === null) return none
  if (!isObject(value)) throw badRequest("Object expected as reply markup")
  if ("keyboard" in value) {
    const buttons = readRows(value["keyboard"], "keyboard", "ReplyKeyboardMarkup", readKeyboardButton).flat()
    return { keyboard: undefined, checkFor: (room) => buttons.forEach((button) => checkKeyboardButton(button, room)) }
  }
  if (!("inline_keyboard" in value)) return none
  const rows = readRows(value["inline_keyboard"], "inline_keyboard", "InlineKeyboardMarkup", readInlineButton)
  const filled = rows.filter((row) => row.length > 0)
  const markup = { inline_keyboard: filled } as unknown as InlineKeyboardMarkup
  return {
    keyboard: filled.length === 0 ? undefined : markup,
    checkFor: () => filled.flat().forEach(checkInlineButton),
  }
}

function readRows(value: unknown, field: string, type: string, read: (button: unknown) => Button): Button[][] {
  if (!Array.isArray(value)) throw badRequest(`Field "${field}" of the ${type} must be an Array`)
  return value.map((row) => {
    if (!Array.isArray(row)) throw badRequest(`Field "${field}" of the ${type} must be an Array of Arrays`)
    return row.map(read)
  })
}

type Button = Record<string, unknown>

function readInlineButton(button: unknown): Button {
  const fail = (message: string) => badRequest(`Can't parse inline keyboard button: ${message}`)
  if (!isObject(button)) throw fail("InlineKeyboardButton must be an Object")
  const { text, callback_data: data, style } = button
  if (text === undefined) throw fail('Can\'t find field "text"')
  if (typeof text !== "string") throw fail('Field "text" must be of type String')
  if (data !== undefined && typeof data !== "string") throw fail('Field "callback_data" must be of type String')
  const isStyled = style === undefined || (typeof style === "string" && styles.has(style))
  if (!isStyled) throw fail("Invalid button style specified")
  const doesSomething = (type: string) => button[type] !== undefined && !(canBeEmpty.has(type) && button[type] === "")
  if (!buttonTypes.some(doesSomething)) throw fail("Text buttons are unallowed in the inline keyboard")
  return button
}

/** An empty text in these counts as if the field were not there. */
const canBeEmpty = new Set(["callback_data", "url"])

function checkInlineButton({ text, callback_data: data }: Button): void {
  if (String(text).trim() === "") throw badRequest("Inline keyboard button text must be non-empty")
  if (typeof data === "string" && Buffer.byteLength(data) > maxCallbackDataBytes)
    throw badRequest("BUTTON_DATA_INVALID")
}

function readKeyboardButton(button: unknown): Button {
  const fail = (message: string) => badRequest(`Can't parse keyboard button: ${message}`)
  if (typeof button === "string") return { text: button }
  if (!isObject(button)) throw fail("KeyboardButton must be a String or an Object")
  if (button["text"] === undefined) throw fail('Can\'t find field "text"')
  if (typeof button["text"] !== "string") throw fail('Field "text" must be of type String')
  return button
}

function checkKeyboardButton(button: Button, room: Room): void {
  if (button["web_app"] === undefined || room.kind() === "private") return
  throw badRequest("Web App buttons can be used in private chats only")
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
