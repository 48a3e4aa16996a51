import test from "node:test"
import { anthropic, checkAll, checkBilling, google, openAi } from "./failure.fixture.ts"

test("what no waiting mends is not asked again", async (t) => {
  await checkAll(t, [
    {
      who: "OpenAI, no credit",
      status: 429,
      body: openAi(checkBilling, "insufficient_quota", "insufficient_quota"),
      headers: { "retry-after": "5" },
      is: { kind: "credit", otherKey: true, hint: /billing/ },
    },
    {
      who: "OpenAI, its limit of spending",
      status: 400,
      body: openAi("Billing hard limit has been reached", "invalid_request_error", "billing_hard_limit_reached"),
      is: { kind: "credit", code: "billing_hard_limit_reached" },
    },
    {
      who: "Anthropic, no credit",
      status: 400,
      body: anthropic(
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
      ),
      is: { kind: "credit", otherKey: true },
    },
    {
      who: "Anthropic, the limit that was set",
      status: 400,
      body: anthropic(
        "invalid_request_error",
        "You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.",
      ),
      is: { kind: "credit" },
    },
    {
      who: "OpenRouter, no credit",
      status: 402,
      body: { error: { message: "Insufficient credits. Add more using https://openrouter.ai/credits", code: 402 } },
      is: { kind: "credit" },
    },
    {
      who: "DeepSeek, no credit",
      status: 402,
      body: openAi("Insufficient Balance", "unknown_error", "invalid_request_error"),
      is: { kind: "credit", message: "HTTP 402: Insufficient Balance" },
    },
    {
      who: "Moonshot, no credit",
      status: 403,
      body: {
        error: {
          message:
            "Your account org-x <ak-y> is not active, organization <org-x> exceeded current quota, please check your plan and billing details",
          type: "exceeded_current_quota_error",
        },
      },
      is: { kind: "credit" },
    },
    {
      who: "z.ai, no credit",
      status: 429,
      body: { error: { code: "1113", message: "Insufficient balance or no resource package. Please recharge." } },
      is: { kind: "credit" },
    },
    {
      who: "xAI, no credit",
      status: 403,
      body: {
        code: "The caller does not have permission to execute the specified operation",
        error: "Your team 1234 has either used all available credits or reached its monthly spending limit.",
      },
      is: { kind: "credit" },
    },
    {
      who: "DashScope, no credit",
      status: 400,
      body: { code: "Arrearage", message: "Access denied, please make sure your account is in good standing." },
      is: { kind: "credit" },
    },
    {
      who: "Fireworks, suspended",
      status: 412,
      body: {
        error:
          "Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.",
      },
      is: { kind: "credit" },
    },

    {
      who: "OpenAI, a wrong key",
      status: 401,
      body: openAi(
        "Incorrect API key provided: sk-proj-********abcd. You can find your API key at https://platform.openai.com/account/api-keys.",
        "invalid_request_error",
        "invalid_api_key",
      ),
      is: {
        kind: "key",
        otherKey: true,
        code: "invalid_api_key",
        message: "Incorrect API key provided",
        hint: /Check the provider's key/,
      },
    },
    {
      who: "Anthropic, a wrong key",
      status: 401,
      body: anthropic("authentication_error", "invalid x-api-key"),
      is: { kind: "key" },
    },
    {
      who: "Gemini, a wrong key",
      status: 400,
      body: google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        { reason: "API_KEY_INVALID", domain: "googleapis.com" },
      ]),
      is: { kind: "key", code: "API_KEY_INVALID" },
    },
    {
      who: "xAI, a wrong key",
      status: 400,
      body: {
        code: "Client specified an invalid argument",
        error: "Incorrect API key provided: xa***3F. You can obtain an API key from https://console.x.ai.",
      },
      is: { kind: "key" },
    },
    {
      who: "Bedrock, a wrong key",
      status: 403,
      body: { message: "The security token included in the request is invalid." },
      headers: { "x-amzn-errortype": "UnrecognizedClientException" },
      is: { kind: "key", code: "UnrecognizedClientException" },
    },
    {
      who: "Bedrock, no access to the model",
      status: 403,
      body: { message: "You don't have access to the model with the specified model ID." },
      headers: { "x-amzn-errortype": "AccessDeniedException" },
      is: { kind: "key", otherKey: true, hint: /rights to this model/ },
    },
    {
      who: "Anthropic, no right",
      status: 403,
      body: anthropic("permission_error", "Your API key does not have permission to use the specified resource."),
      is: { kind: "key", hint: /rights/ },
    },
    {
      who: "Vertex, no right",
      status: 403,
      body: google(403, "PERMISSION_DENIED", "Permission 'aiplatform.endpoints.predict' denied on resource"),
      is: { kind: "key", hint: /rights/ },
    },
    {
      who: "OpenRouter, no key",
      status: 401,
      body: { error: { message: "No auth credentials found", code: 401 } },
      is: { kind: "key" },
    },
    {
      who: "Mistral, a wrong key",
      status: 401,
      body: { detail: "Unauthorized" },
      is: { kind: "key", message: "HTTP 401: Unauthorized" },
    },
    { who: "an empty 401", status: 401, body: "", is: { kind: "key", message: "HTTP 401" } },
    {
      who: "OpenAI, a country",
      status: 403,
      body: openAi(
        "Country, region, or territory not supported",
        "request_forbidden",
        "unsupported_country_region_territory",
      ),
      is: { kind: "refused", otherKey: false, hint: /region/ },
    },
    {
      who: "Gemini, a country",
      status: 400,
      body: google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
      is: { kind: "refused", hint: /region/ },
    },
    {
      who: "a firewall",
      status: 403,
      body: "<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>",
      is: { kind: "refused", otherKey: false, message: "Attention Required!", hint: /firewall/ },
    },

    {
      who: "OpenAI, no such model",
      status: 404,
      body: openAi(
        "The model `gpt-9` does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
      ),
      is: { kind: "unknown-model", code: "model_not_found", hint: /baseUrl/ },
    },
    {
      who: "Ollama, no such model",
      status: 404,
      body: { error: 'model "llama9:8b" not found, try pulling it first' },
      is: { kind: "unknown-model", hint: /^Run on the server: ollama pull llama9:8b$/ },
    },
    {
      who: "Ollama's compatible interface",
      status: 404,
      body: openAi('model "qwen3" not found, try pulling it first', "api_error"),
      is: { kind: "unknown-model", hint: /ollama pull qwen3/ },
    },
    {
      who: "LM Studio, nothing loaded",
      status: 400,
      body: {
        error: {
          message: "No models loaded. Please load a model in the developer page or use the `lms load` command.",
          type: "invalid_request_error",
          code: "model_not_found",
        },
      },
      is: { kind: "unknown-model", hint: /lms load/ },
    },
    {
      who: "DeepSeek, no such model",
      status: 400,
      body: openAi("Model Not Exist", "invalid_request_error", "invalid_request_error"),
      is: { kind: "unknown-model" },
    },
    {
      who: "Mistral, no such model",
      status: 400,
      body: { object: "error", message: "Invalid model: mistral-huge", type: "invalid_model", code: "1500" },
      is: { kind: "unknown-model" },
    },
    {
      who: "Bedrock, no such model",
      status: 400,
      body: { message: "The provided model identifier is invalid." },
      is: { kind: "unknown-model" },
    },
    {
      who: "Bedrock, without a profile",
      status: 400,
      body: {
        message:
          "Invocation of model ID anthropic.claude with on-demand throughput isn\u2019t supported. Retry your request with the ID or ARN of an inference profile that contains this model.",
      },
      is: { kind: "unknown-model", hint: /inference profile/ },
    },
    {
      who: "Azure, no such deployment",
      status: 404,
      body: { error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." } },
      is: { kind: "unknown-model", code: "DeploymentNotFound" },
    },
    {
      who: "Groq, a model that is gone",
      status: 400,
      body: openAi(
        "The model `mixtral-8x7b-32768` has been decommissioned and is no longer supported.",
        "invalid_request_error",
        "model_decommissioned",
      ),
      is: { kind: "unknown-model" },
    },
    {
      who: "Anthropic, no such model",
      status: 404,
      body: anthropic("not_found_error", "model: claude-9"),
      is: { kind: "unknown-model" },
    },
    {
      who: "OpenRouter, no such model",
      status: 400,
      body: { error: { message: "foo/bar is not a valid model ID", code: 400 } },
      is: { kind: "unknown-model" },
    },
    {
      who: "a reseller, no channel",
      status: 503,
      body: openAi("No available channel for model gpt-9 under group default", "new_api_error", "model_not_found"),
      is: { kind: "unknown-model" },
    },
    { who: "a wrong path", status: 404, body: "404 page not found", is: { kind: "unknown-model", hint: /baseUrl/ } },
    {
      who: "a wrong path of FastAPI",
      status: 404,
      body: { detail: "Not Found" },
      is: { kind: "unknown-model", message: "HTTP 404: Not Found" },
    },
    {
      who: "a wrong host",
      status: 404,
      body: "<html><head><title>404 Not Found</title></head></html>",
      is: { kind: "unknown-model", hint: /web page/ },
    },

    {
      who: "Azure's filter",
      status: 400,
      body: {
        error: {
          message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          type: null,
          param: "prompt",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      },
      is: { kind: "declined" },
    },
    {
      who: "OpenAI's policy",
      status: 400,
      body: openAi(
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        "invalid_request_error",
        "invalid_prompt",
      ),
      is: { kind: "declined" },
    },
    {
      who: "Anthropic's filter",
      status: 400,
      body: anthropic("invalid_request_error", "Output blocked by content filtering policy"),
      is: { kind: "declined" },
    },
    {
      who: "DeepSeek's filter",
      status: 400,
      body: openAi("Content Exists Risk", "invalid_request_error", "invalid_request_error"),
      is: { kind: "declined" },
    },
    {
      who: "DashScope's filter",
      status: 400,
      body: openAi(
        "Output data may contain inappropriate content.",
        "data_inspection_failed",
        "data_inspection_failed",
      ),
      is: { kind: "declined" },
    },
    {
      who: "OpenRouter's moderation",
      status: 403,
      body: {
        error: {
          message: "openai/gpt-4o requires moderation on OpenAI. Your input was flagged for violence.",
          code: 403,
          metadata: { reasons: ["violence"], flagged_input: "my secret question", provider_name: "OpenAI" },
        },
      },
      is: { kind: "declined", otherKey: false },
    },

    { who: "no such method", status: 405, body: { detail: "Method Not Allowed" }, is: { kind: "refused" } },
    { who: "not implemented", status: 501, body: { error: "not implemented" }, is: { kind: "refused" } },
    { who: "a redirect", status: 307, body: "", is: { kind: "refused" } },
    {
      who: "Ollama, too little memory",
      status: 500,
      body: { error: "model requires more system memory (8.4 GiB) than is available (5.1 GiB)" },
      is: { kind: "refused", hint: /memory/ },
    },
    {
      who: "OpenRouter, its settings",
      status: 404,
      body: { error: { message: "No endpoints found matching your data policy.", code: 404 } },
      is: { kind: "refused", hint: /settings/ },
    },
  ])
})
