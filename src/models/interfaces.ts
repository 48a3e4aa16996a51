// Which interface a provider is spoken to over.
import { createChatCompletions } from "./chat-completions/index.ts"
import type { ProviderInterface } from "./providers/contract.ts"
import { type SdkParts, createSdkInterface } from "./sdk/index.ts"
import type { ProviderSettings } from "./view.ts"

export function createInterfaces(parts: SdkParts): (settings: ProviderSettings) => ProviderInterface {
  const chatCompletions = createChatCompletions()
  const packages = createSdkInterface(parts)
  return (settings) => (settings.kind === "openai-compatible" ? chatCompletions : packages)
}
