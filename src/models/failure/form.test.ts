import test from "node:test"
import { anthropic, checkAll, google, openAi } from "./failure.fixture.ts"

test("a request whose shape is refused can be told from others, so that it may be mended", async (t) => {
  await checkAll(t, [
    {
      who: "OpenAI, a schema",
      status: 400,
      body: {
        error: {
          message:
            "Invalid schema for function 'x': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
          type: "invalid_request_error",
          param: "tools[0].function.parameters",
          code: "invalid_function_parameters",
        },
      },
      is: { kind: "form", code: "invalid_function_parameters" },
    },
    {
      who: "OpenAI, a call without its result",
      status: 400,
      body: openAi(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "invalid_request_error",
      ),
      is: { kind: "form" },
    },
    {
      who: "OpenAI, a lost item",
      status: 404,
      body: openAi(
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        "invalid_request_error",
      ),
      is: { kind: "form" },
    },
    {
      who: "OpenAI, a parameter",
      status: 400,
      body: openAi(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "invalid_request_error",
        "unsupported_parameter",
      ),
      is: { kind: "form", hint: /maxOutputTokens/ },
    },
    {
      who: "Anthropic, thinking",
      status: 400,
      body: anthropic(
        "invalid_request_error",
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
      ),
      is: { kind: "form", message: "HTTP 400: messages.1.content.0" },
    },
    {
      who: "Anthropic, a signature",
      status: 400,
      body: anthropic("invalid_request_error", "messages.3.content.0: Invalid `signature` in `thinking` block"),
      is: { kind: "form" },
    },
    {
      who: "Gemini, a signature",
      status: 400,
      body: google(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts."),
      is: { kind: "form", code: "INVALID_ARGUMENT" },
    },
    {
      who: "Mistral, a field",
      status: 422,
      body: {
        object: "error",
        message: {
          detail: [
            {
              type: "extra_forbidden",
              loc: ["body", "stream_options"],
              msg: "Extra inputs are not permitted",
              input: {},
            },
          ],
        },
        type: "invalid_request_error",
      },
      is: { kind: "form", message: "HTTP 422: body.stream_options: Extra inputs are not permitted" },
    },
    {
      who: "FastAPI",
      status: 422,
      body: { detail: [{ loc: ["body", "messages", 0, "role"], msg: "field required", type: "value_error.missing" }] },
      is: { kind: "form", message: "body.messages.0.role: field required" },
    },
    {
      who: "Groq, an unknown field",
      status: 400,
      body: openAi(
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
        "invalid_request_error",
      ),
      is: { kind: "form" },
    },
    {
      who: "Groq, a call that failed",
      status: 400,
      body: openAi(
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        "invalid_request_error",
        "tool_use_failed",
      ),
      is: { kind: "form" },
    },
    {
      who: "Cerebras",
      status: 400,
      body: {
        message: "body.messages.1.assistant.reasoning_content: property is unsupported",
        type: "invalid_request_error",
        param: "validation_error",
        code: "wrong_api_format",
      },
      is: { kind: "form" },
    },
    {
      who: "Xiaomi behind OpenRouter",
      status: 400,
      body: {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: {
            raw: '{"error":{"code":"400","message":"Param Incorrect","param":"messages[2] assistant content must contain at least one part","type":""}}',
          },
        },
      },
      is: {
        kind: "form",
        message: "HTTP 400: Param Incorrect: messages[2] assistant content must contain at least one part",
      },
    },
    {
      who: "Ollama, no tools",
      status: 400,
      body: openAi("registry.ollama.ai/library/gemma3:latest does not support tools", "api_error"),
      is: { kind: "form" },
    },
    {
      who: "llama.cpp, its template",
      status: 500,
      body: {
        error: {
          code: 500,
          message: "Jinja Exception: Conversation roles must alternate user/assistant",
          type: "server_error",
        },
      },
      is: { kind: "form" },
    },
    {
      who: "a proxy that turns 400 into 500",
      status: 500,
      body: openAi("messages: roles must alternate", "invalid_request_error"),
      is: { kind: "form" },
    },
    {
      who: "Bedrock",
      status: 400,
      body: { message: "The value at messages.0.content is empty." },
      headers: { "x-amzn-errortype": "ValidationException" },
      is: { kind: "form", code: "ValidationException" },
    },
    {
      who: "an error that says nothing",
      status: 400,
      body: "",
      is: { kind: "form", message: "HTTP 400: no reason given" },
    },
    {
      who: "a text in a list",
      status: 400,
      body: { errors: ["role is wrong", "content is wrong"] },
      is: { kind: "form", message: "role is wrong; content is wrong" },
    },
  ])
})
