import assert from "node:assert/strict"
import test from "node:test"
import type { Json } from "../../kernel/index.ts"
import { classify, compare, refusal, report } from "./failure.fixture.ts"
import { readLimit } from "./index.ts"

const openAi = (message: string, code: string | null = null): Json => ({
  error: { message, type: "invalid_request_error", param: "messages", code },
})

/** [who, status (0: inside a reply), body, the limit that it names] */
const tooLong: readonly [string, number, Json, number | undefined][] = [
  [
    "OpenAI Chat Completions",
    400,
    openAi(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 173172 tokens. Please reduce the length of the messages.",
      "context_length_exceeded",
    ),
    128_000,
  ],
  [
    "OpenAI, of old, prompt and completion together",
    400,
    openAi(
      "This model's maximum context length is 4097 tokens, however you requested 4569 tokens (3545 in your prompt; 1024 for the completion). Please reduce your prompt; or completion length.",
    ),
    4097,
  ],
  [
    "OpenAI Responses",
    400,
    openAi(
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      "context_length_exceeded",
    ),
    undefined,
  ],
  [
    "OpenAI Responses, inside the stream",
    0,
    {
      type: "response.failed",
      response: {
        status: "failed",
        error: {
          code: "context_length_exceeded",
          message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        },
      },
    },
    undefined,
  ],
  [
    "OpenAI gpt-5",
    400,
    openAi(
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 284234 tokens. Please reduce the length of the messages.",
      "context_length_exceeded",
    ),
    272_000,
  ],
  [
    "OpenAI, one message with too many characters",
    400,
    openAi(
      "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1540820 instead.",
      "string_above_max_length",
    ),
    undefined,
  ],
  [
    "OpenAI, too many messages",
    400,
    openAi(
      "Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2049 instead.",
    ),
    undefined,
  ],
  [
    "OpenAI, more than a minute's tokens",
    429,
    openAi(
      "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.",
      "rate_limit_exceeded",
    ),
    30_000,
  ],
  [
    "Azure",
    400,
    openAi("This model's maximum context length is 16385 tokens. However, your messages resulted in 18000 tokens."),
    16_385,
  ],
  [
    "Anthropic",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 213462 tokens > 200000 maximum" },
    },
    200_000,
  ],
  [
    "Anthropic, prompt and reply together",
    400,
    {
      type: "error",
      error: {
        type: "invalid_request_error",
        message:
          "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
      },
    },
    200_000,
  ],
  [
    "Anthropic, bytes",
    413,
    { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
    undefined,
  ],
  [
    "Anthropic, a longer context than the plan has",
    429,
    {
      type: "error",
      error: { type: "rate_limit_error", message: "Extra usage is required for long context requests." },
    },
    undefined,
  ],
  [
    "Gemini, in a list",
    400,
    [
      {
        error: {
          code: 400,
          message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
          errors: [
            { message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)." },
          ],
          status: "INVALID_ARGUMENT",
        },
      },
    ],
    1_048_576,
  ],
  [
    "Gemini, without brackets",
    400,
    {
      error: {
        code: 400,
        message: "The input token count exceeds the maximum number of tokens allowed 1048576.",
        status: "INVALID_ARGUMENT",
      },
    },
    1_048_576,
  ],
  [
    "Vertex",
    400,
    {
      error: {
        code: 400,
        message:
          "Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again. You can also use the CountTokens API to calculate prompt token count.",
        status: "INVALID_ARGUMENT",
      },
    },
    1_048_576,
  ],
  [
    "Mistral",
    400,
    {
      object: "error",
      message: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      type: "invalid_request_prompt",
      code: "3051",
    },
    32_768,
  ],
  [
    "xAI",
    400,
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    },
    131_072,
  ],
  [
    "Groq",
    400,
    openAi("Please reduce the length of the messages or completion.", "context_length_exceeded"),
    undefined,
  ],
  [
    "Groq, more than a minute's tokens",
    413,
    {
      error: {
        message:
          "Request too large for model `llama-3.1-8b-instant` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        type: "tokens",
        code: "rate_limit_exceeded",
      },
    },
    6000,
  ],
  [
    "Cerebras",
    400,
    {
      message: "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
    40_000,
  ],
  [
    "DeepSeek",
    400,
    openAi(
      "This model's maximum context length is 131072 tokens. However, you requested 147543 tokens (139351 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
      "invalid_request_error",
    ),
    131_072,
  ],
  [
    "Together",
    422,
    openAi("The input (65577 tokens) is longer than the model's context length (65536 tokens)."),
    65_536,
  ],
  [
    "Together, of old, and TGI",
    422,
    {
      error:
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 1024 `max_new_tokens`",
      error_type: "validation",
    },
    4097,
  ],
  [
    "TGI, the prompt alone",
    422,
    {
      error: "Input validation error: `inputs` must have less than 1024 tokens. Given: 1100",
      error_type: "validation",
    },
    1024,
  ],
  [
    "Kimi",
    400,
    {
      error: {
        message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
        type: "invalid_request_error",
      },
    },
    262_144,
  ],
  ["z.ai", 400, { error: { code: "1261", message: "Prompt exceeds max length" } }, undefined],
  [
    "MiniMax, whose number is a code",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "invalid params, context window exceeds limit (2013)" },
    },
    undefined,
  ],
  [
    "MiniMax, with status 200",
    0,
    { base_resp: { status_code: 2013, status_msg: "invalid params, context window exceeds limit" } },
    undefined,
  ],
  [
    "DashScope",
    400,
    openAi(
      "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
      "invalid_parameter_error",
    ),
    204_800,
  ],
  ["Bedrock", 400, { message: "Input is too long for requested model." }, undefined],
  [
    "Bedrock with Anthropic behind it",
    400,
    {
      message:
        'The model returned the following errors: {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200049 tokens > 200000 maximum"}}',
    },
    200_000,
  ],
  [
    "Bedrock Titan",
    400,
    { message: "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 8777" },
    8192,
  ],
  [
    "Cohere",
    400,
    {
      message:
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 6354. Try using a shorter prompt, or enable prompt truncating.",
    },
    4081,
  ],
  [
    "Fireworks",
    400,
    {
      error: {
        object: "error",
        type: "invalid_request_error",
        code: "invalid_request_error",
        message: "The prompt is too long: 40177, model maximum context length: 32767",
      },
    },
    32_767,
  ],
  [
    "OpenRouter",
    400,
    {
      error: {
        message:
          'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 164028 tokens (160028 of text input, 4000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
        code: 400,
        metadata: { provider_name: null },
      },
    },
    131_072,
  ],
  [
    "OpenRouter with a provider behind it",
    400,
    {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: {
          raw: '{"error":{"message":"This model\'s maximum prompt length is 131072 but the request contains 537812 tokens.","code":"400"}}',
          provider_name: "xAI",
        },
      },
      user_id: "user_1",
    },
    131_072,
  ],
  [
    "OpenRouter, Poolside",
    400,
    openAi("Input length 200000 exceeds the maximum allowed input length of 131072 tokens."),
    131_072,
  ],
  [
    "vLLM",
    400,
    {
      object: "error",
      message:
        "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (8076 in the messages, 1024 in the completion). Please reduce the length of the messages or completion.",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    8192,
  ],
  [
    "vLLM, reply and prompt do not fit together",
    400,
    openAi(
      "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
    ),
    4096,
  ],
  [
    "vLLM, newer",
    400,
    openAi(
      "You passed 8193 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8192 tokens. Please reduce the length of the input prompt.",
    ),
    8192,
  ],
  [
    "vLLM behind Xinference",
    500,
    {
      detail:
        "[address=0.0.0.0:43769, pid=1065] The decoder prompt (length 66501) is longer than the maximum model length of 65536. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    },
    65_536,
  ],
  [
    "SGLang",
    400,
    {
      object: "error",
      message:
        "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens.",
      type: "BadRequestError",
      code: 400,
    },
    131_072,
  ],
  [
    "llama.cpp",
    400,
    {
      error: {
        code: 400,
        message: "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 5000,
        n_ctx: 4096,
      },
    },
    4096,
  ],
  [
    "llama.cpp, without the numbers in its words",
    400,
    {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 5000,
        n_ctx: 2048,
      },
    },
    2048,
  ],
  [
    "llama.cpp, inside the stream",
    0,
    { error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } },
    undefined,
  ],
  [
    "LM Studio",
    400,
    {
      error:
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.",
    },
    4096,
  ],
  [
    "LM Studio, inside the stream",
    0,
    {
      error:
        "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough.",
    },
    7866,
  ],
  ["Ollama", 400, { error: "the input length exceeds the context length" }, undefined],
  ["Ollama, by the prompt", 400, { error: "prompt too long; exceeded max context length by 120 tokens" }, undefined],
  [
    "Copilot",
    400,
    {
      error: {
        message: "prompt token count of 138898 exceeds the limit of 64000",
        code: "model_max_prompt_tokens_exceeded",
      },
    },
    64_000,
  ],
  [
    "GitHub Models",
    413,
    {
      error: {
        code: "tokens_limit_reached",
        message: "Request body too large for gpt-4o model. Max size: 8000 tokens.",
      },
    },
    8000,
  ],
  [
    "SiliconFlow",
    400,
    { code: 20015, message: "length of prompt_tokens (40000) must be less than max_seq_len (32768).", data: null },
    32_768,
  ],
  [
    "LiteLLM, with Python's way of printing bytes",
    400,
    {
      error:
        'litellm.BadRequestError: VertexAIException BadRequestError - b\'{\\n "error": {\\n "code": 400,\\n "message": "The input token count (1066750) exceeds the maximum number of tokens allowed (1048575).",\\n "status": "INVALID_ARGUMENT"\\n }\\n}\\n\'',
    },
    1_048_575,
  ],
  [
    "a proxy that prints Python's error",
    500,
    {
      error: {
        message:
          "Error code: 400 - {'error': {'message': \"This model's maximum context length is 128000 tokens. However, your messages resulted in 173172 tokens.\", 'type': 'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}}",
      },
    },
    128_000,
  ],
  [
    "nginx in front of a server",
    413,
    "<html>\r\n<head><title>413 Request Entity Too Large</title></head><body></body></html>",
    undefined,
  ],
  ["an empty 413", 413, "", undefined],
]

