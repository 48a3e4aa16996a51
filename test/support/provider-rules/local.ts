// Servers of one's own on OpenAI's interface, which fail where templates and grammars fail: llama.cpp, Ollama, vLLM,
// LM Studio.
import type { JsonObject } from "../../../src/kernel/index.ts"
import {
  callIds,
  commonMessageRules,
  contentText,
  findBadArguments,
  hasMessages,
  isBlank,
  messagesOf,
  streamOptionsNeedStream,
} from "./chat-messages.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { noCredentials } from "./credentials.ts"
import { openaiErrorBody } from "./openai-models.ts"
import { toolsOf, commonToolRules } from "./openai-tools.ts"
import { parseDataUrl } from "./pictures.ts"
import { firstFault, objectOf, objectsOf, textOf } from "./read.ts"
import { walkSchema } from "./schema.ts"

/** Every pattern and reference in the schemas of the tools. */
function firstSchemaFault(body: JsonObject, find: (node: JsonObject, root: JsonObject) => Fault | undefined) {
  return firstFault(toolsOf(body), (tool) => {
    const root = objectOf(tool.parameters)
    return walkSchema(root, (node) => find(node, root))
  })
}

const noParser =
  "Unable to generate parser for this template. Automatic parser generation failed: JSON schema conversion failed:\n"

// Kilo-Org/kilocode#12408, ggml-org/llama.cpp#26930
const patternsAreAnchored: Rule = ({ body }) =>
  firstSchemaFault(body, ({ pattern }) =>
    typeof pattern === "string" && !(pattern.startsWith("^") && pattern.endsWith("$"))
      ? { message: `${noParser}Pattern must start with '^' and end with '$'` }
      : undefined,
  )

// ggml-org/llama.cpp#27580 and #25895
const patternsAreGrammar: Rule = ({ body }) =>
  firstSchemaFault(body, ({ pattern }) =>
    typeof pattern === "string" && /\\[dDwWsSbB]/.test(pattern)
      ? { message: "Failed to initialize samplers: failed to parse grammar" }
      : undefined,
  )

// Its converter of schemas (common/json-schema-to-grammar)
const referencesResolve: Rule = ({ body }) =>
  firstSchemaFault(body, (node, root) => {
    const reference = textOf(node.$ref)
    if (!reference.startsWith("#/")) return undefined
    let at: JsonObject = root
    for (const key of reference.slice(2).split("/")) {
      if (!Object.hasOwn(at, key)) {
        return { message: `${noParser}Error resolving ref ${reference}: ${key} not in ${JSON.stringify(at)}` }
      }
      at = objectOf(at[key])
    }
    return undefined
  })

// ggml-org/llama.cpp#20861 and #21889; NousResearch/hermes-agent#80265
const lastMessage: Rule = ({ body }) => {
  const messages = messagesOf(body)
  if (messages.at(-1)?.role !== "assistant") return undefined
  if (messages.at(-2)?.role === "assistant") {
    return { message: "Cannot have 2 or more assistant messages at the end of the list." }
  }
  const isOff = objectOf(body.chat_template_kwargs).enable_thinking === false
  return isOff ? undefined : { message: "Assistant response prefill is incompatible with enable_thinking." }
}

// Its reader of messages (common/chat)
const llamaContent: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) => {
    const hasContent = message.content !== undefined && message.content !== null
    if (message.role === "assistant") {
      if (hasContent || callIds(message).length > 0) return undefined
      return { message: "Assistant message must contain either 'content' or 'tool_calls'!" }
    }
    return hasContent ? undefined : { message: "All non-assistant messages must contain 'content'" }
  })

const llamaArguments: Rule = ({ body }) => {
  const found = findBadArguments(body)
  if (!found) return undefined
  return {
    status: 500,
    type: "server_error",
    message: `Failed to parse tool call arguments as JSON: ${found.written.slice(0, 100)}`,
  }
}

export const llamaCpp: Dialect = {
  rules: [
    hasMessages,
    llamaContent,
    llamaArguments,
    lastMessage,
    patternsAreAnchored,
    patternsAreGrammar,
    referencesResolve,
    ...commonMessageRules,
    ...commonToolRules,
  ],
  credentials: noCredentials,
  errorBody: (fault, status) => ({
    error: { code: status, message: fault.message, type: fault.type ?? "invalid_request_error" },
  }),
}

