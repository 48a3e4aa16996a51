// What the models are told of the configuration.
import type { Config } from "../../config/index.ts"
import type { ModelsView } from "../../models/index.ts"

export function modelsView({ agents, models }: Config): ModelsView {
  return {
    providers: models.providers,
    retry: models.retry,
    defaultModel: agents.defaults.model,
    allowed: agents.defaults.models ?? {},
    thinkingDefault: agents.defaults.thinkingDefault,
    agentModels: Object.fromEntries(agents.list.map((agent) => [agent.id, agent.model])),
  }
}
