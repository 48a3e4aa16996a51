// Where a provider's keys come from (its own entry in the configuration, else the environment), and which of several is
// tried next: one that was refused or has used up its limit waits for its time.
import { AppError, type Clock, Secret } from "../kernel/index.ts"
import type { PresetName } from "./config.ts"
import type { ModelTarget } from "./resolve.ts"
import type { ProviderSettings } from "./view.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The keys in their order, each once. `[undefined]` for what needs none: a server of one's own, a cloud's credentials.
 * Throws `model-key-missing`.
 * The variable follows the provider's name, so that a key is never sent to the address of another provider.
 */
export function findKeys(target: ModelTarget, environment: Environment): (Secret | undefined)[] {
  const { settings, providerName } = target
  if (!settings) return [undefined]
  const readAll = (names: readonly string[]) => unique(names.flatMap((name) => readVariable(environment, name)))
  const sources = [
    unique([settings.apiKey, ...(settings.apiKeys ?? [])]),
    readAll(ownVariables(providerName, settings)),
    readAll(serviceVariables(settings)),
  ]
  const found = sources.find((keys) => keys.length > 0)
  if (found) return found.map((key) => new Secret(key))
  if (needsNoKey(settings, environment)) return [undefined]
  throw new AppError("model-key-missing", `The provider ${providerName} of the model ${target.id} has no key`, {
    hint: `Set ${missingVariable(providerName, settings)} in the environment, or models.providers.${providerName}.apiKey in the configuration.`,
  })
}

/** The first of them. */
export function findKey(target: ModelTarget, environment: Environment): Secret | undefined {
  return findKeys(target, environment)[0]
}

/** `my-provider` -> `MY_PROVIDER_API_KEY` */
export function keyVariable(providerName: string): string {
  return `${providerName.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_API_KEY`
}

/** Named after the provider. `..._API_KEYS` holds several, with commas between. */
function ownVariables(providerName: string, settings: ProviderSettings): string[] {
  const variable = keyVariable(providerName)
  // Google's own programs know the key under two names.
  const second = providerName === "google" && settings.kind === "google" && settings.baseUrl === undefined
  return [variable, `${variable}S`, ...(second ? ["GEMINI_API_KEY"] : [])]
}

/** Named after the service: for a second entry under another name, at the service's own address and nowhere else. */
function serviceVariables(settings: ProviderSettings): string[] {
  const { kind, preset, baseUrl } = settings
  const named = (name: string) => [keyVariable(name), `${keyVariable(name)}S`]
  if (kind === "azure") return isAzureHost(baseUrl) ? [...named("azure"), "AZURE_OPENAI_API_KEY"] : []
  if (baseUrl !== undefined) return []
  if (kind === "google") return [...named("google"), "GEMINI_API_KEY"]
  if (kind === "bedrock") return ["AWS_BEARER_TOKEN_BEDROCK"]
  if (kind !== "openai-compatible") return named(kind)
  return preset === undefined ? [] : named(preset)
}

function isAzureHost(baseUrl: string | undefined): boolean {
  return baseUrl !== undefined && new URL(baseUrl).hostname.endsWith(".azure.com")
}

const readVariable = (environment: Environment, name: string) => (environment[name] ?? "").split(",")

function unique(keys: readonly (string | undefined)[]): string[] {
  const trimmed = keys.map((key) => key?.trim() ?? "").filter((key) => key !== "")
  return [...new Set(trimmed)]
}

const localPresets: readonly (PresetName | undefined)[] = ["ollama", "llama.cpp", "vllm", "lmstudio"]
const authHeaders = ["authorization", "api-key", "x-api-key", "x-goog-api-key"]

function needsNoKey(settings: ProviderSettings, environment: Environment): boolean {
  const { kind, preset, baseUrl, headers } = settings
  if (Object.keys(headers ?? {}).some((name) => authHeaders.includes(name.toLowerCase()))) return true
  // Its credentials are a file, or the machine's own.
  if (kind === "vertex") return true
  if (kind === "bedrock" && hasAwsKeys(environment)) return true
  if (kind === "azure") return false
  return baseUrl !== undefined || localPresets.includes(preset)
}

function hasAwsKeys(environment: Environment): boolean {
  return Boolean(environment.AWS_ACCESS_KEY_ID && environment.AWS_SECRET_ACCESS_KEY)
}

function missingVariable(providerName: string, settings: ProviderSettings): string {
  const own = keyVariable(providerName)
  return settings.kind === "bedrock" ? `AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and its secret,` : own
}

/** Why a key cannot be used for a while. */
export type KeyTrouble =
  /** Wrong, withdrawn, or without credit. */
  | { kind: "refused" }
  /** Its limit is used up; as long as the provider asked to wait. */
  | { kind: "limited"; retryAfterMs: number | undefined }

export interface KeyRing {
  /**
   * The keys to try, in their order. When all wait for their time, the one whose time ends first.
   * Throws `model-key-missing`.
   */
  next(target: ModelTarget, environment: Environment): (Secret | undefined)[]
  setAside(target: ModelTarget, key: Secret | undefined, trouble: KeyTrouble): void
  /** The key was taken: what it waited for is over. */
  accept(target: ModelTarget, key: Secret | undefined): void
}

/** Credit is bought and rights are given by people; sooner than this it is the same refusal again. */
const refusedMs = 10 * 60_000
/** Most limits count the calls of a minute. */
const limitedMs = 60_000
/** A limit of a day would keep a key away that has long been given more. */
const longestLimitMs = 60 * 60_000

export function createKeyRing({ clock }: { clock: Clock }): KeyRing {
  /** Key to the monotonic time until which it waits. */
  const waiting = new Map<string, number>()
  const nameOf = (target: ModelTarget, key: Secret | undefined) =>
    JSON.stringify([target.providerName, key?.reveal() ?? ""])
  return {
    next(target, environment) {
      const keys = findKeys(target, environment)
      const now = clock.monotonic()
      for (const [name, until] of waiting) if (until <= now) waiting.delete(name)
      const untilOf = (key: Secret | undefined) => waiting.get(nameOf(target, key)) ?? 0
      const free = keys.filter((key) => untilOf(key) === 0)
      if (free.length > 0) return free
      return keys.toSorted((a, b) => untilOf(a) - untilOf(b)).slice(0, 1)
    },
    setAside(target, key, trouble) {
      const asked = trouble.kind === "refused" ? refusedMs : Math.min(trouble.retryAfterMs ?? limitedMs, longestLimitMs)
      waiting.set(nameOf(target, key), clock.monotonic() + asked)
    },
    accept: (target, key) => void waiting.delete(nameOf(target, key)),
  }
}
