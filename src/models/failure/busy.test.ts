import test from "node:test"
import { anthropic, checkAll, checkBilling, google, openAi } from "./failure.fixture.ts"

test("a provider that is busy is asked again, after the time that it names", async (t) => {
  await checkAll(t, [
    {
      who: "OpenAI, a limit",
      status: 429,
      body: openAi(
        "Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.",
        "requests",
        "rate_limit_exceeded",
      ),
      is: {
        kind: "busy",
        waitMs: 20_000,
        code: "rate_limit_exceeded",
        otherKey: true,
        message: "HTTP 429: Rate limit",
      },
    },
    {
      who: "OpenAI, a limit with the time in its headers alone",
      status: 429,
      body: openAi("Rate limit reached", "tokens", "rate_limit_exceeded"),
      headers: {
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "6m0s",
      },
      is: { kind: "busy", waitMs: 360_000 },
    },
    {
      who: "OpenAI, overloaded",
      status: 503,
      body: openAi("The server is currently overloaded with other requests.", "server_error"),
      is: { kind: "busy", otherKey: false },
    },
    {
      who: "OpenAI, a fault",
      status: 500,
      body: openAi("The server had an error while processing your request. Sorry about that!", "server_error"),
      is: { kind: "busy", message: "HTTP 500: The server had an error" },
    },
    {
      who: "Anthropic, overloaded",
      status: 529,
      body: anthropic("overloaded_error", "Overloaded"),
      is: { kind: "busy", code: "overloaded_error", message: "HTTP 529: Overloaded" },
    },
    {
      who: "Anthropic, a limit",
      status: 429,
      body: anthropic(
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
      ),
      headers: { "retry-after": "13", "anthropic-ratelimit-input-tokens-reset": "2026-03-01T12:05:00Z" },
      is: { kind: "busy", waitMs: 13_000, otherKey: true },
    },
    {
      who: "Gemini, the quota of a minute",
      status: 429,
      body: [
        google(429, "RESOURCE_EXHAUSTED", checkBilling, [
          {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            violations: [{ quotaId: "GenerateContentInputTokensPerModelPerMinute-FreeTier" }],
          },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.07s" },
        ]),
      ],
      is: { kind: "busy", waitMs: 34_070, code: "RESOURCE_EXHAUSTED", otherKey: true },
    },
    {
      who: "Gemini, the quota of a day",
      status: 429,
      body: google(429, "RESOURCE_EXHAUSTED", checkBilling, [
        { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] },
        { retryDelay: "34s" },
      ]),
      is: { kind: "busy", retryable: false, otherKey: true, hint: /of a day/ },
    },
    {
      who: "Vertex",
      status: 429,
      body: google(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later."),
      is: { kind: "busy" },
    },
    {
      who: "Gemini, overloaded",
      status: 503,
      body: google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
      is: { kind: "busy" },
    },
    {
      who: "Groq, the tokens of a minute",
      status: 429,
      body: openAi(
        "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        "tokens",
        "rate_limit_exceeded",
      ),
      is: { kind: "busy", waitMs: 4770 },
    },
    {
      who: "Groq, the tokens of a day, with a time",
      status: 429,
      body: openAi(
        "Rate limit reached for model `llama-3.3-70b-versatile` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        "tokens",
        "rate_limit_exceeded",
      ),
      is: { kind: "busy", waitMs: 578_016 },
    },
    {
      who: "Groq, no capacity for the tier",
      status: 498,
      body: "",
      is: { kind: "busy", message: "HTTP 498: no capacity" },
    },
    {
      who: "OpenRouter, a limit of the provider behind it",
      status: 429,
      body: {
        error: {
          message: "Provider returned error",
          code: 429,
          metadata: {
            raw: "z-ai/glm-5.3-flash is temporarily rate-limited upstream. Please retry shortly, or add your own key.",
            provider_name: "BaseTen",
          },
        },
      },
      is: { kind: "busy", message: "temporarily rate-limited upstream", otherKey: true },
    },
    {
      who: "OpenRouter, free requests of a day",
      status: 429,
      body: {
        error: {
          message:
            "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day",
          code: 429,
          metadata: {
            headers: { "X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772409600000" },
          },
        },
      },
      is: { kind: "busy", waitMs: 43_200_000 },
    },
    {
      who: "Azure, a limit",
      status: 429,
      body: {
        error: { code: "429", message: "Requests have exceeded the call rate limit. Please retry after 6 seconds." },
      },
      is: { kind: "busy", waitMs: 6000 },
    },
    {
      who: "Mistral, a limit",
      status: 429,
      body: {
        object: "error",
        message: "Service tier capacity exceeded for this model.",
        type: "service_tier_capacity_exceeded",
        code: "3505",
      },
      is: { kind: "busy", message: "capacity exceeded" },
    },
    {
      who: "Mistral, requests of a second",
      status: 429,
      body: { message: "Requests rate limit exceeded" },
      is: { kind: "busy" },
    },
    {
      who: "Bedrock, throttled",
      status: 429,
      body: { message: "Too many requests, please wait before trying again." },
      headers: { "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/" },
      is: { kind: "busy", code: "ThrottlingException" },
    },
    {
      who: "AWS, throttled with 400",
      status: 400,
      body: { __type: "com.amazon.coral.service#ThrottlingException", Message: "Rate exceeded" },
      is: { kind: "busy", message: "Rate exceeded" },
    },
    {
      who: "Bedrock, the model failed",
      status: 424,
      body: { message: "The system encountered an unexpected error during processing. Try your request again." },
      is: { kind: "busy" },
    },
    {
      who: "llama.cpp, loading",
      status: 503,
      body: { error: { message: "Loading model", type: "unavailable_error", code: 503 } },
      is: { kind: "busy", message: "HTTP 503: Loading model" },
    },
    {
      who: "z.ai, too many at once",
      status: 429,
      body: { error: { code: "1302", message: "High concurrency usage of this API" } },
      is: { kind: "busy" },
    },
    {
      who: "DashScope, a limit",
      status: 429,
      body: { code: "Throttling.RateQuota", message: "Requests rate limit exceeded" },
      is: { kind: "busy" },
    },
    {
      who: "Cohere, a limit",
      status: 429,
      body: { message: "You are using a Trial key, which is limited to 20 API calls / minute." },
      is: { kind: "busy" },
    },
    {
      who: "vLLM, a fault",
      status: 500,
      body: { object: "error", message: "EngineDeadError", type: "InternalServerError", code: 500 },
      is: { kind: "busy" },
    },
    {
      who: "Cloudflare, a page",
      status: 522,
      body: "<!DOCTYPE html>\n<html><head><title>api.example.com | 522: Connection timed out</title></head><body>long</body></html>",
      is: { kind: "busy", message: 'HTTP 522: a web page answered ("api.example.com | 522: Connection timed out")' },
    },
    {
      who: "Cloudflare, its short form",
      status: 520,
      body: "error code: 520",
      is: { kind: "busy", message: "HTTP 520: error code: 520" },
    },
    { who: "Cloudflare, nothing", status: 524, body: "", is: { kind: "busy", message: "took too long" } },
    {
      who: "nginx",
      status: 502,
      body: "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body></html>",
      headers: { "content-type": "text/html" },
      is: { kind: "busy", message: '("502 Bad Gateway")' },
    },
    {
      who: "a gateway's text",
      status: 504,
      body: "upstream request timeout",
      is: { kind: "busy", message: "HTTP 504: upstream request timeout" },
    },
    { who: "an empty 500", status: 500, body: "", is: { kind: "busy", message: "HTTP 500: an error of the server" } },
    { who: "an empty 408", status: 408, body: "", is: { kind: "busy" } },
    { who: "a conflict", status: 409, body: "", is: { kind: "busy" } },
    { who: "too early", status: 425, body: "", is: { kind: "busy" } },
    { who: "a client that left", status: 499, body: { error: "client closed request" }, is: { kind: "busy" } },
    {
      who: "JSON that is cut off",
      status: 500,
      body: '{"error":{"message":"The server had an error while proc',
      is: { kind: "busy", message: "HTTP 500: The server had an error while proc" },
    },
    { who: "JSON without words", status: 503, body: "{}", is: { kind: "busy", message: "HTTP 503: {}" } },
  ])
})
