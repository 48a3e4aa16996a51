// The agent tool `chatapp`: the same operations as `message`, under the names that the channel's own tool has.
import { z } from "zod"
import type { Tool, ToolContext, ToolResult } from "../../../agent/tool.ts"
import { channelName } from "../settings.ts"
import { id, target } from "./message.ts"
import type { Operations } from "./operations.ts"

const input = z.discriminatedUnion("action", [
  z.object({
    action: z.literal("sendMessage"),
    to: target.describe("Chat id or @name"),
    content: z.string().describe("Text in Markdown"),
    mediaUrl: z.string().optional().describe("http(s) address of a file"),
    replyToMessageId: id.optional(),
    messageThreadId: id.optional(),
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

export function createChatappTool(operations: Operations): Tool<Input> {
  return {
    name: channelName,
    description: "Send a message to, react in, or delete a message of a chat of the chat platform, by its id.",
    input,
    output: "trusted",
    repeatable: () => false,
    run: (given, context) => run(operations, given, context),
  }
}

async function run(operations: Operations, given: Input, context: ToolContext): Promise<ToolResult> {
  switch (given.action) {
    case "sendMessage":
      return await operations.send(
        {
          to: given.to,
          threadId: given.messageThreadId,
          text: given.content,
          media: given.mediaUrl,
          replyTo: given.replyToMessageId,
        },
        context,
      )
    case "react":
      return await operations.react({ to: given.chatId, messageId: given.messageId, emoji: given.emoji }, context)
    case "deleteMessage":
      return await operations.remove({ to: given.chatId, messageId: given.messageId }, context)
  }
}
