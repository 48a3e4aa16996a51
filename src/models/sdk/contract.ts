// What the folder's files share: what it is given, and what a kind makes of a call. No runtime.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { Clock, Ids } from "../../kernel/index.ts"
import type { GoogleTokens } from "../google-auth/index.ts"
import type { Environment } from "../keys.ts"
import type { MetaRules } from "./meta.ts"

export interface SdkParts {
  /** Variables of the environment: region, project and credentials of the clouds. Never an address. */
  environment: Environment
  clock: Clock
  ids: Ids
}

/** What a kind makes of a call. */
export interface PreparedStep {
  model: LanguageModelV4
  options: Omit<LanguageModelV4CallOptions, "abortSignal">
  meta: MetaRules
}

export interface PrepareParts extends SdkParts {
  tokens: GoogleTokens
}
