// What a person may answer to "which model?", and what the configuration must then say: a provider's entry where it needs
// one, and the variable that holds its key.
import { nearestName } from "../config/index.ts"
import { AppError, type JsonObject } from "../kernel/index.ts"
import { presetNames } from "../models/config.ts"
import { keyVariable } from "../models/keys.ts"
import { sections } from "../models/known/table.ts"
import type { ProviderSettings } from "../models/view.ts"

export const offlineModel = "offline/commander"

interface Offered {
  name: string
  what: string
}

/** In the order in which they are offered. */
export const offeredProviders: readonly Offered[] = [
  { name: "anthropic", what: "Claude" },
  { name: "openai", what: "GPT" },
  { name: "google", what: "Gemini" },
  { name: "openrouter", what: "many models with one key" },
  { name: "groq", what: "open models, fast" },
  { name: "mistral", what: "Mistral" },
  { name: "deepseek", what: "DeepSeek" },
  { name: "xai", what: "Grok" },
  { name: "together", what: "open models" },
  { name: "cerebras", what: "open models, fast" },
  { name: "ollama", what: "on this machine, no key" },
  { name: "llama.cpp", what: "on this machine, no key" },
  { name: "lmstudio", what: "on this machine, no key" },
  { name: "vllm", what: "a server of your own" },
  { name: "azure", what: "OpenAI on Azure" },
  { name: "bedrock", what: "models on AWS" },
  { name: "vertex", what: "models on Google Cloud" },
  { name: "offline", what: "fixed commands, no key, for trying out" },
]

/** Known without an entry. */
const wellKnown: readonly string[] = ["anthropic", "openai", "google"]
const presets: readonly string[] = presetNames
const clouds: readonly string[] = ["azure", "bedrock", "vertex"]

export interface Place {
  url?: string | undefined
  region?: string | undefined
  project?: string | undefined
}

/** What of its place a provider needs to be told. */
export function neededPlace(provider: string, existing: ProviderSettings | undefined): (keyof Place)[] {
  if (existing) return []
  if (provider === "azure") return ["url"]
  if (provider === "bedrock") return ["region"]
  if (provider === "vertex") return ["project", "region"]
  return wellKnown.includes(provider) || presets.includes(provider) ? [] : ["url"]
}

/** Whether it is found by an address, and not by the region of a cloud. */
export function hasAddress(provider: string): boolean {
  return provider !== "bedrock" && provider !== "vertex"
}

/** The entry of the configuration; undefined where none is needed. */
export function entryOf(provider: string, place: Place): JsonObject | undefined {
  const baseUrl: JsonObject = place.url === undefined ? {} : { baseUrl: place.url }
  if (wellKnown.includes(provider)) return place.url === undefined ? undefined : { kind: provider, ...baseUrl }
  if (presets.includes(provider)) return { kind: "openai-compatible", preset: provider, ...baseUrl }
  if (!clouds.includes(provider)) return { kind: "openai-compatible", ...baseUrl }
  const region: JsonObject = place.region === undefined ? {} : { region: place.region }
  const project: JsonObject = place.project === undefined ? {} : { project: place.project }
  return { kind: provider, ...baseUrl, ...project, ...region }
}

/** Where its key belongs. */
export function keyVariableOf(provider: string): string {
  return provider === "bedrock" ? "AWS_BEARER_TOKEN_BEDROCK" : keyVariable(provider)
}

/** The newest that are known of, the newest first. */
export function suggestModels(provider: string, most: number): string[] {
  const section = sections.find(({ seller }) => seller === provider)
  return (section?.rows ?? [])
    .slice(-most)
    .map(([id]) => id)
    .toReversed()
}

/** `provider/model`, a provider alone, or a number of the list. Throws `bad-request`. */
export function readModelAnswer(text: string, configured: readonly string[]): { provider: string; model?: string } {
  const number = /^\d{1,2}$/.test(text) ? offeredProviders[Number(text) - 1] : undefined
  if (number) return { provider: number.name }
  const slash = text.indexOf("/")
  const provider = slash < 0 ? text : text.slice(0, slash)
  const model = slash < 0 ? "" : text.slice(slash + 1)
  const names = [...new Set([...offeredProviders.map(({ name }) => name), ...configured])]
  if (looksLikeKey(text)) {
    throw new AppError("bad-request", "That looks like a key. The model comes first; the key is asked for after it")
  }
  if (!/^[\w.-]{1,60}$/.test(provider) || /\s/.test(model)) {
    throw new AppError("bad-request", `"${text}" is no model`, { hint: "Write provider/model, such as openai/gpt-5" })
  }
  if (!names.includes(provider)) {
    const near = nearestName(provider, names)
    if (near !== undefined || model === "") {
      const hint = near === undefined ? "Write provider/model, or a number of the list" : `Did you mean ${near}?`
      throw new AppError("bad-request", `There is no provider named "${provider}"`, { hint })
    }
  }
  return { provider, ...(model === "" ? {} : { model }) }
}

function looksLikeKey(text: string): boolean {
  return /^(sk|gsk|xai|csk|AIza)[-_A-Za-z0-9]{20,}$/.test(text)
}

/** What is wrong with a key before anybody is asked; undefined when nothing is. */
export function keyProblem(key: string): string | undefined {
  if (/\s/.test(key)) return "A key has no spaces in it"
  if (!/^[\x21-\x7e]+$/.test(key)) return "A key has only letters, digits and signs of ASCII"
  if (/^https?:/.test(key)) return "That looks like an address"
  if (/^\d{6,}:[\w-]{20,}$/.test(key)) return "That looks like a bot token: it is asked for in the next question"
  if (/^[A-Z_]+_KEY=/.test(key)) return "Write the key alone, without the name of its variable"
  return undefined
}
