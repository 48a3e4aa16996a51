// Provider clients, made on first use and kept by their settings, so that a changed configuration takes effect with
// the next call. The libraries are imported here, lazily: a gateway with only the offline model never loads them.
import type { LanguageModel } from "ai"
import type { Secret } from "../../kernel/index.ts"
import type { ModelTarget } from "../resolve.ts"
import type { ProviderSettings } from "../view.ts"

/** Always an object: a bare name would be sent to a hosted service. */
export type ModelClient = Exclude<LanguageModel, string>

export interface ProviderClients {
  client(target: ModelTarget, settings: ProviderSettings, key: Secret | undefined): Promise<ModelClient>
}

type MakeClient = (modelId: string) => ModelClient

/** More than any configuration has; reached only when settings keep changing. */
const maxProviders = 32

export function createProviderClients(parts: { fetch: typeof fetch }): ProviderClients {
  const providers = new Map<string, Promise<MakeClient>>()
  return {
    async client(target, settings, key) {
      const cacheKey = JSON.stringify([target.providerName, settings, key?.reveal()])
      let provider = providers.get(cacheKey)
      if (!provider) {
        if (providers.size >= maxProviders) providers.clear()
        provider = createProvider(target.providerName, settings, key, parts.fetch)
        providers.set(cacheKey, provider)
      }
      return (await provider)(target.modelId)
    },
  }
}

async function createProvider(
  name: string,
  settings: ProviderSettings,
  key: Secret | undefined,
  fetch: MakeFetch,
): Promise<MakeClient> {
  const headers = settings.headers ?? {}
  const baseURL = settings.baseUrl?.replace(/\/+$/, "")
  // A server of one's own often wants no key, while the library insists on one.
  const apiKey = key?.reveal() ?? "none"
  // The addresses are named so that no variable of the environment can redirect the calls.
  switch (settings.kind) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai")
      return createOpenAI({ name, apiKey, headers, fetch, baseURL: baseURL ?? "https://api.openai.com/v1" })
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic")
      return createAnthropic({ apiKey, headers, fetch, baseURL: baseURL ?? "https://api.anthropic.com/v1" })
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
      const auth = key ? { apiKey: key.reveal() } : {}
      return createOpenAICompatible({ name, headers, fetch, baseURL: baseURL ?? "", includeUsage: true, ...auth })
    }
  }
}

type MakeFetch = typeof globalThis.fetch