// ollama/ollama, openai/openai: what its reader of this interface refuses
const ollamaContent: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) => {
    if (typeof message.content === "string" || Array.isArray(message.content)) return undefined
    return callIds(message).length > 0 ? undefined : { message: "invalid message content type: <nil>" }
  })

const ollamaArguments: Rule = ({ body }) =>
  findBadArguments(body) ? { message: "invalid tool call arguments" } : undefined

const ollamaPictures: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) =>
    firstFault(objectsOf(message.content), (part) => {
      if (part.type !== "image_url") return undefined
      const url = textOf(objectOf(part.image_url).url) || textOf(part.image_url)
      const picture = parseDataUrl(url)
      const isTaken = picture && /^image\/(jpeg|jpg|png|webp)$/.test(picture.mediaType)
      return isTaken ? undefined : { message: "invalid image input" }
    }),
  )

const ollamaEffort: Rule = ({ body }) => {
  const effort = body.reasoning_effort ?? objectOf(body.reasoning).effort
  if (effort === undefined || ["high", "medium", "low", "max", "none"].includes(String(effort))) return undefined
  const levels = '"high", "medium", "low", "max", or "none"'
  return { message: `invalid reasoning value: '${String(effort)}' (must be ${levels})` }
}

// callstack and others see the same of models whose template has no tools: picobot#6 (louisho5/picobot)
const ollamaTools: Rule = ({ body }) => {
  const model = textOf(body.model)
  if (toolsOf(body).length === 0 || !/^(gemma3|llama3:|phi3|dolphin)/.test(model)) return undefined
  return { message: `registry.ollama.ai/library/${model} does not support tools`, type: "api_error" }
}

export const ollama: Dialect = {
  rules: [
    ollamaContent,
    ollamaArguments,
    ollamaPictures,
    ollamaEffort,
    ollamaTools,
    lastMessageIsSingle,
    ...commonMessageRules,
    ...commonToolRules,
    patternsAreAnchored,
  ],
  credentials: noCredentials,
  errorBody: openaiErrorBody,
}

function lastMessageIsSingle({ body }: { body: JsonObject }): Fault | undefined {
  const [before, last] = messagesOf(body).slice(-2)
  if (before?.role !== "assistant" || last?.role !== "assistant") return undefined
  return { message: "Cannot have 2 or more assistant messages at the end of the list." }
}

// vllm-project/vllm, entrypoints/openai/protocol
const vllmStreamOptions: Rule = (request, issued) =>
  streamOptionsNeedStream(request, issued) && { message: "Stream options can only be defined when `stream=True`." }

const vllmArguments: Rule = ({ body }) =>
  findBadArguments(body) ? { message: "Expecting value: line 1 column 1 (char 0)" } : undefined

const vllmMaxTokens: Rule = ({ body }) => {
  const tokens = body.max_completion_tokens ?? body.max_tokens
  if (typeof tokens !== "number" || tokens >= 1) return undefined
  return { message: `max_tokens must be at least 1, got ${tokens}.` }
}

export const vllm: Dialect = {
  rules: [vllmStreamOptions, vllmArguments, vllmMaxTokens, ...commonMessageRules, ...commonToolRules],
  credentials: noCredentials,
  errorBody: (fault, status) => ({
    error: { message: fault.message, type: "BadRequestError", param: fault.param ?? null, code: status },
  }),
}

// lmstudio-ai/lmstudio-bug-tracker#261: also of a message that only calls tools
const lmstudioContent: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) => {
    if (message.content === null || message.content === undefined) {
      return { message: "Invalid 'content': 'content' field must be a string or an array of objects." }
    }
    const isEmpty = contentText(message.content) === "" && isBlank(message)
    if (!isEmpty || message.role === "tool" || callIds(message).length > 0) return undefined
    return { message: "'messages' array must only contain objects with a 'content' field that is not empty." }
  })

export const lmstudio: Dialect = {
  rules: [lmstudioContent, ...commonMessageRules, ...commonToolRules, patternsAreAnchored, patternsAreGrammar],
  credentials: noCredentials,
  errorBody: (fault) => ({ error: fault.message }),
}
