// Kind `google`: the Gemini API with a key. `vertex.ts` uses the same package with other addresses and a token.
import { isJsonObject, trimEnd } from "../../../kernel/index.ts"
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { GoogleLanguageModel } from "@ai-sdk/google/internal"
import type { StepCall } from "../../providers/contract.ts"
import type { MetaRules } from "../meta.ts"
import { toPrompt } from "../prompt.ts"
import type { PreparedStep, SdkParts } from "../contract.ts"
import { type ReplyForm, createTransport, mergeHeaders } from "../transport.ts"
import { geminiOptions, takesPicturesInResults } from "./options.ts"

const ownAddress = "https://generativelanguage.googleapis.com/v1beta"

export async function prepareGemini(call: StepCall, parts: SdkParts): Promise<PreparedStep> {
  const headers = { "x-goog-api-key": call.key?.reveal() }
  const baseURL = trimEnd(call.settings.baseUrl ?? ownAddress, "/")
  return geminiStep(call, parts, { provider: "google.generative-ai", baseURL, headers, key: "google" })
}

export interface GeminiPlace {
  /** The package does without ids of calls on Vertex, which refuses them, and tells it by this name. */
  provider: "google.generative-ai" | "google.vertex.chat"
  baseURL: string
  headers: Readonly<Record<string, string | undefined>>
  key: "google" | "googleVertex"
}

export function geminiStep(call: StepCall, parts: SdkParts, place: GeminiPlace): PreparedStep {
  const { modelId } = call.target
  const model = new GoogleLanguageModel(modelId, {
    provider: place.provider,
    baseURL: place.baseURL,
    headers: mergeHeaders(place.headers, call),
    fetch: createTransport(call, createGeminiForm),
    generateId: () => `call-${parts.ids.token(9)}`,
  })
  const prompt = toPrompt(call, {
    key: place.key,
    toolPictures: takesPicturesInResults(modelId) ? "in-result" : "after-result",
    // Summaries of thoughts need not go back; what is signed must.
    takesReasoning: ({ meta }) => meta?.thoughtSignature !== undefined,
  })
  const tools = call.tools.map((tool): LanguageModelV4FunctionTool => ({
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
  }))
  const options = geminiOptions(call)
  const providerOptions = options.thinkingConfig ? { [place.key]: { thinkingConfig: options.thinkingConfig } } : {}
  return {
    model,
    options: {
      prompt,
      ...(tools.length === 0 ? {} : { tools }),
      ...(options.maxOutputTokens === undefined ? {} : { maxOutputTokens: options.maxOutputTokens }),
      ...(call.target.entry.temperature === undefined ? {} : { temperature: call.target.entry.temperature }),
      providerOptions,
    },
    meta: metaFor(place.key),
  }
}

function metaFor(key: GeminiPlace["key"]): MetaRules {
  const signature = ["thoughtSignature"]
  return { key, text: signature, reasoning: signature, call: signature }
}

function createGeminiForm(): ReplyForm {
  let isWhole = false
  return {
    mend(chunk) {
      const { candidates } = chunk
      const candidate = Array.isArray(candidates) ? candidates.find(isJsonObject) : undefined
      // Chunks without one only count; and some chunks end although the reply goes on in others.
      if (candidate) isWhole = typeof candidate.finishReason === "string" && candidate.finishReason !== "CONTINUATION"
      return [chunk]
    },
    isWhole: () => isWhole,
    // A reply that is no stream is one chunk.
    unfold: (reply) => ("candidates" in reply || "promptFeedback" in reply ? [reply] : []),
  }
}
