// Kinds `openai` and `azure`: the Responses interface. Nothing is stored on the other side: reasoning comes encrypted and
// goes back as it came.
import { trimEnd } from "../../../kernel/index.ts"
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { OpenAIResponsesLanguageModel } from "@ai-sdk/openai/internal"
import type { StepCall } from "../../providers/contract.ts"
import type { MetaRules } from "../meta.ts"
import { toPrompt } from "../prompt.ts"
import type { PreparedStep } from "../contract.ts"
import { createTransport, mergeHeaders } from "../transport.ts"
import { azureAddress } from "./azure.ts"
import { responsesOptions } from "./options.ts"
import { createResponsesForm } from "./reply-form.ts"

/** Ids of texts and calls name stored items; without storing they say nothing. */
const meta: MetaRules = {
  key: "openai",
  text: ["phase"],
  reasoning: ["itemId", "reasoningEncryptedContent"],
  // What is encrypted so far is replaced at the end.
  reasoningStart: ["itemId"],
  call: ["async", "namespace", "caller", "parallelToolCall"],
}

const ownAddress = "https://api.openai.com/v1"

export async function prepareResponses(call: StepCall, kind: "openai" | "azure"): Promise<PreparedStep> {
  const key = call.key?.reveal()
  const isAzure = kind === "azure"
  const base = trimEnd(call.settings.baseUrl ?? ownAddress, "/")
  const ours = isAzure ? { "api-key": key } : { authorization: key === undefined ? undefined : `Bearer ${key}` }
  const model = new OpenAIResponsesLanguageModel(call.target.modelId, {
    provider: "openai.responses",
    url: ({ path }) => (isAzure ? azureAddress(call.settings, path) : `${base}${path}`),
    headers: mergeHeaders(ours, call),
    fetch: createTransport(call, createResponsesForm),
  })
  const prompt = toPrompt(call, {
    key: meta.key,
    toolPictures: "in-result",
    takesReasoning: ({ meta: own }) => own?.itemId !== undefined || own?.reasoningEncryptedContent !== undefined,
  })
  const tools = call.tools.map((tool): LanguageModelV4FunctionTool => ({
    type: "function",
    name: tool.name,
    ...(tool.description === "" ? {} : { description: tool.description }),
    inputSchema: tool.inputSchema,
    // Unset means strict here, and strict schemas have no optional fields.
    strict: false,
  }))
  return { model, options: { prompt, ...(tools.length === 0 ? {} : { tools }), ...responsesOptions(call) }, meta }
}
