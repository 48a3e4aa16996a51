// Words and codes of providers, by what they mean. Codes are in lower case and decide before words do; words are looked
// for in a short piece of text without longer quotations (see context-words.ts).

export interface Rule {
  codes: ReadonlySet<string>
  says: RegExp
}

/** A provider's policy on content. */
export const declined: Rule = {
  codes: new Set([
    "content_filter",
    "content_filter_error",
    "content_policy_violation",
    "contentpolicyviolationerror",
    "responsibleaipolicyviolation",
    "invalid_prompt", // OpenAI: flagged as potentially violating the usage policy
    "cyber_policy_violation",
    "moderation",
    "moderation_blocked",
    "data_inspection_failed", // DashScope
    "datainspectionfailed",
    "sensitive_content",
    "prohibited_content", // Gemini
    "blocklist",
    "safety",
    "spii",
    "1301", // z.ai
    "minimax-1026",
    "minimax-1027",
  ]),
  says: /content (?:management|filtering) policy|(?:our|the) safety system|violat\w{0,6} (?:our |the )?(?:usage|content) (?:policy|policies|guidelines)|flagged (?:as|for|by)|input was flagged|requires moderation|content exists risk|inappropriate content|considered high risk|blocked due to (?:safety|prohibited)/i,
}

export const contextCodes: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "contextwindowexceedederror", // LiteLLM
  "context_window_exceeded",
  "model_context_window_exceeded",
  "model_max_prompt_tokens_exceeded", // Copilot
  "tokens_limit_reached", // GitHub Models
  "exceed_context_size_error", // llama.cpp
  "request_too_large", // Anthropic
  "prompt_too_long",
  "1261", // z.ai
])

