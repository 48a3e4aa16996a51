// OpenAI on Chat Completions, and Azure's copy of it.
import type { Dialect, Rule } from "./contract.ts"
import {
  callNames,
  callsAreNotEmpty,
  commonMessageRules,
  contentIsNotNull,
  limitCallIds,
  picturesAreTheUsers,
  pictureTypes,
  streamOptionsNeedStream,
} from "./chat-messages.ts"
import { azureKey, openaiKey } from "./credentials.ts"
import { chatEffort, maxTokensField, openaiErrorBody, temperature } from "./openai-models.ts"
import { commonToolRules, promptCacheKey, strictTools, toolCount, toolDescriptions } from "./openai-tools.ts"
import { unknownKeys } from "./read.ts"

/** API reference, "Create chat completion". */
const known: ReadonlySet<string> = new Set(
  (
    "model messages stream stream_options store metadata tools tool_choice parallel_tool_calls functions function_call " +
    "max_tokens max_completion_tokens temperature top_p n stop seed logprobs top_logprobs logit_bias user " +
    "presence_penalty frequency_penalty response_format reasoning_effort verbosity modalities audio prediction " +
    "service_tier safety_identifier prompt_cache_key prompt_cache_retention web_search_options"
  ).split(" "),
)

// The same words as for a level that is not taken: yaroslavyaroslav/OpenAI-sublime-text#146
const knownArguments: Rule = ({ body }) => {
  const [unknown] = unknownKeys(body, known)
  if (unknown === undefined) return undefined
  return { message: `Unrecognized request argument supplied: ${unknown}`, type: "invalid_request_error" }
}

const rules: readonly Rule[] = [
  ...commonMessageRules,
  knownArguments,
  callsAreNotEmpty,
  limitCallIds(40),
  callNames,
  contentIsNotNull,
  picturesAreTheUsers,
  pictureTypes,
  streamOptionsNeedStream,
  toolCount,
  ...commonToolRules,
  toolDescriptions,
  strictTools,
  promptCacheKey,
  maxTokensField,
  temperature,
  chatEffort,
]

export const openaiChat: Dialect = { rules, credentials: openaiKey, errorBody: openaiErrorBody }

/** Azure's v1 interface: the same models, its own key. */
export const azureChat: Dialect = { rules, credentials: azureKey, errorBody: openaiErrorBody }
