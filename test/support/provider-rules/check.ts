// request -> wire by its path -> dialect by its provider -> the first rule that is broken, as the provider says it.
import { anthropic, strictAnthropic } from "./anthropic.ts"
import { bedrock } from "./bedrock.ts"
import { cerebras } from "./cerebras.ts"
import type { CheckedRequest, Dialect, ProviderName, Refusal, WireName } from "./contract.ts"
import { deepseek } from "./deepseek.ts"
import { gemini } from "./gemini.ts"
import { generic } from "./generic.ts"
import { groq } from "./groq.ts"
import { openrouter, together, xai } from "./hosted.ts"
import { createIssued, type Issued } from "./issued.ts"
import { llamaCpp, lmstudio, ollama, vllm } from "./local.ts"
import { mistral } from "./mistral.ts"
import { azureChat, openaiChat } from "./openai-chat.ts"
import { azureResponses, openaiResponses } from "./openai-responses.ts"
import { pathOf } from "./read.ts"

/** What is played when no provider was named. */
const unnamed: Readonly<Record<WireName, Dialect>> = {
  chat: generic,
  responses: openaiResponses,
  messages: anthropic,
  gemini,
  converse: bedrock,
}

const dialects: Readonly<Record<ProviderName, Partial<Record<WireName, Dialect>>>> = {
  generic: {},
  "openai-chat": { chat: openaiChat },
  "openai-responses": { responses: openaiResponses },
  anthropic: { messages: anthropic },
  "strict-anthropic": { messages: strictAnthropic },
  gemini: { gemini },
  bedrock: { converse: bedrock },
  azure: { chat: azureChat, responses: azureResponses },
  mistral: { chat: mistral },
  groq: { chat: groq },
  deepseek: { chat: deepseek },
  cerebras: { chat: cerebras },
  xai: { chat: xai },
  openrouter: { chat: openrouter },
  together: { chat: together },
  "llama.cpp": { chat: llamaCpp },
  ollama: { chat: ollama },
  vllm: { chat: vllm },
  lmstudio: { chat: lmstudio },
}

/** These serve Responses or Messages beside their own interface, by the common rules of those. */
const servesMore: ReadonlySet<ProviderName> = new Set([
  "groq",
  "xai",
  "openrouter",
  "llama.cpp",
  "ollama",
  "vllm",
  "lmstudio",
])

/** By the end of the path, so that any prefix serves as base address. */
export function wireNameOf(path: string): WireName | undefined {
  const end = pathOf(path)
  if (end.endsWith("/chat/completions")) return "chat"
  if (end.endsWith("/responses")) return "responses"
  if (end.endsWith("/messages")) return "messages"
  if (end.endsWith(":streamGenerateContent")) return "gemini"
  return end.endsWith("/converse-stream") ? "converse" : undefined
}

export const allDialects: readonly Dialect[] = [
  ...new Set([unnamed, ...Object.values(dialects)].flatMap((byWire) => Object.values(byWire))),
]

/** Undefined: this provider does not serve this path. */
export function dialectOf(provider: ProviderName | undefined, path: string): Dialect | undefined {
  const wire = wireNameOf(path)
  if (wire === undefined) return undefined
  if (provider === undefined || provider === "generic") return unnamed[wire]
  return dialects[provider][wire] ?? (servesMore.has(provider) ? unnamed[wire] : undefined)
}

/**
 * What the provider would refuse this request with; undefined: it would take it. Without a provider the common rules of
 * the interface hold, and no key is asked for. With a memory of what was issued, what comes back is compared with it.
 */
export function checkRequest(
  request: CheckedRequest,
  provider?: ProviderName,
  issued: Issued = createIssued(),
): Refusal | undefined {
  const wire = wireNameOf(request.path)
  if (wire === undefined) return undefined
  const dialect = dialectOf(provider, request.path)
  if (!dialect) return unknownPath(request.path)
  const asksForKey = provider !== undefined && dialects[provider][wire] === dialect
  const rules = asksForKey ? [dialect.credentials, ...dialect.rules] : dialect.rules
  for (const rule of rules) {
    const fault = rule(request, issued)
    if (!fault) continue
    const status = fault.status ?? 400
    const headers = dialect.errorHeaders ? { headers: dialect.errorHeaders } : {}
    return { status, body: dialect.errorBody(fault, status), rule: rule.name, ...headers }
  }
  return undefined
}

function unknownPath(path: string): Refusal {
  const message = `Invalid URL (POST ${path})`
  const body = { error: { message, type: "invalid_request_error", param: null, code: null } }
  return { status: 404, body, rule: "unknownPath" }
}
