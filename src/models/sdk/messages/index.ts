// Kind `anthropic`: the Messages interface, at the vendor's address or that of a proxy which speaks it.
import { trimEnd } from "../../../kernel/index.ts"
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { AnthropicLanguageModel } from "@ai-sdk/anthropic/internal"
import type { StepCall } from "../../providers/contract.ts"
import type { MetaRules } from "../meta.ts"
import { toPrompt } from "../prompt.ts"
import type { PreparedStep } from "../contract.ts"
import { createTransport, mergeHeaders } from "../transport.ts"
import { markPrompt, markTools } from "./cache.ts"
import { claudeOptions } from "./options.ts"
import { createMessagesForm } from "./reply-form.ts"

export const messagesMeta: MetaRules = {
  key: "anthropic",
  text: [],
  reasoning: ["signature", "redactedData"],
  call: [],
}

const ownAddress = "https://api.anthropic.com/v1"

export async function prepareMessages(call: StepCall): Promise<PreparedStep> {
  const { settings, key, target } = call
  const ours = { "anthropic-version": "2023-06-01", "x-api-key": key?.reveal() }
  const model = new AnthropicLanguageModel(target.modelId, {
    provider: "anthropic.messages",
    baseURL: trimEnd(settings.baseUrl ?? ownAddress, "/"),
    headers: mergeHeaders(ours, call),
    fetch: createTransport(call, createMessagesForm),
    ...plainInterface,
  })
  // Strict proxies refuse the field; the vendor itself takes it.
  const isVendor = settings.baseUrl === undefined
  return { model, options: messagesOptions(call, { eagerInput: isVendor }), meta: messagesMeta }
}

/** Schemas of tools are not bound to the strict subset; so is not said either, and needs no beta header. */
export const plainInterface = { supportsStrictTools: false, supportsNativeStructuredOutput: false } as const

export function messagesOptions(call: StepCall, defaults: { eagerInput: boolean }): PreparedStep["options"] {
  const quirks = { ...call.settings.quirks, ...call.target.entry.quirks }
  const prompt = toPrompt(call, {
    key: messagesMeta.key,
    toolPictures: "in-result",
    // Thinking that nobody has signed is refused.
    takesReasoning: ({ meta }) => meta?.signature !== undefined || meta?.redactedData !== undefined,
  })
  const tools = call.tools.map((tool): LanguageModelV4FunctionTool => ({
    type: "function",
    name: tool.name,
    ...(tool.description === "" ? {} : { description: tool.description }),
    inputSchema: tool.inputSchema,
  }))
  const isMarked = quirks.cacheMarks ?? true
  const { thinking, effort, maxOutputTokens } = claudeOptions(call)
  return {
    prompt: isMarked ? markPrompt(prompt) : prompt,
    ...(tools.length === 0 ? {} : { tools: isMarked && call.system === "" ? markTools(tools) : tools }),
    ...(call.target.entry.temperature === undefined ? {} : { temperature: call.target.entry.temperature }),
    maxOutputTokens,
    providerOptions: {
      anthropic: {
        toolStreaming: quirks.eagerInputStreaming ?? defaults.eagerInput,
        ...(thinking === undefined ? {} : { thinking }),
        ...(effort === undefined ? {} : { effort }),
      },
    },
  }
}
