// Where a provider's key comes from: its own entry in the configuration, else the environment.
import { AppError, Secret } from "../kernel/index.ts"
import type { ModelTarget } from "./resolve.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The key, or undefined for a server of one's own that needs none. Throws `model-key-missing`.
 * The variable follows the provider's name, so that a key is never sent to the address of another provider.
 */
export function findKey(target: ModelTarget, environment: Environment): Secret | undefined {
  const { settings, providerName } = target
  if (!settings) return undefined
  const variable = keyVariable(providerName)
  const key = settings.apiKey ?? environment[variable]?.trim()
  if (key !== undefined && key !== "") return new Secret(key)
  if (settings.baseUrl !== undefined) return undefined
  // A second entry for the same service, under another name, at the service's own address.
  const shared = settings.kind === "openai-compatible" ? undefined : environment[keyVariable(settings.kind)]?.trim()
  if (shared !== undefined && shared !== "") return new Secret(shared)
  throw new AppError("model-key-missing", `The provider ${providerName} of the model ${target.id} has no key`, {
    hint: `Set ${variable} in the environment, or models.providers.${providerName}.apiKey in the configuration.`,
  })
}

/** `my-provider` -> `MY_PROVIDER_API_KEY` */
export function keyVariable(providerName: string): string {
  return `${providerName.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_API_KEY`
}
