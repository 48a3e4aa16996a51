// What a test says to a model and puts back to it, and where each interface has its parts of that in a request.
import { isJsonObject, type Json, type JsonObject } from "../../../src/kernel/index.ts"
import type { ModelMessage, ModelReply, ToolSchema } from "../../../src/models/index.ts"
import type { Recording } from "./recording.ts"

const tool = (name: string, properties: JsonObject): ToolSchema => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object", properties },
})

export const tools: ToolSchema[] = [
  tool("get_weather", { city: { type: "string" }, days: { type: "integer" } }),
  tool("send_note", { text: { type: "string" }, to: { type: "array", items: { type: "string" } } }),
  tool("list_notes", {}),
]

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] })

export const question: ModelMessage[] = [user("What is the weather?")]

/** The reply as the agent keeps it, with a result for each call, or with another question. */
export function followUp({ text, toolCalls, replay }: ModelReply): ModelMessage[] {
  const results = toolCalls.map((call, index) => ({
    callId: call.id,
    toolName: call.name,
    content: [{ type: "text" as const, text: `result ${index + 1}` }],
    isError: false,
  }))
  const next: ModelMessage = results.length > 0 ? { role: "tool", results } : user("And tomorrow?")
  return [...question, { role: "assistant", text, toolCalls, ...(replay ? { replay } : {}) }, next]
}

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : [])
const object = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

function withoutMark(block: JsonObject): JsonObject {
  const { cache_control: _mark, ...rest } = block
  return rest
}

/** The assistant's part of a request, in the interface's own form, without marks for caches. */
export function assistantIn(body: JsonObject, form: Recording["interface"]): Json {
  switch (form) {
    case "Chat Completions":
      return list(body["messages"]).find(({ role }) => role === "assistant") ?? null
    case "Messages":
    case "Converse": {
      const said = list(body["messages"]).find(({ role }) => role === "assistant")
      return list(said?.["content"]).map(withoutMark)
    }
    case "Responses":
      return list(body["input"]).filter(
        ({ role, type }) => (role === undefined || role === "assistant") && type !== "function_call_output",
      )
    case "Gemini":
      return list(body["contents"]).find(({ role }) => role === "model")?.["parts"] ?? null
  }
}

/** The conversation of a request in any form, without marks for caches and what they make of a text. */
export function messagesIn(body: JsonObject): JsonObject[] {
  return list(body["messages"] ?? body["input"] ?? body["contents"]).map((message) => object(unmarked(message)))
}

function unmarked(value: Json): Json {
  if (Array.isArray(value)) {
    const kept = value.filter((each) => !isCachePoint(each)).map(unmarked)
    const [only] = kept
    // A text that bears a mark is a part of the content, else the content itself.
    return kept.length === 1 && isJsonObject(only) && only["type"] === "text" ? (only["text"] ?? "") : kept
  }
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(withoutMark(value)).map(([name, each]) => [name, unmarked(each)]))
}

const isCachePoint = (value: Json) => isJsonObject(value) && value["cachePoint"] !== undefined

/** Everything in a request that stands under one of the names, in its order. */
function findAll(value: Json, found: (holder: JsonObject) => Json | undefined): Json[] {
  if (Array.isArray(value)) return value.flatMap((each) => findAll(each, found))
  if (!isJsonObject(value)) return []
  const here = found(value)
  return [...(here === undefined ? [] : [here]), ...Object.values(value).flatMap((each) => findAll(each, found))]
}

/** Ids of all calls, in whatever interface. Gemini on Vertex has none. */
export function everyCallIdIn(body: JsonObject): Json[] {
  return findAll(messagesIn(body), (holder) => {
    const { type, id, call_id: callId, toolUse, functionCall } = holder
    if (type === "function_call") return callId
    if (type === "function" || type === "tool_use") return id
    return object(toolUse)["toolUseId"] ?? object(functionCall)["id"]
  })
}

/** Ids under which all results stand. */
export function everyResultIdIn(body: JsonObject): Json[] {
  return findAll(messagesIn(body), (holder) => {
    const { type, call_id: callId, tool_call_id: chatId, tool_use_id: useId, toolResult, functionResponse } = holder
    if (type === "function_call_output") return callId
    return chatId ?? useId ?? object(toolResult)["toolUseId"] ?? object(functionResponse)["id"]
  })
}
