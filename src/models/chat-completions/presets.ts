// What is known of each service and server that speaks Chat Completions: its address and its ways. Data only; each rule
// that could surprise has its source beside it. `ways.ts` picks a row and lays the configuration over it.
import type { ModelQuirks, PresetName } from "../config.ts"
import {
  cerebrasEfforts,
  deepSeekEfforts,
  googleEfforts,
  groqEfforts,
  mistralEfforts,
  ollamaEfforts,
} from "./efforts.ts"
import { type EffortRules, localEfforts, plainEfforts, xaiEfforts } from "./efforts.ts"
import type { SchemaDialect } from "./tool-schema.ts"

export interface Ways {
  streamOptions: boolean
  maxTokensField: "max_tokens" | "max_completion_tokens"
  /** `as-received`: under the name it came by. `content`: as parts of the content (Mistral). */
  reasoningField: NonNullable<ModelQuirks["reasoningField"]> | "as-received" | "content"
  thinking: NonNullable<ModelQuirks["thinking"]>
  reasoningTags: NonNullable<ModelQuirks["reasoningTags"]>
  eagerInputStreaming: boolean
  toolPictures: NonNullable<ModelQuirks["toolPictures"]>
  callIds: NonNullable<ModelQuirks["callIds"]>
  cacheMarks: boolean
  /** Models of Anthropic behind this service are marked; its other models cache by themselves. */
  marksAnthropic: boolean
  /** Reasoning that came inside the text, in tags, goes back inside the text. */
  taggedReasoning: boolean
  /** Content of an assistant's message that only calls tools. */
  emptyContent: "" | null
  /** Reasoning of a message that has none, where the server insists on it; `calls`: only in messages with calls. */
  reasoningFiller: { text: string; on: "all" | "calls" } | undefined
  /** Where the key of the conversation goes: a field of the body or a header. */
  cacheKey: { field: string } | { header: string } | undefined
  schemas: SchemaDialect
  efforts: EffortRules
  /** `reasoning: {enabled}` instead of `reasoning: {effort}`. */
  togglesReasoning: boolean
  /** A user's message may not follow results of tools: something of the assistant stands between. */
  assistantBeforeUser: boolean
  /** Results name their tool. */
  namedResults: boolean
}

export interface Preset {
  baseUrl: string
  needsKey: boolean
  ways: Ways
}

/** A server of which nothing is known: what every one takes. */
export const unknownServer: Ways = {
  streamOptions: true,
  maxTokensField: "max_tokens",
  reasoningField: "as-received",
  thinking: "effort",
  reasoningTags: "auto",
  eagerInputStreaming: false,
  toolPictures: "after-result",
  callIds: "any",
  cacheMarks: false,
  marksAnthropic: false,
  taggedReasoning: false,
  emptyContent: null,
  reasoningFiller: undefined,
  cacheKey: undefined,
  schemas: "plain",
  efforts: plainEfforts,
  togglesReasoning: false,
  assistantBeforeUser: false,
  namedResults: false,
}

