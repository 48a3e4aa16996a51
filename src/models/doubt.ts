// The name of a model as a configuration holds it -> why it may not work, before anybody asks it. Nothing is asked here:
// only the configuration, the environment and the table of known models decide.
import { nearestName } from "../config/index.ts"
import { AppError } from "../kernel/index.ts"
import { presetNames } from "./config.ts"
import { type Environment, findKey } from "./keys.ts"
import { nearestKnownModel } from "./known/index.ts"
import { builtInProviders, findName, knownModels, resolveSelection, resolveTarget } from "./resolve.ts"
import type { ModelsView } from "./view.ts"

export interface ModelDoubt {
  message: string
  /** The next step. */
  hint: string | undefined
}

/**
 * Undefined when nothing speaks against it.
 * @param options `overrideFor`: it is named for some runs of this agent, and so bound by the allowed list.
 */
export function doubtModel(
  view: ModelsView,
  environment: Environment,
  written: string,
  options: { overrideFor?: string } = {},
): ModelDoubt | undefined {
  const name = written.trim()
  const id = findName(view, name)
  if (id === undefined)
    return { message: `${quoted(name)} is neither provider/model nor an alias`, hint: meant(view, name) }
  try {
    const target = resolveTarget(view, id)
    findKey(target, environment)
    const refusal = options.overrideFor === undefined ? undefined : refusalOf(view, options.overrideFor, id)
    if (refusal) return { message: refusal.message, hint: refusal.hint }
    const { settings, modelId, providerName } = target
    if (!settings || Object.hasOwn(settings.models ?? {}, modelId)) return undefined
    const near = nearestKnownModel(settings.kind, settings.preset, modelId, settings.baseUrl)
    if (near === undefined) return undefined
    return {
      message: `${quoted(id)} is not a model that is known of its provider`,
      hint: `Did you mean ${quoted(`${providerName}/${near}`)}?`,
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code !== "model-unknown") return { message: error.message, hint: error.hint }
    return doubtProvider(view, id, error.hint)
  }
}

/** By the allowed list. */
function refusalOf(view: ModelsView, agentId: string, id: string): AppError | undefined {
  try {
    resolveSelection(view, { agentId, model: id })
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // A default that is not configured is told in its own place.
    return error.code === "model-not-allowed" ? error : undefined
  }
}

function doubtProvider(view: ModelsView, id: string, hint: string | undefined): ModelDoubt {
  const provider = id.slice(0, id.indexOf("/"))
  const model = id.slice(provider.length)
  const message = `no provider named ${quoted(provider)} is configured, which ${quoted(id)} names`
  const preset = presetNames.find((name) => name === provider)
  if (preset !== undefined) {
    const entry = `{ kind: "openai-compatible", preset: "${preset}" }`
    return { message, hint: `Add it: models.providers[${JSON.stringify(provider)}] = ${entry}` }
  }
  const near = nearestName(provider, providersOf(view))
  return { message, hint: near === undefined ? hint : `Did you mean ${quoted(near + model)}?` }
}

/** For a name without a provider. */
function meant(view: ModelsView, name: string): string {
  const aliases = Object.values(view.allowed).flatMap(({ alias }) => alias ?? [])
  const near = nearestName(name, [...aliases, ...knownModels(view)])
  if (near !== undefined) return `Did you mean ${quoted(near)}?`
  const known = knownModels(view).filter((id) => id.slice(id.indexOf("/") + 1).toLowerCase() === name.toLowerCase())
  if (known.length > 0) return `Did you mean ${known.map(quoted).join(" or ")}?`
  return `Write it as provider/model. Providers: ${providersOf(view).join(", ")}.`
}

function providersOf(view: ModelsView): string[] {
  return [...new Set([...Object.keys(view.providers), ...Object.keys(builtInProviders)])]
}

function quoted(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}
