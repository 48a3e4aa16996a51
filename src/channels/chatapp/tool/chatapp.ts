// The agent tool `chatapp`: the same operations as `message`, under the names that the channel's own tool has.
import { z } from "zod"
import type { Tool } from "../../../agent/tool.ts"
import { channelName } from "../settings.ts"
import type { Deed } from "../../shared/tool/deed.ts"
import { type Forms, id, orBlank, schemaFor, target } from "../../shared/tool/fields.ts"
import { type Gate, type GateSettings, openActions } from "./gates.ts"
import type { Operations } from "./operations.ts"

const input = z.discriminatedUnion("action", [
  z.object({
    action: z.literal("sendMessage"),
    to: target.describe("Chat id or @name"),
    content: z.string().describe("Text in Markdown"),
    mediaUrl: orBlank(z.string()).describe("http(s) address of a file"),
    replyToMessageId: orBlank(id),
    messageThreadId: orBlank(id),
  }),
  z.object({
    action: z.literal("react"),
    chatId: target,
    messageId: id,
    emoji: z.string().describe("Empty takes the reaction away"),
  }),
  z.object({ action: z.literal("deleteMessage"), chatId: target, messageId: id }),
])

type Input = z.infer<typeof input>
type Action = Input["action"]

const gates: Record<Action, Gate> = {
  sendMessage: "sendMessage",
  react: "reactions",
  deleteMessage: "deleteMessage",
}
const forms: Forms<Action> = {
  sendMessage: { needs: ["to", "content"], takes: ["mediaUrl", "replyToMessageId", "messageThreadId"] },
  react: { needs: ["chatId", "messageId", "emoji"], takes: [] },
  deleteMessage: { needs: ["chatId", "messageId"], takes: [] },
}

/** With the actions that are switched on; undefined when none is. */
export function createChatappTool(operations: Operations, settings: GateSettings): Tool<Input> | undefined {
  const open = openActions(settings, gates)
  if (open.length === 0) return undefined
  const needs = open.map((action) => `${action} (${forms[action].needs.join(", ")})`).join(", ")
  return {
    name: channelName,
    description: `Acts in a chat of the chat platform by its id: ${needs}.`,
    input,
    inputSchema: schemaFor(input, forms, open),
    output: "trusted",
    repeatable: () => false,
    gate: (given, context) => operations.gate(deedOf(given), context),
    describe: (given, context) => operations.describe(deedOf(given), context),
    run: (given, context) => operations.do(deedOf(given), context),
  }
}

function deedOf(given: Input): Deed {
  switch (given.action) {
    case "sendMessage": {
      const { to, messageThreadId: threadId, content: text, mediaUrl: media, replyToMessageId: replyTo } = given
      return { kind: "send", input: { to, threadId, text, media, replyTo } }
    }
    case "react":
      return { kind: "react", input: { to: given.chatId, messageId: given.messageId, emoji: given.emoji } }
    case "deleteMessage":
      return { kind: "delete", input: { to: given.chatId, messageId: given.messageId } }
  }
}
