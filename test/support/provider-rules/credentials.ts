// The keys that providers want, and what they say when there is none. Asked for only of a provider that was named.
import type { Fault, Rule } from "./contract.ts"

function bearer(fault: Fault): Rule {
  return function credentials({ headers }) {
    const header = headers.authorization ?? ""
    return /^Bearer \S/i.test(header) ? undefined : { status: 401, ...fault }
  }
}

/** Servers of one's own run without a key. */
export const noCredentials: Rule = function credentials() {
  return undefined
}

// API reference, "Authentication"
export const openaiKey = bearer({
  message:
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
  type: "invalid_request_error",
})

export const mistralKey = bearer({ message: "Unauthorized" })
export const groqKey = bearer({
  message: "Invalid API Key",
  type: "invalid_request_error",
  code: "invalid_api_key",
})
export const deepseekKey = bearer({
  message: "Authentication Fails (auth header format should be Bearer sk-...)",
  type: "authentication_error",
  code: "invalid_request_error",
})
export const cerebrasKey = bearer({
  message: "Wrong API Key",
  type: "invalid_request_error",
  param: "api_key",
  code: "wrong_api_key",
})
export const xaiKey = bearer({ message: "No credentials provided.", code: "unauthenticated:no-credentials" })
export const openrouterKey = bearer({ message: "No auth credentials found" })
export const togetherKey = bearer({
  message: "Missing API key. You can find your API key at https://api.together.ai/settings/api-keys.",
  type: "invalid_request_error",
  code: "missing_api_key",
})

// Docs, "Errors" and "Versions": the key, then the version
export const anthropicKey: Rule = function credentials({ headers }) {
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return { status: 401, type: "authentication_error", message: "x-api-key header is required" }
  }
  if (headers["anthropic-version"] !== undefined) return undefined
  return { type: "invalid_request_error", message: "anthropic-version: header is required" }
}

// googleapis/python-genai: what a call without a key gets
export const geminiKey: Rule = function credentials({ headers, path }) {
  if (headers["x-goog-api-key"] !== undefined || headers.authorization !== undefined) return undefined
  if (new URL(path, "http://localhost").searchParams.has("key")) return undefined
  const message =
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."
  return { status: 403, type: "PERMISSION_DENIED", message }
}

export const azureKey: Rule = function credentials({ headers }) {
  if (headers["api-key"] !== undefined || headers.authorization !== undefined) return undefined
  const message =
    "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource."
  return { status: 401, code: "401", message }
}

// A signed request or a bearer key ("Amazon Bedrock API keys")
export const bedrockKey: Rule = function credentials({ headers }) {
  const header = headers.authorization ?? ""
  if (header.startsWith("AWS4-HMAC-SHA256 ") || /^Bearer \S/i.test(header)) return undefined
  return { status: 403, type: "MissingAuthenticationTokenException", message: "Missing Authentication Token" }
}
