// Models that the configuration names and that may not work: no provider, no key, a slip of the pen. Said, never refused:
// a gateway whose fallback is wrong still answers with its default.
import type { Config, ConfigPath } from "../../config/index.ts"
import { formatConfigPath } from "../../config/index.ts"
import { type Environment, doubtModel } from "../../models/index.ts"
import { mainAgentId } from "../main-agent.ts"
import { modelsView } from "./view.ts"

export interface ModelWarning {
  path: ConfigPath
  message: string
}

interface Named {
  path: ConfigPath
  model: string | undefined
  /** Named for some runs only, and so bound by the allowed list. */
  isOverride?: boolean
}

export function findModelWarnings(config: Config, environment: Environment): ModelWarning[] {
  const view = modelsView(config)
  const agentId = mainAgentId(config)
  return namedModels(config).flatMap(({ path, model, isOverride }) => {
    if (model === undefined || isTemplate(model)) return []
    const doubt = doubtModel(view, environment, model, isOverride ? { overrideFor: agentId } : {})
    if (!doubt) return []
    return [{ path, message: [doubt.message, doubt.hint].filter((part) => part !== undefined).join(". ") }]
  })
}

/** One line: key and what is wrong with it. */
export function describeWarning({ path, message }: ModelWarning): string {
  return `${formatConfigPath(path)}: ${message}`
}

function namedModels({ agents, hooks }: Config): Named[] {
  const { defaults, list } = agents
  const choice = (path: ConfigPath, chosen: (typeof defaults)["model"] | undefined): Named[] => [
    // A model alone may be written as a text; the place of the key is then that of the text.
    { path: chosen?.fallbacks.length === 0 ? path : [...path, "primary"], model: chosen?.primary },
    ...(chosen?.fallbacks ?? []).map((model, index) => ({ path: [...path, "fallbacks", index], model })),
  ]
  return [
    ...choice(["agents", "defaults", "model"], defaults.model),
    ...Object.keys(defaults.models ?? {}).map((model) => ({ path: ["agents", "defaults", "models", model], model })),
    { path: ["agents", "defaults", "heartbeat", "model"], model: defaults.heartbeat.model, isOverride: true },
    ...list.flatMap((agent, index) => [
      ...choice(["agents", "list", index, "model"], agent.model),
      { path: ["agents", "list", index, "heartbeat", "model"], model: agent.heartbeat?.model, isOverride: true },
    ]),
    ...(hooks.enabled
      ? [
          ...hooks.mappings.map(({ model }, index) => ({
            path: ["hooks", "mappings", index, "model"],
            model,
            isOverride: true,
          })),
          { path: ["hooks", "gmail", "model"], model: hooks.gmail?.model, isOverride: true },
        ]
      : []),
  ]
}

/** What it comes to is known only with a payload. */
function isTemplate(model: string): boolean {
  return model.includes("{{")
}
