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

/** Ids under which results stand in a request, in their order. */
export function resultIdsIn(body: JsonObject, form: Recording["interface"]): Json[] {
  const blocks = () => list(body["messages"]).flatMap(({ content }) => list(content))
  switch (form) {
    case "Chat Completions":
      return list(body["messages"]).flatMap(({ role, tool_call_id: id }) => (role === "tool" ? [id ?? null] : []))
    case "Messages":
      return blocks().flatMap(({ type, tool_use_id: id }) => (type === "tool_result" ? [id ?? null] : []))
    case "Converse":
      return blocks().flatMap(({ toolResult }) => (isJsonObject(toolResult) ? [toolResult["toolUseId"] ?? null] : []))
    case "Responses":
      return list(body["input"]).flatMap(({ type, call_id: id }) =>
        type === "function_call_output" ? [id ?? null] : [],
      )
    case "Gemini":
      return list(body["contents"])
        .flatMap(({ parts }) => list(parts))
        .flatMap(({ functionResponse }) => (isJsonObject(functionResponse) ? [functionResponse["id"] ?? null] : []))
  }
}

/** Ids of the calls in the assistant's part of a request. */
export function callIdsIn(body: JsonObject, form: Recording["interface"]): Json[] {
  const said = assistantIn(body, form)
  switch (form) {
    case "Chat Completions":
      return list(object(said)["tool_calls"]).map(({ id }) => id ?? null)
    case "Messages":
      return list(said).flatMap(({ type, id }) => (type === "tool_use" ? [id ?? null] : []))
    case "Converse":
      return list(said).flatMap(({ toolUse }) => (isJsonObject(toolUse) ? [toolUse["toolUseId"] ?? null] : []))
    case "Responses":
      return list(said).flatMap(({ type, call_id: id }) => (type === "function_call" ? [id ?? null] : []))
    case "Gemini":
      return list(said).flatMap(({ functionCall }) => (isJsonObject(functionCall) ? [functionCall["id"] ?? null] : []))
  }
}