export const credit: Rule = {
  codes: new Set([
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_credits",
    "insufficient_funds",
    "exceeded_current_quota_error", // Moonshot
    "billing_error", // Anthropic
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_disabled", // Google
    "payment_required",
    "credits_exhausted",
    "quota_not_enough",
    "arrearage", // DashScope
    "accountoverdueerror", // Volcengine
    "invalid_payment_instrument", // Bedrock
    "1113", // z.ai
    "minimax-1008",
  ]),
  says: /insufficient (?:account )?(?:balance|credits?|funds|quota)|credit balance is too low|(?:requires?|need) more credits|used all available credits|(?:out of|no|not enough|doesn't have any) (?:remaining |available )?credits|credit limit exceeded|monthly spending limit|reached your (?:specified )?(?:api )?usage limits|check your (?:plan and )?billing details|requires billing to be enabled|please recharge|in good standing|no resource package/i,
}

export const key: Rule = {
  codes: new Set([
    "invalid_api_key",
    "api_key_invalid", // Google
    "incorrect_api_key",
    "authentication_error",
    "authenticationerror",
    "invalid_authentication_error",
    "unauthenticated",
    "unauthorized",
    "token_expired",
    "unrecognizedclientexception", // AWS
    "invalidsignatureexception",
    "incompletesignatureexception",
    "missingauthenticationtokenexception",
    "expiredtokenexception",
    "minimax-1004",
    "minimax-2049",
  ]),
  says: /api[ _-]?key (?:is |was |has )?(?:not valid|invalid|expired|missing|not found|required)|(?:incorrect|invalid|missing|wrong|expired|no) api[ _-]?key|security token included in the request is|invalid (?:bearer|access) token|no auth credentials/i,
}

/** The key is right, and may not do this. */
export const permission: Rule = {
  codes: new Set([
    "permission_error",
    "permission_denied",
    "accessdeniedexception", // AWS
    "access_denied",
    "insufficient_permissions",
    "model_terms_required", // Groq
    "service_disabled", // Google
    "forbidden",
  ]),
  says: /you don't have access to the model|do(?:es)? not have (?:access|permission)|not authorized to|permission denied/i,
}

export const region: Rule = {
  codes: new Set(["unsupported_country_region_territory", "unsupported_region", "region_not_supported"]),
  says: /country, region,? or territory|location is not supported|not (?:available|supported|accessible) (?:in|from) (?:your|this) (?:country|region|location)/i,
}

export const unknownModel: Rule = {
  codes: new Set([
    "model_not_found",
    "modelnotfound",
    "unknown_model",
    "invalid_model",
    "model_decommissioned", // Groq
    "model_not_supported", // Copilot
    "deploymentnotfound", // Azure
    "resourcenotfoundexception", // AWS
    "1211", // z.ai
  ]),
  says: /\bmodels?\b.{0,120}\b(?:not found|not exist|doesn't exist|been decommissioned|not deployed)|not found the model|(?:unknown|no such|invalid) model\b|not a valid model|model identifier is invalid|no models? (?:is )?loaded|on-demand throughput isn|no available channel for model/i,
}

/** Something the request refers to is gone at the provider, or a call was made that no tool answers to: mendable. */
export const staleForm: Rule = {
  codes: new Set(["previous_response_not_found", "tool_use_failed", "invalid_encrypted_content"]),
  says: /items? (?:with id .{1,100} not found|.{0,20}not persisted)|previous response with id|does not support (?:tools|function|image|thinking|reasoning)/i,
}

/** Busy whatever the status: some send these with 400, or inside a reply of 200. */
export const throttled: ReadonlySet<string> = new Set([
  "rate_limit_error",
  "rate_limit_exceeded",
  "ratelimiterror",
  "rate_limit_reached_error",
  "too_many_requests",
  "throttlingexception",
  "throttling",
  "throttling.ratequota",
  "throttling.allocationquota",
  "toomanyrequestsexception",
  "servicequotaexceededexception",
  "modelnotreadyexception",
  "1302",
  "1303",
  "1305",
  "minimax-1002",
  "minimax-1039",
])

/** What an error inside a reply says when the same request may pass later. */
export const busy: Rule = {
  codes: new Set([
    "overloaded_error",
    "overloaded",
    "engine_overloaded_error",
    "engine_overloaded",
    "server_overloaded",
    "slow_down",
    "server_error",
    "internal_error",
    "internal_server_error",
    "internalservererror",
    "internalserverexception",
    "internal",
    "api_error",
    "unavailable",
    "unavailable_error", // llama.cpp
    "service_unavailable",
    "serviceunavailableexception",
    "resource_exhausted",
    "deadline_exceeded",
    "timeout",
    "timeout_error",
    "modeltimeoutexception",
    "modelstreamerrorexception",
    "insufficient_system_resource", // DeepSeek
    "minimax-1000",
    "minimax-1001",
    "minimax-1013",
  ]),
  says: /overload|\bcapacity\b|rate[ _-]?limit|too many requests|temporarily|server[ _]error|internal error|\bunavailable\b|try again|retry your request|timed out|timeout|has crashed|loading model|bad gateway|upstream (?:error|connect)|compute error|connection (?:error|reset|closed)|resource (?:has been )?exhausted|error occurred while processing/i,
}

/** Types that make even a 5xx a matter of the request's shape: proxies pass a provider's 400 on as 500. */
export const form: Rule = {
  codes: new Set([
    "invalid_request_error",
    "invalid_request",
    "invalid_argument",
    "invalidparameter",
    "invalid_parameter",
    "validationexception",
    "badrequesterror",
    "bad_request",
    "bad_request_error",
    "unprocessable_entity",
    "failed_precondition",
    "unsupported_value",
    "unsupported_parameter",
    "minimax-2013",
  ]),
  says: /jinja|chat template|template (?:error|rendering)|requires --jinja|invalid (?:type|schema|role)\b/i,
}

/** A quota of a day: no short wait helps. Google names it in the quota's id. */
export const daily = /perday|per[- ]day\b|\bdaily\b|limit: 0\b/i
export const needsMemory = /requires more system memory/i
export const routerPolicy = /no endpoints found (?:that|matching)|no allowed providers/i
export const loading = /loading model|model is (?:currently )?(?:being )?load|is warming up|not ready yet/i
export const tokensOfReply = /\bmax_?(?:completion_|output_|new_)?tokens\b/i

export function matches(rule: Rule, codes: readonly string[], words: string): boolean {
  return codes.some((code) => rule.codes.has(code)) || rule.says.test(words)
}

export function hasCode(codes: ReadonlySet<string>, found: readonly string[]): boolean {
  return found.some((code) => codes.has(code))
}
