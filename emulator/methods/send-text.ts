// sendMessage, and the checks of text that editing shares.
import type { MessageEntity } from "grammy/types"
import { badRequest } from "../errors.ts"
import { readFormattedText, type FormattedText } from "../world/formatted-text.ts"
import type { MethodCall, MethodTable } from "./method.ts"
import { readDestination, sendMessage } from "./send-options.ts"

const maxTextCharacters = 4096
export const maxCaptionCharacters = 1024

export const textMethods: MethodTable = {
  sendMessage: (call) => {
    const text = readMessageText(call)
    const destination = readDestination(call, "text messages")
    checkText(text)
    return sendMessage(call, destination, textFields(text))
  },
}

/** Parses the `text` argument; what is wrong with its length is found later, at the chat. */
export function readMessageText(call: MethodCall): FormattedText {
  if (call.arguments.text("text") === "") throw badRequest("Message text is empty")
  return readFormattedText(call.world, call.arguments, { text: "text", entities: "entities" })
}

export function checkText({ text }: FormattedText): void {
  if (text === "") throw badRequest("Text must be non-empty")
  if (characters(text) > maxTextCharacters) throw badRequest("Message is too long")
}

export function readCaption(call: MethodCall): { caption?: string; caption_entities?: MessageEntity[] } {
  const { text, entities } = readFormattedText(call.world, call.arguments, {
    text: "caption",
    entities: "caption_entities",
  })
  if (characters(text) > maxCaptionCharacters) throw badRequest("Message caption is too long")
  return { ...(text === "" ? {} : { caption: text }), ...(entities.length > 0 ? { caption_entities: entities } : {}) }
}

export function textFields({ text, entities }: FormattedText): { text: string; entities?: MessageEntity[] } {
  return { text, ...(entities.length > 0 ? { entities } : {}) }
}

/** Limits count code points, not UTF-16 units. */
export function characters(text: string): number {
  let count = 0
  for (const _character of text) count += 1
  return count
}
