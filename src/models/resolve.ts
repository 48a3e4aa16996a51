// selection + configuration -> the models to try, in order: alias -> agent's own -> default, the allow list, facts.
import { AppError } from "../kernel/index.ts"
import type { ModelEntryConfig, ModelPrices } from "./config.ts"
import type { ModelInfo, ModelSelection, ThinkingLevel } from "./contract.ts"
import { findKnownModel, isLocalServer, localContextTokens, type KnownModel } from "./known/index.ts"
import { offlineContextTokens, offlineModelId } from "./offline/commander.ts"
import type { ModelChoice, ModelsView, ProviderSettings } from "./view.ts"

export interface ModelTarget extends Omit<ModelInfo, "promptTokens"> {
  providerName: string
  modelId: string
  /** Undefined for the offline model. */
  settings: ProviderSettings | undefined
  /** The model's own entry in the configuration. */
  entry: ModelEntryConfig
  /** Tokens of the longest reply; undefined is unknown, and nothing is sent where nothing must be. */
  maxOutputTokens: number | undefined
  /** Levels of thinking that the model takes; undefined is unknown. Empty: it does not think on demand. */
  reasoning: readonly Exclude<ThinkingLevel, "off">[] | undefined
  /** Whether thinking can be switched off; undefined is unknown. */
  canBeOff: boolean | undefined
  /** US dollars for a million tokens; undefined is unknown. */
  prices: ModelPrices | undefined
}

export interface Resolution {
  primary: ModelTarget
  /** Ids as configured, without the primary; each is resolved only when its turn comes. */
  fallbacks: string[]
  /** Undefined: the model's own default. */
  thinking: ThinkingLevel | undefined
}

/** Throws `model-unknown` or `model-not-allowed`. */
export function resolveSelection(view: ModelsView, selection: ModelSelection): Resolution {
  const own = choiceParts(view.agentModels[selection.agentId])
  const common = choiceParts(view.defaultModel)
  const usual = common.primary ?? offlineModelId
  const chosen = resolveName(view, selection.model ?? own.primary ?? usual)
  if (selection.model !== undefined && !selection.byOperator) {
    // A slip in these takes no other model away.
    const always = [own.primary ?? usual, usual].map((name) => findName(view, name)).filter((id) => id !== undefined)
    checkAllowed(view, chosen, always)
  }
  const fallbacks = (own.fallbacks ?? common.fallbacks ?? []).map((name) => findName(view, name) ?? name)
  return {
    primary: resolveTarget(view, chosen),
    fallbacks: [...new Set(fallbacks)].filter((id) => id !== chosen),
    thinking: selection.thinking ?? view.thinkingDefault,
  }
}

/** What an override may name: the allowed list, else every model that is configured; the agent's own first. */
export function selectableModels(
  view: ModelsView,
  agentId: string,
  isUsable: (id: string) => boolean = () => true,
): { id: string; alias?: string }[] {
  const own = choiceParts(view.agentModels[agentId])
  const common = choiceParts(view.defaultModel)
  const usual = common.primary ?? offlineModelId
  const allowed = Object.keys(view.allowed)
  const names = [own.primary ?? usual, usual, ...(allowed.length > 0 ? [] : (own.fallbacks ?? common.fallbacks ?? []))]
  const named = names.map((name) => findName(view, name)).filter((id) => id !== undefined)
  const ids = [...new Set([...named, ...(allowed.length > 0 ? allowed : knownModels(view))])]
  return ids.filter(isUsable).map((id) => {
    const alias = view.allowed[id]?.alias
    return alias === undefined ? { id } : { id, alias }
  })
}

/** Whether a word names one of those, by id, alias or bare name. */
export function isSelectableModel(view: ModelsView, agentId: string, word: string): boolean {
  const id = findName(view, word)
  return selectableModels(view, agentId).some((model) => model.id === id)
}

export function choiceParts(choice: ModelChoice | undefined): {
  primary?: string | undefined
  fallbacks?: string[] | undefined
} {
  return typeof choice === "string" ? { primary: choice } : (choice ?? {})
}

function checkAllowed(view: ModelsView, id: string, always: readonly string[]): void {
  const allowed = Object.keys(view.allowed)
  if (allowed.length === 0 || allowed.includes(id) || always.includes(id)) return
  throw new AppError("model-not-allowed", `The model ${id} is not in the allowed list`, {
    hint: `Allowed: ${[...new Set([...always, ...allowed])].join(", ")}. The list is agents.defaults.models.`,
  })
}

