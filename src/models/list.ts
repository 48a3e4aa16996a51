// Every model that the configuration names, one row each: what it is there for, whether it can be asked, what it takes.
import { AppError } from "../kernel/index.ts"
import type { ContextFact } from "./check/contract.ts"
import type { ModelPrices } from "./config.ts"
import type { ModelInfo, ModelSelection, ThinkingLevel } from "./contract.ts"
import { doubtModel } from "./doubt.ts"
import { contextOf } from "./facts.ts"
import { type Environment, findKey } from "./keys.ts"
import { choiceParts, findName, knownModels, type ModelTarget, resolveTarget } from "./resolve.ts"
import { offlineModelId } from "./offline/commander.ts"
import type { ModelsView } from "./view.ts"

/** Null is unknown, or has no meaning because the model cannot be asked. */
export interface ModelRow {
  /** `provider/model`; as it was written where it names nothing. */
  id: string
  alias: string | null
  /** `default`, `fallback 1`, `agent <id>`, `fallback 1 of <agent>`, `allowed`. */
  marks: string[]
  state: "ready" | "key-missing" | "not-configured"
  /** Why it is not ready, or may not be what was meant. */
  problem: string | null
  /** The next step. */
  hint: string | null
  context: ContextFact | null
  maxOutputTokens: number | null
  vision: boolean | null
  /** Levels of thinking. Empty: it has no dial. */
  reasoning: Exclude<ThinkingLevel, "off">[] | null
  /** US dollars for a million tokens. */
  prices: ModelPrices | null
}

type Describe = (selection: ModelSelection) => Pick<ModelInfo, "contextTokens">

export function listModels(view: ModelsView, environment: Environment, describe: Describe): ModelRow[] {
  const marks = new Map<string, string[]>()
  const idOf = (name: string) => findName(view, name) ?? name.trim()
  const mark = (name: string, words: string) => {
    const id = idOf(name)
    marks.set(id, [...(marks.get(id) ?? []), words])
  }
  const common = choiceParts(view.defaultModel)
  mark(common.primary ?? offlineModelId, "default")
  for (const [index, name] of (common.fallbacks ?? []).entries()) mark(name, `fallback ${index + 1}`)
  for (const [agent, choice] of Object.entries(view.agentModels)) {
    const own = choiceParts(choice)
    if (own.primary !== undefined) mark(own.primary, `agent ${agent}`)
    for (const [index, name] of (own.fallbacks ?? []).entries()) mark(name, `fallback ${index + 1} of ${agent}`)
  }
  for (const name of Object.keys(view.allowed)) mark(name, "allowed")
  const ids = new Set([...marks.keys(), ...knownModels(view)])
  return [...ids].map((id) => {
    const alias = Object.hasOwn(view.allowed, id) ? (view.allowed[id]?.alias ?? null) : null
    return { id, alias, marks: marks.get(id) ?? [], ...lookAt(view, environment, describe, id) }
  })
}

/** Whether a provider is configured for it, with a key where one is needed. */
export function isUsableModel(view: ModelsView, environment: Environment, id: string): boolean {
  return "target" in findUsable(view, environment, id)
}

/** The models that an agent asks, in their order: what it answers with, then its fallbacks. */
export function modelsOfAgent(view: ModelsView, agentId: string): string[] {
  const own = choiceParts(view.agentModels[agentId])
  const common = choiceParts(view.defaultModel)
  const names = [own.primary ?? common.primary ?? offlineModelId, ...(own.fallbacks ?? common.fallbacks ?? [])]
  return [...new Set(names.map((name) => findName(view, name) ?? name.trim()))]
}

type Look = Omit<ModelRow, "id" | "alias" | "marks">

function lookAt(view: ModelsView, environment: Environment, describe: Describe, id: string): Look {
  const found = findUsable(view, environment, id)
  const doubt = doubtModel(view, environment, id)
  if ("state" in found) {
    const { message, hint } = doubt ?? found.error
    return { ...nothingKnown, state: found.state, problem: message, hint: hint ?? null }
  }
  const { target } = found
  const { contextTokens } = describe({ agentId: "", model: id, byOperator: true })
  return {
    state: "ready",
    problem: doubt?.message ?? null,
    hint: doubt?.hint ?? null,
    context: contextOf(target, contextTokens),
    maxOutputTokens: target.maxOutputTokens ?? null,
    vision: target.vision,
    reasoning: target.reasoning === undefined ? null : [...target.reasoning],
    prices: target.prices ?? null,
  }
}

const nothingKnown = { context: null, maxOutputTokens: null, vision: null, reasoning: null, prices: null }

type Found = { target: ModelTarget } | { state: "key-missing" | "not-configured"; error: AppError }

function findUsable(view: ModelsView, environment: Environment, id: string): Found {
  try {
    const target = resolveTarget(view, id)
    findKey(target, environment)
    return { target }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { state: error.code === "model-key-missing" ? "key-missing" : "not-configured", error }
  }
}
