// What `svc models` does where no gateway runs: the same work in the command line's own process, from the configuration
// alone. Somebody who has just written a key tries it before the first start. Starts nothing and writes nothing.
import pino from "pino"
import type { ToolSources } from "../../agent/offered-tools.ts"
import type { Tool, ToolPlace } from "../../agent/tool.ts"
import { createBrowserTool } from "../../browser/tool.ts"
import { shownTools } from "../../channels/cli.ts"
import { type ConfigSnapshot, type Variables, loadConfigOrThrow, readEnvironment } from "../../config/index.ts"
import { AppError, createRedactor, systemClock, systemIds } from "../../kernel/index.ts"
import { createModelRegistry } from "../../models/index.ts"
import { type ModelActions, createModelActions } from "./actions.ts"
import { modelsView } from "./view.ts"
import { schemasForCheck, toolPolicyOf } from "../tools.ts"

/** Throws AppError `config-invalid`. */
export function openModels(variables: Variables): ModelActions {
  const { configPath } = readEnvironment(variables)
  return modelsOf(loadConfigOrThrow({ path: configPath, env: variables, missingVariables: "leave-out" }))
}

/** By a configuration that need not be written yet. */
export function modelsOf(snapshot: ConfigSnapshot): ModelActions {
  const { config, secrets } = snapshot
  const environment = snapshot.environment.variables
  const redactor = createRedactor()
  for (const secret of secrets) redactor.add(secret)
  const registry = createModelRegistry({
    view: () => modelsView(config),
    environment,
    clock: systemClock,
    ids: systemIds,
    redactor,
    log: pino({ level: "silent" }),
  })
  const sources = toolSources(snapshot)
  const actions = createModelActions({
    config: () => config,
    environment,
    registry,
    clock: systemClock,
    tools: (agentId) => schemasForCheck(sources, agentId),
  })
  const redacted = <T>(value: T): T => JSON.parse(redactor.redact(JSON.stringify(value))) as T
  return {
    list: () => redacted(actions.list()),
    test: async (question, signal) => redacted(await actions.test(question, signal)),
  }
}

/** The tools that a model is shown; skills, which are files of the operator's, are left out. */
function toolSources(snapshot: ConfigSnapshot): ToolSources {
  const { config } = snapshot
  const browser = createBrowserTool({ core: notRunning }) as Tool
  return {
    tools: (place: ToolPlace) => [...(config.browser.enabled ? [browser] : []), ...shownTools(snapshot, place)],
    skills: () => [],
    profile(agentId) {
      const tools = toolPolicyOf(config, agentId)
      return tools === undefined ? {} : { tools }
    },
  }
}

function notRunning(): never {
  throw new AppError("not-ready", "No gateway runs")
}
