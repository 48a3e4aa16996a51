// Configuration of a provider and a model -> how its server wants things: the preset's ways, else those of a known
// host, else what every server takes; then `quirks` of the provider, then those of the model.
import type { ModelQuirks } from "../config.ts"
import type { ModelTarget } from "../resolve.ts"
import type { ProviderSettings } from "../view.ts"
import { plainEfforts } from "./efforts.ts"
import { knownHosts, presetOf, unknownServer, type Ways } from "./presets.ts"

type Target = Pick<ModelTarget, "modelId" | "entry">

/** By the settings as they were read, which a change of the configuration makes anew. */
const known = new WeakMap<ProviderSettings, Map<string, { entry: Target["entry"]; ways: Ways }>>()

/** The same object for the same settings and model. */
export function waysOf(settings: ProviderSettings, target: Target): Ways {
  const models = known.get(settings) ?? new Map<string, { entry: Target["entry"]; ways: Ways }>()
  const same = models.get(target.modelId)
  if (same?.entry === target.entry) return same.ways
  const ways = makeWays(settings, target)
  known.set(settings, models.set(target.modelId, { entry: target.entry, ways }))
  return ways
}

function makeWays(settings: ProviderSettings, target: Target): Ways {
  const base = baseWays(settings)
  const quirks = { ...defined(settings.quirks), ...defined(target.entry.quirks) }
  return {
    ...base,
    ...modelWays(base, settings, target.modelId),
    ...quirks,
    // Who says how thinking is sent means it for all models.
    ...(quirks.thinking === undefined ? {} : { efforts: plainEfforts, togglesReasoning: false }),
  }
}

function baseWays(settings: ProviderSettings): Ways {
  if (settings.preset !== undefined) return presetOf(settings.preset).ways
  const name = hostOf(settings)
  return knownHosts.find(({ host }) => name === host || name.endsWith(`.${host}`))?.ways ?? unknownServer
}

export function hostOf(settings: ProviderSettings): string {
  return settings.baseUrl !== undefined && URL.canParse(settings.baseUrl) ? new URL(settings.baseUrl).hostname : ""
}

/** What belongs to a model rather than to its server: the demands of DeepSeek and Kimi hold behind proxies as well. */
function modelWays(base: Ways, settings: ProviderSettings, modelId: string): Partial<Ways> {
  const id = modelId.toLowerCase()
  // Servers that run the model themselves render it by its template, which misses no field.
  const local = settings.preset !== undefined && !presetOf(settings.preset).needsKey
  return {
    // OpenAI's own models refuse `max_tokens` since the o-series, whoever passes the request on.
    ...(base === unknownServer && /(?:^|\/)(?:gpt-[5-9]|o[1-9])(?!\d)/.test(id)
      ? { maxTokensField: "max_completion_tokens" }
      : {}),
    // MiniMax wants the thinking of earlier replies left in their content (its guide to tools and interleaved thinking).
    ...(/minimax-?m[2-9]/.test(id) ? { taggedReasoning: true } : {}),
    ...(base.marksAnthropic && id.startsWith("anthropic/") ? { cacheMarks: true } : {}),
    ...(base.reasoningFiller === undefined && !local ? fillerFor(base, id) : {}),
  }
}

function fillerFor(base: Ways, id: string): Partial<Ways> {
  if (base.reasoningField !== "as-received" && base.reasoningField !== "reasoning_content") return {}
  if (/deepseek-?v4/.test(id)) return { reasoningFiller: { text: "", on: "all" } }
  if (/kimi-k(?:2\.[5-9]|2-thinking|[3-9])/.test(id)) return { reasoningFiller: { text: " ", on: "calls" } }
  return {}
}

function defined(
  quirks: ModelQuirks | undefined,
): Partial<{ [Key in keyof ModelQuirks]-?: NonNullable<ModelQuirks[Key]> }> {
  return Object.fromEntries(Object.entries(quirks ?? {}).filter(([, value]) => value !== undefined))
}
