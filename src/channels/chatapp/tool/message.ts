// The agent tool `message`: send, edit, delete and react in a chat, find and send stickers.
import { z } from "zod"
import type { Tool, ToolContext, ToolResult } from "../../../agent/tool.ts"
import { channelName } from "../settings.ts"
import type { Deed } from "../../shared/tool/deed.ts"
import { type Forms, id, orBlank, requireFields, schemaFor, target } from "../../shared/tool/fields.ts"
import { type Gate, type GateSettings, openActions } from "./gates.ts"
import type { Operations } from "./operations.ts"

const button = z.object({
  text: z.string().trim().min(1).max(256).describe("What the button says"),
  callback_data: z.string().min(1).max(4096).describe("Comes back as `callback_data: <value>` when it is touched"),
  style: z.enum(["danger", "success", "primary"]).optional(),
})

const gates = {
  send: "sendMessage",
  edit: "editMessage",
  delete: "deleteMessage",
  react: "reactions",
  sticker: "sticker",
  "sticker-search": "sticker",
} as const satisfies Record<string, Gate>
type Action = keyof typeof gates
const actions = Object.keys(gates) as Action[]

const place = ["channel", "to", "threadId"]
const forms: Forms<Action> = {
  send: { needs: [], takes: [...place, "message", "media", "asVoice", "silent", "replyTo", "quoteText", "buttons"] },
  edit: { needs: ["messageId", "message"], takes: [...place, "buttons"] },
  delete: { needs: ["messageId"], takes: place },
  react: { needs: ["messageId"], takes: [...place, "emoji", "remove"] },
  sticker: { needs: ["fileId"], takes: [...place, "replyTo", "silent"] },
  "sticker-search": { needs: ["query"], takes: ["channel", "limit"] },
}

const input = z
  .object({
    action: z.enum(actions),
    channel: z.literal(channelName).optional(),
    to: orBlank(target).describe("Chat id or @name; leave out for the chat of this conversation"),
    message: z.string().optional().describe("Text in Markdown (send, edit)"),
    media: orBlank(z.string()).describe("http(s) address, or path of a file that a tool has made (send)"),
    asVoice: z.boolean().optional().describe("Send an OGG, MP3 or M4A file as voice message"),
    silent: z.boolean().optional().describe("Without a notification"),
    replyTo: orBlank(id).describe("Id of the message to refer to"),
    quoteText: orBlank(z.string().max(1024)).describe("Words of that message to show"),
    threadId: orBlank(id).describe("Topic"),
    buttons: z.array(z.array(button).max(8)).max(20).optional().describe("Rows of buttons; [] in an edit removes them"),
    messageId: orBlank(id).describe("Message to edit, delete or react to"),
    emoji: z.string().optional().describe("Reaction; empty takes it away"),
    fileId: orBlank(z.string().max(512)).describe("Which sticker to send, from sticker-search (sticker)"),
    query: orBlank(z.string().trim().min(1).max(500)).describe("What the sticker shows, or an emoji (sticker-search)"),
    limit: z.int().min(1).optional().describe("Stickers at most: 5 unless said, never more than 50 (sticker-search)"),
    remove: z.boolean().optional().describe("Takes the reaction away"),
  })
  .superRefine(requireFields(forms))
  .superRefine(({ action, message, media, emoji, remove }, context) => {
    const missing = (name: string, otherwise: string) =>
      context.addIssue({ code: "custom", path: [name], message: `is missing (or ${otherwise})` })
    if (action === "send" && message === undefined && media === undefined) missing("message", "media")
    if (action === "react" && emoji === undefined && remove !== true) missing("emoji", "remove: true")
  })

/** Stickers that a search gives when no limit is said. */
const usualStickers = 5
const mostStickers = 50

type Input = z.infer<typeof input>

const purpose =
  "Your reply reaches the chat of this conversation by itself: use this only for files from the web, buttons, reactions, or another chat. After sending to this conversation your reply is not sent as well."

const manners = {
  minimal: " React rarely: only where a reaction says more than words.",
  extensive: " React freely, wherever a person would.",
  off: "",
  ack: "",
}

/** With the actions that are switched on; undefined when none is. */
export function createMessageTool(operations: Operations, settings: GateSettings): Tool<Input> | undefined {
  const open = openActions(settings, gates)
  if (open.length === 0) return undefined
  return {
    name: "message",
    description: `Acts in a chat (${open.join(", ")}). ${purpose}${open.includes("react") ? manners[settings.reactionLevel] : ""}`,
    input,
    inputSchema: schemaFor(input, forms, open),
    output: "trusted",
    // A send that a crash has cut may have happened; made again with the same content it is found and not repeated.
    repeatable: () => false,
    gate: (given, context) => (given.action === "sticker-search" ? undefined : operations.gate(deedOf(given), context)),
    describe: (given, context) =>
      given.action === "sticker-search"
        ? { actions: [given.action], sites: [], summary: "Search for stickers", action: { query: given.query ?? "" } }
        : operations.describe(deedOf(given), context),
    run: (given, context) => run(operations, given, context),
  }
}

async function run(operations: Operations, given: Input, context: ToolContext): Promise<ToolResult> {
  if (given.action !== "sticker-search") return await operations.do(deedOf(given), context)
  const { query = "", limit = usualStickers } = given
  return await operations.searchStickers({ query, limit: Math.min(limit, mostStickers) }, context)
}

function deedOf(given: Input): Deed {
  const { to, threadId, message: text = "", media, asVoice, silent, replyTo, quoteText: quote } = given
  const where = { to, threadId }
  const buttons = given.buttons?.map((row) =>
    row.map(({ text: label, callback_data: data, style }) =>
      style === undefined ? { text: label, data } : { text: label, data, style },
    ),
  )
  // The input has been looked at: what an action needs is there.
  const { messageId = "", fileId = "", emoji = "" } = given
  switch (given.action) {
    case "edit":
      return { kind: "edit", input: { ...where, messageId, text, buttons } }
    case "delete":
      return { kind: "delete", input: { ...where, messageId } }
    case "react":
      return { kind: "react", input: { ...where, messageId, emoji, remove: given.remove } }
    case "sticker":
      return { kind: "sticker", input: { ...where, fileId, replyTo, silent } }
    case "send":
    case "sticker-search":
      return { kind: "send", input: { ...where, text, media, asVoice, silent, replyTo, quote, buttons } }
  }
}
