// sendRichMessage and sendRichMessageDraft: one of markdown, html or blocks, kept as it was sent.
import type { Message } from "grammy/types"
import { badRequest } from "../errors.ts"
import { parseJson } from "../wire/arguments.ts"
import { showDraft } from "./drafts.ts"
import type { MethodCall, MethodTable } from "./method.ts"
import { readDestination, sendMessage } from "./send-options.ts"
import { characters } from "./send-text.ts"

const maxCharacters = 32_768
const maxBlocks = 500

export const richMethods: MethodTable = {
  sendRichMessage: (call) => {
    const content = readRichMessage(call)
    const destination = readDestination(call, "text messages")
    return sendMessage(call, destination, { rich_message: content as NonNullable<Message["rich_message"]> })
  },
  sendRichMessageDraft: (call) => {
    const richMessage = readRichMessage(call)
    return showDraft(call, { text: "", entities: [], richMessage })
  },
}

function readRichMessage({ arguments: source }: MethodCall): object {
  const value = parseJson(source.text("rich_message") || "null", () =>
    badRequest("Can't parse rich message JSON object"),
  )
  if (typeof value !== "object" || value === null) throw badRequest("Rich message must be non-empty")
  const message = value as Record<string, unknown>
  const forms = ["markdown", "html", "blocks"].filter((form) => message[form] !== undefined)
  if (forms.length === 0) throw badRequest("Rich message must be non-empty")
  if (forms.length > 1) throw badRequest("Exactly one of the fields markdown, html and blocks must be specified")
  const content = message[forms[0] ?? ""]
  if (Array.isArray(content)) {
    if (content.length === 0) throw badRequest("Rich message must be non-empty")
    if (content.length > maxBlocks) throw badRequest("RICH_MESSAGE_BLOCKS_TOO_MUCH")
  } else if (typeof content !== "string" || content.trim() === "") throw badRequest("Rich message must be non-empty")
  else if (characters(content) > maxCharacters) throw badRequest("Message is too long")
  return value
}