function resolveName(view: ModelsView, written: string): string {
  const found = findName(view, written)
  if (found !== undefined) return found
  throw new AppError("model-unknown", `There is no model or alias "${shorten(written)}"`, {
    hint: `Write it as provider/model. Known: ${knownModels(view).slice(0, 20).join(", ")}.`,
  })
}

/** `provider/model`, an alias, or the bare name of a model that only one known entry has -> `provider/model`. */
export function findName(view: ModelsView, written: string): string | undefined {
  const name = written.trim()
  const wanted = name.toLowerCase()
  const aliased = Object.entries(view.allowed).find(([, entry]) => entry.alias?.toLowerCase() === wanted)
  if (aliased) return aliased[0]
  const known = knownModels(view)
  const exact = known.find((id) => id.toLowerCase() === wanted)
  if (exact !== undefined) return exact
  const bare = known.filter((id) => id.slice(id.indexOf("/") + 1).toLowerCase() === wanted)
  if (bare.length === 1) return bare[0]
  return /^[^/\s]+\/\S+$/.test(name) ? name : undefined
}

export function knownModels(view: ModelsView): string[] {
  const configured = Object.entries(view.providers).flatMap(([provider, settings]) =>
    Object.keys(settings.models ?? {}).map((model) => `${provider}/${model}`),
  )
  return [...new Set([...Object.keys(view.allowed), ...configured, offlineModelId])]
}

/** Providers that need no entry in the configuration: a key in the environment is enough. */
export const builtInProviders: Readonly<Record<string, ProviderSettings>> = {
  openai: { kind: "openai" },
  anthropic: { kind: "anthropic" },
  google: { kind: "google" },
}

/** One for all, so that what is known of a target is found again. */
const noEntry: ModelEntryConfig = {}

/** Throws `model-unknown` when no provider has this name. */
export function resolveTarget(view: ModelsView, id: string): ModelTarget {
  const slash = id.indexOf("/")
  const providerName = id.slice(0, slash)
  const modelId = id.slice(slash + 1)
  if (id === offlineModelId) {
    const unknown = { maxOutputTokens: undefined, reasoning: [], canBeOff: true, prices: undefined }
    const contextTokens = offlineContextTokens
    return { id, providerName, modelId, settings: undefined, entry: noEntry, contextTokens, vision: false, ...unknown }
  }
  const settings = Object.hasOwn(view.providers, providerName)
    ? view.providers[providerName]
    : Object.hasOwn(builtInProviders, providerName)
      ? builtInProviders[providerName]
      : undefined
  if (!settings || providerName === "offline") {
    throw new AppError("model-unknown", `No configured provider has the model "${shorten(id)}"`, {
      hint: `Add models.providers.${shorten(providerName)} to the configuration, or use ${offlineModelId}.`,
    })
  }
  const entry = (Object.hasOwn(settings.models ?? {}, modelId) ? settings.models?.[modelId] : undefined) ?? noEntry
  const known = findKnownModel(settings.kind, settings.preset, modelId, settings.baseUrl)
  return { id, providerName, modelId, settings, entry, ...factsOf(settings, modelId, entry, known) }
}

/** Most hosted models of today take this much; a smaller one is set right by `models.providers.<name>.models`. */
const usualContextTokens = 128_000

/** The configuration's own words win, figure by figure. */
function factsOf(
  settings: ProviderSettings,
  modelId: string,
  entry: ModelEntryConfig,
  known: KnownModel | undefined,
): Pick<ModelTarget, "contextTokens" | "maxOutputTokens" | "vision" | "reasoning" | "canBeOff" | "prices"> {
  const unknown = isLocalServer(settings.preset, modelId) ? localContextTokens : usualContextTokens
  const contextTokens = entry.contextTokens ?? known?.contextTokens ?? unknown
  const longest = known?.maxOutputTokens
  return {
    contextTokens,
    maxOutputTokens:
      entry.maxOutputTokens ?? (longest === undefined ? undefined : Math.min(longest, Math.floor(contextTokens / 2))),
    vision: entry.vision ?? known?.vision ?? false,
    ...thinkingOf(entry.reasoning, known),
    prices: entry.prices ?? known?.prices,
  }
}

const everyLevel = ["minimal", "low", "medium", "high"] as const

function thinkingOf(
  configured: ModelEntryConfig["reasoning"],
  known: KnownModel | undefined,
): Pick<ModelTarget, "reasoning" | "canBeOff"> {
  if (configured === false) return { reasoning: [], canBeOff: true }
  if (configured === undefined) return { reasoning: known?.reasoning, canBeOff: known?.canBeOff }
  return { reasoning: configured === true ? everyLevel : configured, canBeOff: known?.canBeOff }
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
