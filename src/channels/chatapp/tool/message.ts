// The agent tool `message`: send, edit, delete and react in a chat, find and send stickers.
import { z } from "zod"
import type { Tool, ToolContext, ToolResult } from "../../../agent/tool.ts"
import { AppError } from "../../../kernel/index.ts"
import { type AccountSettings, channelName } from "../settings.ts"
import type { Operations } from "./operations.ts"

export const id = z.union([z.string().regex(/^\d{1,16}$/, "must be a number"), z.int().positive()]).transform(String)
export const target = z.union([z.string(), z.int()]).transform(String)

const button = z.object({
  text: z.string().trim().min(1).max(256).describe("What the button says"),
  callback_data: z.string().min(1).max(4096).describe("What comes back as `callback_data: <value>` when it is touched"),
  style: z.enum(["danger", "success", "primary"]).optional(),
})

const input = z.object({
  action: z.enum(["send", "edit", "delete", "react", "sticker", "sticker-search"]),
  channel: z.literal(channelName).optional(),
  to: target.optional().describe("Chat id or @name; leave out for the chat of this conversation"),
  message: z.string().optional().describe("Text in Markdown (send, edit)"),
  media: z.string().optional().describe("http(s) address, or path of a file that a tool has made (send)"),
  asVoice: z.boolean().optional().describe("Send an OGG, MP3 or M4A file as voice message"),
  silent: z.boolean().optional().describe("Without a notification"),
  replyTo: id.optional().describe("Id of the message to refer to"),
  quoteText: z.string().max(1024).optional().describe("Words of that message to show"),
  threadId: id.optional().describe("Topic"),
  buttons: z.array(z.array(button).max(8)).max(20).optional().describe("Rows of buttons; [] in an edit removes them"),
  messageId: id.optional().describe("Message to edit, delete or react to"),
  emoji: z.string().optional().describe("Reaction; empty takes it away"),
  fileId: z.string().min(1).max(512).optional().describe("Which sticker to send, from sticker-search (sticker)"),
  query: z.string().max(500).optional().describe("What the sticker shows, or an emoji (sticker-search)"),
  limit: z.int().min(1).max(50).optional().describe("Stickers at most, 5 unless said (sticker-search)"),
  remove: z.boolean().optional().describe("Takes the reaction away"),
})

/** Stickers that a search gives when no limit is said. */
const usualStickers = 5

type Input = z.infer<typeof input>
type ReactionLevel = AccountSettings["reactionLevel"]

const purpose =
  "Send, edit, delete or react to messages in a chat. Your reply reaches the chat of this conversation by itself: use this only for files from the web, buttons, reactions, or another chat. After sending to this conversation your reply is not sent as well."

const manners: Record<ReactionLevel, string> = {
  off: "Reactions are switched off.",
  ack: "Reactions are switched off.",
  minimal: "React rarely: only where a reaction says more than words.",
  extensive: "React freely, wherever a person would.",
}

export function createMessageTool(operations: Operations, reactionLevel: () => ReactionLevel): Tool<Input> {
  return {
    name: "message",
    get description() {
      return `${purpose} ${manners[reactionLevel()]}`
    },
    input,
    output: "trusted",
    // A send that a crash has cut may have happened; made again with the same content it is found and not repeated.
    repeatable: () => false,
    run: (given, context) => run(operations, given, context),
  }
}

async function run(operations: Operations, given: Input, context: ToolContext): Promise<ToolResult> {
  const { action, to, threadId, message: text = "", media, asVoice, silent, replyTo, quoteText: quote } = given
  const place = { to, threadId }
  const buttons = given.buttons?.map((row) =>
    row.map(({ text: label, callback_data: data, style }) =>
      style === undefined ? { text: label, data } : { text: label, data, style },
    ),
  )
  if (action === "send") {
    return await operations.send({ ...place, text, media, asVoice, silent, replyTo, quote, buttons }, context)
  }
  if (action === "sticker") {
    const fileId = required("fileId", given.fileId)
    return await operations.sticker({ ...place, fileId, replyTo, silent }, context)
  }
  if (action === "sticker-search") {
    const query = required("query", given.query?.trim() || undefined)
    return await operations.searchStickers({ query, limit: given.limit ?? usualStickers }, context)
  }
  const messageId = required("messageId", given.messageId)
  if (action === "edit") return await operations.edit({ ...place, messageId, text, buttons }, context)
  if (action === "delete") return await operations.remove({ ...place, messageId }, context)
  return await operations.react({ ...place, messageId, emoji: given.emoji ?? "", remove: given.remove }, context)
}

function required(name: string, value: string | undefined): string {
  if (value === undefined) throw new AppError("bad-request", `${name} is missing`)
  return value
}
