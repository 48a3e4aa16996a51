// The one small request of a check: a few words first, to see them stream, then a call of a tool of the check's own
// beside the real tools of the product, whose schemas are what providers stumble over.
import { type AppError, isJsonObject } from "../../kernel/index.ts"
import type { ModelReply, ModelRequest, ToolSchema } from "../contract.ts"
import { picture } from "./picture.ts"

export interface CheckForm {
  picture: boolean
  tools: boolean
}

/** How the pieces of a reply came. */
export interface Streamed {
  pieces: number
  firstMs: number | null
}

export type Answer =
  /** `refusal`: of the same request with more in it. */
  | { kind: "reply"; reply: ModelReply; form: CheckForm; streamed: Streamed; refusal?: AppError }
  | { kind: "failed"; error: AppError; streamed: Streamed }

const system = "This is a check of the connection. Do exactly what you are asked, and nothing else."
const words = 'First write the words "one two three four five".'

const reportTool: ToolSchema = {
  name: "report",
  description: "Takes the colour that was asked for.",
  inputSchema: {
    type: "object",
    properties: { colour: { type: "string", description: "One English word" } },
    required: ["colour"],
  },
}

export function checkRequest(form: CheckForm, tools: readonly ToolSchema[]): Omit<ModelRequest, "signal"> {
  const colour = form.picture ? "the colour of the picture" : 'the word "none"'
  const task = form.tools
    ? `Then call the tool ${reportTool.name} once, with ${colour} as its colour.`
    : `Then write ${colour}.`
  return {
    system,
    messages: [
      {
        role: "user",
        content: [
          ...(form.picture ? [{ type: "image" as const, ...picture }] : []),
          { type: "text", text: `${words} ${task}` },
        ],
      },
    ],
    tools: form.tools ? [...tools, reportTool] : [],
    usedFor: { purpose: "check" },
  }
}

/** What the reply says of the picture: the reported colour, else its words. Empty when it says nothing. */
export function answerOf({ toolCalls, text }: ModelReply): string {
  const input = toolCalls.find((call) => call.name === reportTool.name)?.input
  const colour = isJsonObject(input) ? input["colour"] : undefined
  return typeof colour === "string" && colour.trim() !== "" ? colour : text.trim()
}
