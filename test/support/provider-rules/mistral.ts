// Mistral: strict about fields, ids and the order of roles. Texts from the issues at each rule and from its own
// checker of conversations (mistralai/mistral-common, "validator").
import type { Json, JsonObject } from "../../../src/kernel/index.ts"
import { callIds, callsOf, hasMessages, messagesOf, modelIsNamed, resultsBehind } from "./chat-messages.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { mistralKey } from "./credentials.ts"
import { toolNamesUnique, toolsOf } from "./openai-tools.ts"
import { firstFault, objectOf, textOf, unknownKeys } from "./read.ts"

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/** API reference, "Chat completion". */
const knownFields = setOf(
  "model messages temperature top_p max_tokens stream stream_options stop random_seed metadata response_format tools tool_choice " +
    "presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode safe_prompt reasoning_effort " +
    "prompt_cache_key guardrails",
)
const knownMessageFields: Readonly<Record<string, ReadonlySet<string>>> = {
  system: setOf("role content"),
  user: setOf("role content"),
  assistant: setOf("role content tool_calls prefix"),
  tool: setOf("role content tool_call_id name"),
}

// BerriAI/litellm#30835 (messages), editor-code-assistant/eca#231 (max_completion_tokens),
// avante-corp/avante.nvim#2347 (stream_options)
const fields: Rule = ({ body }) => {
  const extra: { loc: Json[]; input: Json }[] = unknownKeys(body, knownFields).map((key) => ({
    loc: ["body", key],
    input: body[key] ?? null,
  }))
  for (const [key, input] of Object.entries(objectOf(body.stream_options))) {
    extra.push({ loc: ["body", "stream_options", key], input })
  }
  for (const [index, message] of messagesOf(body).entries()) {
    const role = textOf(message.role)
    const known = knownMessageFields[role]
    for (const key of known ? unknownKeys(message, known) : []) {
      extra.push({ loc: ["body", "messages", index, role, key], input: message[key] ?? null })
    }
  }
  if (extra.length === 0) return undefined
  const message = "Extra inputs are not permitted"
  const detail = extra.map(({ loc, input }) => ({ type: "extra_forbidden", loc, msg: message, input }))
  return { status: 422, message, detail: { detail } }
}

/** What may stand behind each role; `assistant` without calls. */
const followers: Readonly<Record<string, readonly string[]>> = {
  system: ["system", "user", "assistant"],
  user: ["user", "assistant", "system"],
  assistant: ["user", "system", "assistant"],
  tool: ["tool", "assistant"],
}

// datapizza-labs/datapizza-ai#98, charmbracelet/crush#279
const order: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const role = textOf(message.role)
    const before = messages[index - 1]
    if (!before) return role === "tool" ? orderFault(`Unexpected role 'tool' as first message`) : undefined
    const previous = textOf(before.role)
    const allowed = callsOf(before).length > 0 ? ["tool"] : (followers[previous] ?? [])
    return allowed.includes(role) ? undefined : orderFault(`Unexpected role '${role}' after role '${previous}'`)
  })
}

function orderFault(message: string): Fault {
  return { message, type: "invalid_request_message_order", code: "3230" }
}

// mistralai/client-ts#106
const callsHaveResults: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const ids = callIds(message)
    if (ids.length === 0) return undefined
    const given = resultsBehind(messages, index).map((result) => textOf(result.tool_call_id))
    if (given.length === ids.length && ids.every((id) => given.includes(id))) return undefined
    return orderFault("Not the same number of function calls and responses")
  })
}

// 0xPlaygrounds/rig#1130
const lastRole: Rule = ({ body }) => {
  const last = messagesOf(body).at(-1)
  if (last?.role !== "assistant" || last.prefix === true) return undefined
  return orderFault("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")
}

// karthink/gptel#1203
const callIdForm: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) => {
    const ids = message.role === "tool" ? [textOf(message.tool_call_id)] : callIds(message)
    const bad = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id))
    if (bad === undefined) return undefined
    return badRequest(`Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.`)
  })

// solbrowse/extension#16
const assistantsSaySomething: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) => {
    const isEmpty = message.content === "" || message.content === null || message.content === undefined
    if (message.role !== "assistant" || !isEmpty || callsOf(message).length > 0) return undefined
    return badRequest("Assistant message must have either content or tool_calls, but not none.")
  })

const functionNames: Rule = ({ body }) => {
  const called = messagesOf(body).flatMap((message) => callsOf(message).map((call) => objectOf(call.function).name))
  const names = [...toolsOf(body).map((tool) => tool.name), ...called.map((name) => textOf(name))]
  const bad = names.find((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
  if (bad === undefined) return undefined
  return badRequest(
    `Function name was ${bad} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
  )
}

const schemas: Rule = ({ body }) =>
  firstFault(toolsOf(body), (tool) =>
    objectOf(tool.parameters).type === "object"
      ? undefined
      : badRequest(`Invalid tool schema of ${tool.name}: the top level must be of type "object"`),
  )

function badRequest(message: string): Fault {
  return { message, type: "invalid_request_error" }
}

function errorBody(fault: Fault, status: number): JsonObject {
  if (status === 401) return { detail: "Unauthorized" }
  const { type = "invalid_request_error", code = null } = fault
  return { object: "error", message: fault.detail ?? fault.message, type, param: null, code }
}

export const mistral: Dialect = {
  rules: [
    fields,
    modelIsNamed,
    hasMessages,
    callIdForm,
    functionNames,
    toolNamesUnique,
    schemas,
    order,
    callsHaveResults,
    assistantsSaySomething,
    lastRole,
  ],
  credentials: mistralKey,
  errorBody,
}
