// What the registry needs of the configuration, as a plain value: main fills it, and it is read anew for each call.
import type { ModelProviderConfig } from "./config.ts"
import type { ThinkingLevel } from "./contract.ts"

/** A model, or a model with those that step in when it fails. Each is `provider/model` or an alias. */
export type ModelChoice = string | { primary?: string | undefined; fallbacks?: string[] | undefined }

export type ProviderSettings = ModelProviderConfig

export interface ModelsView {
  /** `models.providers` */
  providers: Readonly<Record<string, ProviderSettings>>
  /** `models.retry` */
  retry?: { attempts: number; minDelayMs: number; maxDelayMs: number } | undefined
  /** `agents.defaults.model` */
  defaultModel: ModelChoice
  /** `agents.defaults.models`: when it holds anything, only these may be chosen by an override. */
  allowed: Readonly<Record<string, { alias?: string | undefined }>>
  /** `agents.defaults.thinkingDefault` */
  thinkingDefault?: ThinkingLevel | undefined
  /** `agents.list[].model` by agent id. */
  agentModels: Readonly<Record<string, ModelChoice | undefined>>
}
