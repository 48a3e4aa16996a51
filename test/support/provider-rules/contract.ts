// What a checker of outgoing requests takes and says. Types, and the names of the providers that it can play.
import type { Json, JsonObject } from "../../../src/kernel/index.ts"
import type { Issued } from "./issued.ts"

export const providerNames = [
  "generic",
  "openai-chat",
  "openai-responses",
  "anthropic",
  "strict-anthropic",
  "gemini",
  "bedrock",
  "azure",
  "mistral",
  "groq",
  "deepseek",
  "cerebras",
  "xai",
  "openrouter",
  "together",
  "llama.cpp",
  "ollama",
  "vllm",
  "lmstudio",
] as const

export type ProviderName = (typeof providerNames)[number]

/** The interfaces, told apart by the end of the path. */
export type WireName = "chat" | "responses" | "messages" | "gemini" | "converse"

export interface CheckedRequest {
  /** With its query, if it has one. */
  path: string
  method: string
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  body: JsonObject
}

export interface Refusal {
  status: number
  body: Json
  headers?: Record<string, string>
  /** Name of the rule that was broken. */
  rule: string
}

/** What is wrong, in the provider's words; the dialect puts it into its own shape of an error body. */
export interface Fault {
  message: string
  /** 400 when unset. */
  status?: number
  type?: string
  param?: string
  code?: string
  /** For bodies that say where it is wrong as data. */
  detail?: Json
}

/** Its name is the name under which a refusal is recorded. */
export type Rule = (request: CheckedRequest, issued: Issued) => Fault | undefined

/** One provider on one interface. */
export interface Dialect {
  rules: readonly Rule[]
  /** The key it wants. Asked for only where the provider was named: servers of one's own want none. */
  credentials: Rule
  errorBody(fault: Fault, status: number): Json
  errorHeaders?: Record<string, string>
}
