// Those who speak Chat Completions with rules of their own.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import { png, repeated, table, wordSchema, type RuleCase } from "./case.ts"
import { call, calls, picture, result, tool, user } from "./chat.ts"

const path = "/v1/chat/completions"
const replied = (more: JsonObject = {}): JsonObject => ({ role: "assistant", content: "x", ...more })
const named = (name: string) => tool(wordSchema, { name })
const pattern = (written: string) => tool({ type: "object", properties: { a: { type: "string", pattern: written } } })

const nine = (more: JsonObject = {}) => call("a1B2c3D4e", more)
const loop = [user, calls(nine()), result("a1B2c3D4e")]

const mistral = table({ provider: "mistral", path, base: { model: "mistral-large", messages: [user] } }, [
  {
    rule: "fields",
    status: 422,
    refused: { messages: [user, replied({ reasoning_content: "Hm." }), user] },
    words: `{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted","input":"Hm."}`,
    taken: { messages: [user, replied(), user] },
  },
  {
    rule: "fields",
    status: 422,
    refused: { stream: true, stream_options: { include_usage: true } },
    words: `"loc":["body","stream_options","include_usage"]`,
    taken: { stream: true, max_tokens: 5 },
  },
  { rule: "modelIsNamed", refused: { model: "" }, words: "you must provide a model parameter", taken: {} },
  { rule: "hasMessages", refused: { messages: [] }, words: "Invalid 'messages': empty array", taken: {} },
  {
    rule: "callIdForm",
    refused: { messages: [user, calls(call("call_0fypS1hVX")), result("call_0fypS1hVX")] },
    words: "Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9.",
    taken: { messages: loop },
  },
  {
    rule: "functionNames",
    refused: { messages: [user, calls(nine({ name: "look.up" })), result("a1B2c3D4e")] },
    words: "Function name was look.up but must be a-z, A-Z, 0-9, or contain underscores and dashes",
    taken: { messages: loop },
  },
  {
    rule: "schemas",
    refused: { tools: [tool({ oneOf: [] })] },
    words: "Invalid tool schema of lookup",
    taken: { tools: [tool()] },
  },
  {
    rule: "order",
    refused: { messages: [...loop, user] },
    words: `"message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","param":null,"code":"3230"`,
    taken: { messages: [...loop, replied(), user] },
  },
  {
    rule: "callsHaveResults",
    refused: { messages: [user, calls(nine(), call("b1B2c3D4e")), result("a1B2c3D4e")] },
    words: "Not the same number of function calls and responses",
    taken: { messages: [user, calls(nine(), call("b1B2c3D4e")), result("a1B2c3D4e"), result("b1B2c3D4e")] },
  },
  {
    rule: "assistantsSaySomething",
    refused: { messages: [user, replied({ content: "" }), user] },
    words: "Assistant message must have either content or tool_calls, but not none.",
    taken: { messages: [user, replied(), user] },
  },
  {
    rule: "lastRole",
    refused: { messages: [user, replied()] },
    words: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    taken: { messages: [user, replied({ prefix: true })] },
  },
])

const groq = table({ provider: "groq", path, base: { model: "openai/gpt-oss-120b", messages: [user] } }, [
  {
    rule: "fields",
    refused: { prompt_cache_key: "x" },
    words: "property 'prompt_cache_key' is unsupported",
    taken: { user: "x" },
  },
  {
    rule: "messageFields",
    refused: { messages: [user, replied({ reasoning_content: "Hm." }), user] },
    words:
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    taken: { messages: [user, replied({ reasoning: "Hm." }), user] },
  },
  {
    rule: "reasoningOfPlainModels",
    refused: { model: "llama-3.3-70b-versatile", messages: [user, replied({ reasoning: "" }), user] },
    words: "messages[1].reasoning: reasoning is not supported with this model",
    taken: { model: "llama-3.3-70b-versatile", messages: [user, replied(), user] },
  },
  {
    rule: "efforts",
    refused: { reasoning_effort: "minimal" },
    words: "`reasoning_effort` must be one of `low`, `medium`, `high`",
    taken: { reasoning_effort: "high" },
  },
  {
    rule: "toolCount",
    refused: { tools: repeated(129, (index) => named(`t${index}`)) },
    words: "'tools' : maximum number of items is 128",
    taken: { tools: repeated(128, (index) => named(`t${index}`)) },
  },
])

const cerebras = table({ provider: "cerebras", path, base: { model: "gpt-oss-120b", messages: [user] } }, [
  {
    rule: "fields",
    refused: { messages: [user, replied({ reasoning_content: "Hm." }), user] },
    words: `{"message":"messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported","type":"invalid_request_error","param":"validation_error","code":"wrong_api_format"}`,
    taken: { messages: [user, replied({ reasoning: "Hm." }), user] },
  },
])