test("a conversation that is too long is recognised in every provider's words, with the limit that they name", async (t) => {
  for (const [who, status, body, limit] of tooLong) {
    await t.test(who, () => {
      const failure = classify(status === 0 ? report(body) : refusal(status, body))
      assert.deepEqual(
        { kind: failure.kind, retryable: failure.retryable, limit: failure.contextLimit },
        { kind: "context", retryable: false, limit },
        failure.message,
      )
      assert.equal(failure.chatMessage, "The conversation is longer than the model can take.")
    })
  }
})

const quoted = "why does it say that the prompt is too long: 213462 tokens > 200000 maximum in my log file?"

test("words about tokens that mean something else are not taken for a conversation that is too long", async (t) => {
  const rows: { who: string; error: unknown; kind: "busy" | "form" | "key" | "credit"; waitMs?: number }[] = [
    {
      who: "the tokens of a minute are used up",
      error: refusal(
        429,
        openAi(
          "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 25000, Requested 10000. Please try again in 10s.",
          "rate_limit_exceeded",
        ),
      ),
      kind: "busy",
      waitMs: 10_000,
    },
    {
      who: "Bedrock throttles",
      error: refusal(429, {
        __type: "ThrottlingException",
        message: "Too many tokens, please wait before trying again.",
      }),
      kind: "busy",
    },
    {
      who: "OpenAI, max_tokens alone",
      error: refusal(
        400,
        openAi(
          "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
        ),
      ),
      kind: "form",
    },
    {
      who: "Groq, max_tokens alone",
      error: refusal(
        400,
        openAi(
          "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
        ),
      ),
      kind: "form",
    },
    {
      who: "Anthropic, max_tokens alone",
      error: refusal(400, {
        type: "error",
        error: {
          type: "invalid_request_error",
          message:
            "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4",
        },
      }),
      kind: "form",
    },
    {
      who: "DeepSeek, max_tokens alone",
      error: refusal(400, openAi("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")),
      kind: "form",
    },
    {
      who: "Bedrock, max_tokens alone",
      error: refusal(400, { message: "The maximum tokens you requested exceeds the model limit of 4096." }),
      kind: "form",
    },
    {
      who: "too many tools",
      error: refusal(
        400,
        openAi("Invalid 'tools': array too long. Expected an array with maximum length 128, but got 140."),
      ),
      kind: "form",
    },
    {
      who: "the user's words in quotation marks",
      error: refusal(400, openAi(`Invalid value for 'messages[0].content': "${quoted}"`)),
      kind: "form",
    },
    {
      who: "the user's words in backticks",
      error: refusal(400, { detail: `messages.0.content: \`${quoted}\` is not of type 'array'` }),
      kind: "form",
    },
    {
      who: "an error that a call's arguments hold",
      error: refusal(400, openAi('Invalid tool arguments: {"error":{"code":400,"message":"prompt is too long"}}')),
      kind: "form",
    },
    {
      who: "OpenRouter, no credit for a long reply",
      error: refusal(402, {
        error: {
          code: 402,
          message:
            "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1234.",
        },
      }),
      kind: "credit",
    },
    {
      who: "a key without the right to a long context",
      error: refusal(401, openAi("Invalid API key. The maximum context length is for paying customers.")),
      kind: "key",
    },
  ]
  for (const { who, error, kind, waitMs } of rows) {
    await t.test(who, () => {
      const is = waitMs === undefined ? { kind } : { kind, waitMs }
      const { read, expected } = compare({ who, error, is })
      assert.deepEqual(read, expected)
    })
  }
})

test("a limit is read with commas, and not from words that name none or an absurd one", () => {
  assert.equal(readLimit("This model's maximum context length is 1,048,576 tokens."), 1_048_576)
  assert.equal(readLimit("prompt is too long"), undefined)
  assert.equal(readLimit("This model's maximum context length is 0 tokens."), undefined)
  assert.equal(readLimit("This model's maximum context length is 99999999999999 tokens."), undefined)
  assert.equal(readLimit("You exceeded 128000 requests"), undefined)
})