const presets: Readonly<Record<PresetName, Preset>> = {
  // ollama/ollama openai/openai.go: reads `reasoning` of messages, `reasoning_effort` none|low|medium|high|max, and
  // loses the id of a result whose content is not a string.
  ollama: {
    baseUrl: "http://127.0.0.1:11434/v1",
    needsKey: false,
    ways: { ...unknownServer, reasoningField: "reasoning", efforts: ollamaEfforts, schemas: "grammar" },
  },
  "llama.cpp": {
    baseUrl: "http://127.0.0.1:8080/v1",
    needsKey: false,
    ways: { ...unknownServer, reasoningField: "reasoning_content", thinking: "template", schemas: "grammar" },
  },
  // docs.vllm.ai reasoning_outputs (v0.26): `reasoning`, which was `reasoning_content` before; chat_utils.py reads it.
  vllm: {
    baseUrl: "http://127.0.0.1:8000/v1",
    needsKey: false,
    ways: { ...unknownServer, reasoningField: "reasoning", thinking: "template" },
  },
  // lmstudio-bug-tracker#261: refuses `content: null`. Its engine is llama.cpp's (hermes-agent#67349 for the grammar).
  lmstudio: {
    baseUrl: "http://127.0.0.1:1234/v1",
    needsKey: false,
    ways: { ...unknownServer, emptyContent: "", efforts: localEfforts, schemas: "grammar" },
  },
  // openrouter.ai/docs: reasoning tokens; marks are passed on to Anthropic (prompt caching); the header keeps a
  // conversation with one upstream and its cache.
  openrouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    needsKey: true,
    ways: {
      ...unknownServer,
      reasoningField: "reasoning_details",
      thinking: "openrouter",
      marksAnthropic: true,
      cacheKey: { header: "x-session-id" },
    },
  },
  // Refuses `reasoning_content` (jan#8136).
  groq: {
    baseUrl: "https://api.groq.com/openai/v1",
    needsKey: true,
    ways: {
      ...unknownServer,
      maxTokensField: "max_completion_tokens",
      reasoningField: "reasoning",
      efforts: groqEfforts,
    },
  },
  // api-docs.deepseek.com: `thinking: {type}`. With thinking on, a message without `reasoning_content` is refused; an
  // empty one passes, which is what goes out for messages of other models (vercel/ai deepseek, llmgateway#2093).
  deepseek: {
    baseUrl: "https://api.deepseek.com",
    needsKey: true,
    ways: {
      ...unknownServer,
      reasoningField: "reasoning_content",
      thinking: "object",
      reasoningTags: "off",
      emptyContent: "",
      reasoningFiller: { text: "", on: "all" },
      efforts: deepSeekEfforts,
    },
  },
  // mistralai/client-python models: no `stream_options` (usage comes anyway), `max_tokens`, `prompt_cache_key`, reasoning
  // as `thinking` parts of the content, content of results as parts. A user's message behind results is refused
  // ("Unexpected role 'user' after role 'tool'").
  mistral: {
    baseUrl: "https://api.mistral.ai/v1",
    needsKey: true,
    ways: {
      ...unknownServer,
      streamOptions: false,
      reasoningField: "content",
      reasoningTags: "off",
      toolPictures: "in-result",
      callIds: "nine",
      emptyContent: "",
      cacheKey: { field: "prompt_cache_key" },
      efforts: mistralEfforts,
      assistantBeforeUser: true,
      namedResults: true,
    },
  },
  // docs.x.ai prompt-caching: for Chat Completions the key is a header.
  xai: {
    baseUrl: "https://api.x.ai/v1",
    needsKey: true,
    ways: {
      ...unknownServer,
      maxTokensField: "max_completion_tokens",
      reasoningField: "reasoning_content",
      reasoningTags: "off",
      cacheKey: { header: "x-grok-conv-id" },
      schemas: "xai",
      efforts: xaiEfforts,
    },
  },
  // docs.together.ai/docs/inference/chat/reasoning: `reasoning: {enabled}`, and `reasoning_effort` for gpt-oss.
  together: {
    baseUrl: "https://api.together.xyz/v1",
    needsKey: true,
    ways: { ...unknownServer, reasoningField: "reasoning", thinking: "openrouter", togglesReasoning: true },
  },
  // inference-docs.cerebras.ai/capabilities/reasoning; refuses `reasoning_content` (kilocode#10375).
  cerebras: {
    baseUrl: "https://api.cerebras.ai/v1",
    needsKey: true,
    ways: {
      ...unknownServer,
      maxTokensField: "max_completion_tokens",
      reasoningField: "reasoning",
      cacheKey: { field: "prompt_cache_key" },
      schemas: "cerebras",
      efforts: cerebrasEfforts,
    },
  },
}

/** Address, need of a key, and ways of a named service or server. */
export function presetOf(name: PresetName): Preset {
  return presets[name]
}

/** Ways of services that are known by their address alone. The presets' own hosts are among them. */
export const knownHosts: readonly { host: string; ways: Ways }[] = [
  ...Object.values(presets)
    .filter(({ needsKey }) => needsKey)
    .map(({ baseUrl, ways }) => ({ host: new URL(baseUrl).hostname, ways })),
  { host: "api.together.ai", ways: presets.together.ways },
  {
    host: "api.openai.com",
    ways: {
      ...unknownServer,
      maxTokensField: "max_completion_tokens",
      reasoningField: "none",
      reasoningTags: "off",
      cacheKey: { field: "prompt_cache_key" },
    },
  },
  {
    host: "generativelanguage.googleapis.com",
    ways: { ...unknownServer, reasoningField: "none", reasoningTags: "off", schemas: "google", efforts: googleEfforts },
  },
  // Kimi takes empty reasoning for none at all and refuses the message; a space passes (llmgateway#2093, pi#4178).
  ...["api.moonshot.ai", "api.moonshot.cn"].map((host) => ({
    host,
    ways: {
      ...unknownServer,
      reasoningField: "reasoning_content" as const,
      thinking: "object" as const,
      reasoningFiller: { text: " ", on: "calls" as const },
      cacheKey: { field: "prompt_cache_key" },
      schemas: "moonshot" as const,
    },
  })),
  ...["api.z.ai", "open.bigmodel.cn"].map((host) => ({
    host,
    ways: { ...unknownServer, reasoningField: "reasoning_content" as const, thinking: "object" as const },
  })),
  {
    host: "api.fireworks.ai",
    ways: {
      ...unknownServer,
      reasoningField: "reasoning_content",
      cacheKey: { field: "prompt_cache_key" },
      efforts: localEfforts,
    },
  },
]