const thought = { reasoning_content: "Hm." }
const deepseek = table({ provider: "deepseek", path, base: { model: "deepseek-v4-pro", messages: [user] } }, [
  {
    rule: "reasoningComesBack",
    refused: { messages: [user, calls(call()), result()] },
    words: "The `reasoning_content` in the thinking mode must be passed back to the API.",
    taken: { messages: [user, { ...calls(call()), ...thought }, result()] },
  },
  {
    rule: "reasoningComesBack",
    refused: { messages: [user, { ...calls(call()), ...thought }, result(), replied(), user] },
    words: "The `reasoning_content` in the thinking mode must be passed back to the API.",
    taken: { messages: [user, replied(), user, { ...calls(call()), ...thought }, result(), replied(thought), user] },
  },
  {
    rule: "reasoningComesBack",
    refused: { messages: [user, { ...calls(call()), reasoning_content: "Other." }, result()] },
    words: "must be passed back to the API.",
    taken: { messages: [user, { ...calls(call()), ...thought }, result()] },
    issued: [
      {
        id: "r",
        parts: [
          { type: "reasoning", text: "Hm.", signature: "s", redacted: false },
          { type: "call", id: "call_1", name: "lookup", input: {} },
        ],
      },
    ],
  },
  {
    rule: "reasoningOfOldModels",
    refused: { model: "deepseek-r1", messages: [user, replied(thought), user] },
    words: "is not allowed in the input messages",
    taken: { model: "deepseek-r1", messages: [user, replied(), user] },
  },
  {
    rule: "resultsFollowCalls",
    refused: { messages: [user, result()] },
    words: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    taken: { messages: [user, { ...calls(call()), ...thought }, result()] },
  },
  {
    rule: "callsHaveResults",
    refused: { messages: [user, { ...calls(call()), ...thought }, user] },
    words: "(insufficient tool messages following tool_calls message)",
    taken: { messages: [user, { ...calls(call()), ...thought }, result(), user] },
  },
  {
    rule: "maxTokens",
    refused: { model: "deepseek-chat", max_tokens: 8193 },
    words: "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
    taken: { model: "deepseek-chat", max_tokens: 8192 },
  },
  {
    rule: "textOnly",
    refused: { messages: [{ role: "user", content: [picture(png)] }] },
    words: "unknown variant `image_url`, expected `text`",
    taken: { messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] },
  },
  {
    rule: "argumentsAreObjects",
    refused: { messages: [user, { ...calls(call("a", { arguments: "tea" })), ...thought }, result("a")] },
    words: "Invalid arguments of a tool call in messages[1]",
    taken: { messages: [user, { ...calls(call("a")), ...thought }, result("a")] },
  },
])

const grok = table({ provider: "xai", path, base: { model: "grok-4", messages: [user] } }, [
  {
    rule: "messagesHaveContent",
    refused: { messages: [{ role: "user", content: "" }] },
    words: "Each message must have at least one content element.",
    taken: {},
  },
  {
    rule: "grokTools",
    refused: { tools: repeated(201, (index) => named(`t${index}`)) },
    words: "Maximum tools limit reached. 201 tools have been provided but the maximum is 200.",
    taken: { tools: repeated(200, (index) => named(`t${index}`)) },
  },
  {
    rule: "grokEffort",
    refused: { reasoning_effort: "low" },
    words: `"error":"Model grok-4 does not support parameter reasoningEffort."`,
    taken: { model: "grok-3-mini", reasoning_effort: "low" },
  },
  {
    rule: "grokSampling",
    refused: { stop: ["x"] },
    words: "Model grok-4 does not support parameter stop.",
    taken: { model: "grok-3", stop: ["x"] },
  },
])

const detail = (text: string) => ({ type: "reasoning.text", text, signature: "s", index: 0 })
const openrouter = table({ provider: "openrouter", path, base: { model: "openai/gpt-5", messages: [user] } }, [
  {
    rule: "mandatoryReasoning",
    refused: { reasoning: { enabled: false } },
    words: `{"error":{"message":"Reasoning is mandatory for this endpoint and cannot be disabled.","code":400}}`,
    taken: { model: "qwen/qwen3-14b", reasoning: { enabled: false } },
  },
  {
    rule: "oneWayToReason",
    refused: { reasoning: { effort: "low", max_tokens: 2000 } },
    words: "can be specified",
    taken: { reasoning: { effort: "low" } },
  },
  {
    rule: "detailsAreUnchanged",
    refused: { messages: [user, { ...calls(call()), reasoning_details: [detail("Other.")] }, result()] },
    words: `"message":"Provider returned error"`,
    taken: { messages: [user, { ...calls(call()), reasoning_details: [detail("Hm.")] }, result()] },
    issued: [
      {
        id: "r",
        parts: [
          { type: "reasoning", text: "Hm.", signature: "s", redacted: false },
          { type: "call", id: "call_1", name: "lookup", input: {} },
        ],
      },
    ],
  },
])

