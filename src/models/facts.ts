// What is known of a model, and by whose word, for those who show it to people.
import type { ContextFact } from "./check/contract.ts"
import { findKnownModel } from "./known/index.ts"
import type { ModelTarget } from "./resolve.ts"

/** `told`: tokens as the registry has them, which has asked the server. */
export function contextOf(target: ModelTarget, told = target.contextTokens): ContextFact {
  const { settings, modelId, entry } = target
  if (told !== target.contextTokens) return { tokens: told, from: "server" }
  if (entry.contextTokens !== undefined) return { tokens: told, from: "configuration" }
  const isKnown = !settings || findKnownModel(settings.kind, settings.preset, modelId, settings.baseUrl) !== undefined
  return { tokens: told, from: isKnown ? "table" : "assumed" }
}

/** Where a person sets a fact of this model. */
export function keyOfFact({ providerName, modelId }: ModelTarget, fact: string): string {
  return `models.providers.${providerName}.models[${JSON.stringify(modelId)}].${fact}`
}
