// The keys of `models.*`: providers, their keys and addresses, and what is known of their models.
import { z } from "zod"

const dollars = z.number().min(0)

const prices = z
  .strictObject({
    input: dollars.meta({ description: "US dollars for a million tokens of the prompt." }),
    output: dollars.meta({ description: "US dollars for a million tokens of the reply, reasoning included." }),
    cacheRead: dollars.optional().meta({
      description: "US dollars for a million tokens of the prompt that the provider had in its cache.",
      defaultText: "as `input`",
    }),
    cacheWrite: dollars.optional().meta({
      description: "US dollars for a million tokens that the provider puts into its cache.",
      defaultText: "as `input`",
    }),
  })
  .meta({ description: "Prices, for the ledger of tokens." })

const levels = ["minimal", "low", "medium", "high"] as const

/** Ways of a server that differ from those of its preset. All optional: what is unset is the preset's. */
const quirks = z
  .strictObject({
    streamOptions: z.boolean().optional().meta({
      description: "Whether `stream_options` may be sent, which asks for the count of tokens.",
    }),
    maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).optional().meta({
      description: "Name under which the server takes the longest reply.",
    }),
    reasoningField: z.enum(["reasoning_content", "reasoning", "reasoning_details", "none"]).optional().meta({
      description: "Name under which the server wants earlier reasoning back; `none`: it takes none.",
    }),
    thinking: z.enum(["effort", "object", "openrouter", "template", "none"]).optional().meta({
      description:
        "How a thinking level is sent: `reasoning_effort`, `thinking: {type}`, `reasoning: {effort}`, `chat_template_kwargs: {enable_thinking}`, or not at all.",
    }),
    reasoningTags: z.enum(["auto", "open", "off"]).optional().meta({
      description:
        "Reasoning inside the text: `auto` takes `<think>...</think>` and channels out, `open` also expects a reply to begin inside one, `off` leaves the text as it is.",
    }),
    eagerInputStreaming: z.boolean().optional().meta({
      description: "Kind `anthropic`: whether `eager_input_streaming` may be sent. Strict proxies refuse it.",
    }),
    toolPictures: z.enum(["in-result", "after-result"]).optional().meta({
      description: "Where pictures of tool results go: into the result, or into a message of the user behind it.",
    }),
    callIds: z.enum(["any", "nine"]).optional().meta({
      description: "`nine`: ids of tool calls are nine letters and digits, as Mistral wants them.",
    }),
    cacheMarks: z.boolean().optional().meta({
      description: "Whether parts of the prompt are marked with `cache_control`.",
    }),
  })
  .meta({ description: "Ways of the server that differ from its preset's." })

const extraBody = z.record(z.string().min(1), z.json()).meta({
  description: "Further fields of the request's body. They win over ours.",
})

const extraHeaders = z
  .record(z.string().min(1), z.string().meta({ description: "Value of the header.", secret: true }))
  .meta({ description: "Further request headers." })

const idleTimeoutSeconds = z.number().min(1).max(3600)

const modelEntry = z
  .strictObject({
    contextTokens: z.int().min(1).optional().meta({
      description: "Tokens that fit into one request, prompt and reply together.",
    }),
    maxOutputTokens: z.int().min(1).optional().meta({ description: "Tokens of the longest reply." }),
    vision: z.boolean().optional().meta({ description: "Whether the model takes pictures." }),
    reasoning: z
      .union([z.boolean(), z.array(z.enum(levels)).min(1)])
      .optional()
      .meta({ description: "Whether the model thinks on demand, or the levels that it takes." }),
    temperature: z.number().min(0).max(2).optional().meta({ description: "Sampling temperature; unset: not sent." }),
    prices: prices.optional(),
    idleTimeoutSeconds: idleTimeoutSeconds.optional().meta({
      description: "As that of the provider, for this model. A local CPU needs minutes for a long prompt.",
    }),
    extraBody: extraBody.optional(),
    headers: extraHeaders.optional(),
    quirks: quirks.optional(),
  })
  .meta({ description: "What is known of one model." })

/** Services and servers that speak Chat Completions, each with its address and its ways. */
export const presetNames = [
  "ollama",
  "llama.cpp",
  "vllm",
  "lmstudio",
  "openrouter",
  "groq",
  "deepseek",
  "mistral",
  "xai",
  "together",
  "cerebras",
] as const

