import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:net"
import test from "node:test"
import { AppError } from "../../kernel/index.ts"
import { classify, compare, refusal, report, type Sample } from "./failure.fixture.ts"

async function checkAll(t: test.TestContext, samples: readonly Sample[]): Promise<void> {
  for (const sample of samples) {
    await t.test(sample.who, () => {
      const { read, expected } = compare(sample)
      assert.deepEqual(read, expected)
    })
  }
}

function coded(code: string, message = code, more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more })
}

function libraryError(name: string, more: object, message = "", cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name, ...more })
}

test("an error inside a reply is read by what it calls itself", async (t) => {
  await checkAll(t, [
    {
      who: "Anthropic, overloaded",
      error: report({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      is: { kind: "busy", code: "overloaded_error", message: "Overloaded" },
    },
    {
      who: "Anthropic, a fault",
      error: report({ type: "error", error: { type: "api_error", message: "Internal server error" } }),
      is: { kind: "busy" },
    },
    {
      who: "OpenAI Responses, a fault",
      error: report({
        type: "response.failed",
        response: { error: { code: "server_error", message: "An error occurred." } },
      }),
      is: { kind: "busy", code: "server_error" },
    },
    {
      who: "OpenAI Responses, an event of its own",
      error: report({
        type: "error",
        code: "rate_limit_exceeded",
        message: "Rate limit reached. Please try again in 3s.",
        param: null,
      }),
      is: { kind: "busy", code: "rate_limit_exceeded", waitMs: 3000 },
    },
    {
      who: "OpenRouter, the status in the error",
      error: report({ error: { code: 502, message: "Upstream error from Chutes" }, choices: [] }),
      is: { kind: "busy", message: "HTTP 502: Upstream error" },
    },
    {
      who: "OpenRouter, a refusal inside the stream",
      error: report({ error: { code: 400, message: "tool call is wrong" } }),
      is: { kind: "form" },
    },
    {
      who: "Gemini",
      error: report([{ error: { code: 503, message: "Try later", status: "UNAVAILABLE" } }]),
      is: { kind: "busy" },
    },
    {
      who: "Gemini, its policy",
      error: report({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }),
      is: { kind: "declined" },
    },
    {
      who: "Bedrock",
      error: report({ internalServerException: { message: "The system failed" } }),
      is: { kind: "busy", code: "internalServerException", message: "The system failed" },
    },
    {
      who: "LM Studio, a crash",
      error: report({ error: "The model has crashed without additional information. (Exit code: 1)" }),
      is: { kind: "busy" },
    },
    {
      who: "DeepSeek",
      error: report({ error: { message: "busy", type: "insufficient_system_resource" } }),
      is: { kind: "busy" },
    },
    {
      who: "MiniMax, a limit",
      error: report({ base_resp: { status_code: 1002, status_msg: "rate limit" } }),
      is: { kind: "busy" },
    },
    {
      who: "MiniMax, no credit",
      error: report({ base_resp: { status_code: 1008, status_msg: "insufficient balance" } }),
      is: { kind: "credit", otherKey: true },
    },
    {
      who: "MiniMax, the key",
      error: report({ base_resp: { status_code: 1004, status_msg: "login fail" } }),
      is: { kind: "key" },
    },
    {
      who: "a wrong request, though its words sound busy",
      error: report({ error: { type: "invalid_request_error", message: "The field timeout is unknown, try again" } }),
      is: { kind: "form" },
    },
    {
      who: "no quota",
      error: report({ error: { code: "insufficient_quota", message: "You exceeded your current quota" } }),
      is: { kind: "credit" },
    },
    { who: "text", error: report("Overloaded"), is: { kind: "busy", message: "Overloaded" } },
    {
      who: "JSON as text",
      error: report('{"error":{"type":"overloaded_error","message":"Overloaded"}}'),
      is: { kind: "busy" },
    },
    { who: "no words", error: report({}), is: { kind: "refused", message: "without a reason" } },
    { who: "nothing", error: report(null), is: { kind: "refused", message: "without a reason" } },
    { who: "a number", error: report(7), is: { kind: "refused" } },
  ])
})

test("errors of the SDK are recognised by their shape", async (t) => {
  const failed = { url: "https://api.example.com/v1", requestBodyValues: { messages: ["secret"] }, isRetryable: true }
  await checkAll(t, [
    {
      who: "an answer",
      error: libraryError("AI_APICallError", {
        ...failed,
        statusCode: 429,
        responseHeaders: { "Retry-After": "4" },
        responseBody: '{"error":{"message":"slow down","type":"rate_limit_error"}}',
      }),
      is: { kind: "busy", waitMs: 4000, message: "HTTP 429: slow down", code: "rate_limit_error" },
    },
    {
      who: "an answer with its body lost",
      error: libraryError(
        "AI_APICallError",
        { ...failed, statusCode: 400 },
        "messages: at least one message is required",
      ),
      is: { kind: "form", message: "HTTP 400: messages: at least one" },
    },
    {
      who: "no connection",
      error: libraryError(
        "AI_APICallError",
        failed,
        "Cannot connect to API: x",
        coded("ECONNREFUSED", "x", { address: "127.0.0.1", port: 11434 }),
      ),
      is: { kind: "network", message: "Nothing answers at 127.0.0.1:11434 (ECONNREFUSED)", hint: /baseUrl/ },
    },
    {
      who: "an answer of 200 that is an error",
      error: libraryError("AI_APICallError", {
        ...failed,
        statusCode: 200,
        responseBody: '{"error":{"message":"Overloaded","type":"overloaded_error"}}',
      }),
      is: { kind: "busy" },
    },
    {
      who: "an error of the stream with a status",
      error: {
        message: "Overloaded",
        type: "overloaded_error",
        statusCode: 529,
        isRetryable: true,
        data: { type: "overloaded_error", message: "Overloaded" },
      },
      is: { kind: "busy", message: "HTTP 529: Overloaded" },
    },
    {
      who: "an error of the stream as an error",
      error: libraryError(
        "AI_StreamProviderError",
        { data: { error: { message: "no", type: "rate_limit_error" } } },
        "no",
      ),
      is: { kind: "busy" },
    },
    {
      who: "a chunk that was an error",
      error: libraryError("AI_TypeValidationError", { value: { error: { code: 503, message: "down" } } }),
      is: { kind: "busy" },
    },
    {
      who: "a chunk that was damaged",
      error: libraryError("AI_JSONParseError", { text: '{"id":' }),
      is: { kind: "broken", retryable: true },
    },
    { who: "text", error: "The server is overloaded", is: { kind: "busy" } },
    { who: "an empty reply", error: libraryError("AI_EmptyResponseBodyError", {}), is: { kind: "empty" } },
    {
      who: "no key",
      error: libraryError("AI_LoadAPIKeyError", {}, "OpenAI API key is missing."),
      is: { kind: "key", message: "key is missing" },
    },
    {
      who: "no such feature",
      error: libraryError("AI_UnsupportedFunctionalityError", {}, "'x' functionality not supported."),
      is: { kind: "form" },
    },
  ])
})

test("a connection that cannot be made or breaks is told by what to look at", async (t) => {
  const fetchFailed = (cause: unknown) => new TypeError("fetch failed", { cause })
  const several = Object.assign(new AggregateError([coded("ECONNREFUSED", "x", { address: "::1", port: 8080 })]), {
    code: "ECONNREFUSED",
  })
  await checkAll(t, [
    {
      who: "refused, on every address",
      error: fetchFailed(several),
      is: { kind: "network", message: "Nothing answers at [::1]:8080", code: "ECONNREFUSED" },
    },
    {
      who: "no such host",
      error: fetchFailed(coded("ENOTFOUND", "x", { hostname: "api.example.com" })),
      is: { kind: "network", message: "The host api.example.com was not found (ENOTFOUND)" },
    },
    { who: "no name server", error: fetchFailed(coded("EAI_AGAIN")), is: { kind: "network" } },
    {
      who: "reset",
      error: fetchFailed(coded("ECONNRESET")),
      is: { kind: "network", message: "closed before the reply was complete" },
    },
    {
      who: "cut",
      error: new TypeError("terminated", { cause: coded("UND_ERR_SOCKET", "other side closed") }),
      is: { kind: "network" },
    },
    { who: "cut, without a cause", error: new TypeError("terminated"), is: { kind: "network" } },
    {
      who: "cut before the end",
      error: coded("STREAM_CUT"),
      is: { kind: "network", message: "closed before", code: "STREAM_CUT" },
    },
    { who: "slow", error: fetchFailed(coded("UND_ERR_CONNECT_TIMEOUT")), is: { kind: "network", message: "in time" } },
    { who: "timed out", error: fetchFailed(coded("ETIMEDOUT")), is: { kind: "network" } },
    {
      who: "a certificate",
      error: fetchFailed(coded("CERT_HAS_EXPIRED")),
      is: { kind: "network", retryable: false, hint: /clock/ },
    },
    {
      who: "a certificate of its own",
      error: fetchFailed(coded("DEPTH_ZERO_SELF_SIGNED_CERT")),
      is: { kind: "network", retryable: false },
    },
    {
      who: "another host's certificate",
      error: fetchFailed(coded("ERR_TLS_CERT_ALTNAME_INVALID")),
      is: { kind: "network", retryable: false },
    },
    { who: "no TLS", error: fetchFailed(coded("EPROTO")), is: { kind: "network", hint: /http:/ } },
    { who: "no HTTP", error: fetchFailed(coded("HPE_INVALID_CONSTANT")), is: { kind: "network" } },
    { who: "undici, silence", error: fetchFailed(coded("UND_ERR_HEADERS_TIMEOUT")), is: { kind: "silent" } },
    {
      who: "our own silence",
      error: new Error("x", { cause: new AppError("timeout", "The provider sent nothing for 120 s") }),
      is: { kind: "silent", message: "nothing for 120 s" },
    },
    {
      who: "a redirect",
      error: fetchFailed(new Error("unexpected redirect")),
      is: { kind: "refused", hint: /baseUrl/ },
    },
    {
      who: "our own limit",
      error: new AppError("model-failed", "The reply had no end and was cut off"),
      is: { kind: "broken", message: "no end" },
    },
    { who: "no key", error: new AppError("model-key-missing", "The provider x has no key"), is: { kind: "key" } },
    { who: "a file that is not there", error: coded("ENOENT", "no such file"), is: { kind: "broken" } },
    {
      who: "a fault of ours",
      error: new TypeError("x is not a function"),
      is: { kind: "broken", message: "x is not a function" },
    },
    { who: "nothing at all", error: undefined, is: { kind: "broken" } },
  ])
})

test("a port that nobody listens on is told by its address", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address ? address.port : 0
  server.close()
  await once(server, "close")
  const error: unknown = await fetch(`http://127.0.0.1:${port}/v1`).catch((e: unknown) => e)
  assert.equal(classify(error).message, `Nothing answers at 127.0.0.1:${port} (ECONNREFUSED)`)
})

test("a refusal that is wrapped in other errors is found", () => {
  const wrapped = new Error("step failed", { cause: new Error("again", { cause: refusal(429, "slow down") }) })
  assert.equal(classify(wrapped).kind, "busy")
})