const llama = table({ provider: "llama.cpp", path, base: { model: "qwen", messages: [user] } }, [
  {
    rule: "patternsAreAnchored",
    refused: { tools: [pattern("[a-z]+")] },
    words: "JSON schema conversion failed:\\nPattern must start with '^' and end with '$'",
    taken: { tools: [pattern("^[a-z]+$")] },
  },
  {
    rule: "patternsAreGrammar",
    refused: { tools: [pattern("^\\d+$")] },
    words: "Failed to initialize samplers: failed to parse grammar",
    taken: { tools: [pattern("^[0-9]+$")] },
  },
  {
    rule: "referencesResolve",
    refused: { tools: [tool({ type: "object", properties: { a: { $ref: "#/$defs/b" } } })] },
    words: "Error resolving ref #/$defs/b: $defs not in",
    taken: { tools: [tool({ type: "object", properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: {} } })] },
  },
  {
    rule: "lastMessage",
    refused: { messages: [user, replied()] },
    words: "Assistant response prefill is incompatible with enable_thinking.",
    taken: { messages: [user, replied()], chat_template_kwargs: { enable_thinking: false } },
  },
  {
    rule: "llamaContent",
    refused: { messages: [user, { role: "assistant" }, user] },
    words: "Assistant message must contain either 'content' or 'tool_calls'!",
    taken: { messages: [user, { ...calls(call()), content: null }, result()] },
  },
  {
    rule: "llamaArguments",
    status: 500,
    refused: { messages: [user, calls(call("a", { arguments: "tea" })), result("a")] },
    words: "Failed to parse tool call arguments as JSON",
    taken: { messages: [user, calls(call("a")), result("a")] },
  },
])

const ollama = table({ provider: "ollama", path, base: { model: "qwen3", messages: [user] } }, [
  {
    rule: "ollamaContent",
    refused: { messages: [{ role: "user", content: null }] },
    words: "invalid message content type: <nil>",
    taken: { messages: [user, { ...calls(call()), content: null }, result()] },
  },
  {
    rule: "ollamaArguments",
    refused: { messages: [user, calls(call("a", { arguments: "tea" })), result("a")] },
    words: "invalid tool call arguments",
    taken: { messages: [user, calls(call("a")), result("a")] },
  },
  {
    rule: "ollamaPictures",
    refused: { messages: [{ role: "user", content: [picture(png, "image/gif")] }] },
    words: "invalid image input",
    taken: { messages: [{ role: "user", content: [picture(png)] }] },
  },
  {
    rule: "ollamaEffort",
    refused: { reasoning_effort: "minimal" },
    words: "invalid reasoning value: 'minimal'",
    taken: { reasoning_effort: "none" },
  },
  {
    rule: "ollamaTools",
    refused: { model: "gemma3:4b", tools: [tool()] },
    words: "registry.ollama.ai/library/gemma3:4b does not support tools",
    taken: { tools: [tool()] },
  },
  {
    rule: "lastMessageIsSingle",
    refused: { messages: [user, replied(), replied()] },
    words: "Cannot have 2 or more assistant messages at the end of the list.",
    taken: { messages: [user, replied()] },
  },
])

const vllm = table({ provider: "vllm", path, base: { model: "qwen", messages: [user] } }, [
  {
    rule: "vllmStreamOptions",
    refused: { stream_options: { include_usage: true } },
    words: "Stream options can only be defined when `stream=True`.",
    taken: { stream: true, stream_options: { include_usage: true } },
  },
  {
    rule: "vllmArguments",
    refused: { messages: [user, calls(call("a", { arguments: "tea" })), result("a")] },
    words: "Expecting value: line 1 column 1 (char 0)",
    taken: { messages: [user, calls(call("a")), result("a")] },
  },
  {
    rule: "vllmMaxTokens",
    refused: { max_tokens: 0 },
    words: "max_tokens must be at least 1, got 0.",
    taken: { max_tokens: 1 },
  },
])

const lmstudio = table({ provider: "lmstudio", path, base: { model: "qwen", messages: [user] } }, [
  {
    rule: "lmstudioContent",
    refused: { messages: [user, { ...calls(call()), content: null }, result()] },
    words: `{"error":"Invalid 'content': 'content' field must be a string or an array of objects."}`,
    taken: { messages: [user, calls(call()), result()] },
  },
  {
    rule: "lmstudioContent",
    refused: { messages: [{ role: "user", content: "" }] },
    words: "'messages' array must only contain objects with a 'content' field that is not empty.",
    taken: {},
  },
])

export const dialectCases: RuleCase[] = [
  ...mistral,
  ...groq,
  ...cerebras,
  ...deepseek,
  ...grok,
  ...openrouter,
  ...llama,
  ...ollama,
  ...vllm,
  ...lmstudio,
]