const kinds = ["openai", "anthropic", "google", "vertex", "azure", "bedrock", "openai-compatible"] as const

const apiKey = z.string().min(1).meta({ description: "One key.", secret: true })

function hasCredentials(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { username, password } = new URL(address)
  return username !== "" || password !== ""
}

const provider = z
  .strictObject({
    kind: z.enum(kinds).meta({
      description: "Which interface the provider speaks. `openai-compatible` needs `baseUrl` or a `preset`.",
    }),
    preset: z.enum(presetNames).optional().meta({
      description: "Kind `openai-compatible`: the service or server, with its address and its ways.",
    }),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .refine((address) => !hasCredentials(address), {
        error: "must hold no user or password: these go into headers, as Authorization",
      })
      .optional()
      .meta({ description: "Address of the interface, for example `http://127.0.0.1:11434/v1`." }),
    apiKey: z.string().min(1).optional().meta({
      description: "Key of the provider. When unset, `<PROVIDER>_API_KEY` of the environment is used.",
      secret: true,
    }),
    apiKeys: z.array(apiKey).min(1).optional().meta({
      description: "Several keys: the next one is used while a key is refused or has used up its limit.",
    }),
    region: z.string().min(1).optional().meta({
      description: "Kinds `bedrock` and `vertex`: the region, such as `eu-central-1` or `europe-west1`.",
    }),
    project: z.string().min(1).optional().meta({ description: "Kind `vertex`: the project of the cloud account." }),
    credentialsFile: z.string().min(1).optional().meta({
      description:
        "Kind `vertex`: key file of a service account, or the file that the cloud's own tool has written. When unset, `GOOGLE_APPLICATION_CREDENTIALS`.",
    }),
    apiVersion: z.string().min(1).optional().meta({
      description: "Kind `azure`: the version of the interface.",
      defaultText: "`v1`",
    }),
    headers: extraHeaders.optional(),
    extraBody: extraBody.optional(),
    idleTimeoutSeconds: idleTimeoutSeconds.optional().meta({
      description: "Seconds in which the provider may send nothing at all.",
      defaultText: "120",
    }),
    quirks: quirks.optional(),
    models: z
      .record(z.string().min(1), modelEntry)
      .optional()
      .meta({ description: "Models of the provider whose facts differ from the built-in ones, by id." }),
  })
  .refine((entry) => entry.kind !== "openai-compatible" || entry.baseUrl !== undefined || entry.preset !== undefined, {
    path: ["baseUrl"],
    error: 'is required when kind is "openai-compatible" and no preset is named',
  })
  .refine((entry) => entry.kind === "openai-compatible" || entry.preset === undefined, {
    path: ["preset"],
    error: 'is for kind "openai-compatible" only',
  })
  .meta({ description: "One provider of models." })

const retry = z
  .strictObject({
    attempts: z.int().min(1).max(20).default(7).meta({
      description:
        "Tries in all of the last model that can be asked; a model with a fallback behind it is tried 3 times at most.",
    }),
    minDelayMs: z.int().min(10).max(60_000).default(500).meta({
      description: "Milliseconds before the second try; each further pause is twice as long.",
    }),
    maxDelayMs: z.int().min(10).max(300_000).default(8000).meta({
      description:
        "Milliseconds between two tries at most. A wait that the provider names, up to a minute, counts instead.",
    }),
  })
  .prefault({})
  .meta({ description: "How a model is asked again that is busy, loading or cannot be reached." })

export const modelsSchema = z
  .strictObject({
    retry,
    providers: z
      .record(
        z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, "must be lower-case letters, digits, dots and dashes"),
        provider,
      )
      .default({})
      .meta({ description: "Providers by name; the name is the first half of `provider/model`." }),
  })
  .prefault({})
  .meta({ description: "Model providers." })

export type ModelsConfig = z.infer<typeof modelsSchema>
export type ModelProviderConfig = z.infer<typeof provider>
export type ModelEntryConfig = z.infer<typeof modelEntry>
export type ModelQuirks = z.infer<typeof quirks>
export type ModelPrices = z.infer<typeof prices>
export type PresetName = (typeof presetNames)[number]
