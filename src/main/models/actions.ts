// What an operator can ask of the models: which are configured, and whether one works. The same in a running gateway and
// in the command line's own process.
import type { Config } from "../../config/index.ts"
import type { GatewayActions } from "../../gateway/index.ts"
import type { Clock } from "../../kernel/index.ts"
import {
  type Environment,
  type ModelRegistry,
  type ToolSchema,
  checkModel,
  listModels,
  modelsOfAgent,
} from "../../models/index.ts"
import { mainAgentId } from "../main-agent.ts"
import { modelsView } from "./view.ts"

export interface ModelActionParts {
  config: () => Config
  environment: Environment
  registry: ModelRegistry
  clock: Clock
  /** The real tools of the product. */
  tools: (agentId: string) => ToolSchema[]
}

export interface ModelActions {
  list: GatewayActions["listModels"]
  test: GatewayActions["testModel"]
}

export function createModelActions(parts: ModelActionParts): ModelActions {
  const { config, environment, registry, clock } = parts
  const view = () => modelsView(config())
  return {
    list: () => ({
      models: listModels(view(), environment, registry.describe),
      asked: modelsOfAgent(view(), mainAgentId(config())),
    }),
    async test({ model, timeoutSeconds }, signal) {
      const agentId = mainAgentId(config())
      const selection = { agentId, model: model ?? modelsOfAgent(view(), agentId)[0] }
      const options = { selection, tools: parts.tools(agentId), signal }
      const limit = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }
      return await checkModel({ registry, clock, view, environment }, { ...options, ...limit })
    },
  }
}
