// The only door of the models: the contract, the registry, and the view of the configuration that it wants.
export type * from "./contract.ts"
export type { Environment } from "./keys.ts"
export { keyVariable } from "./keys.ts"
export { offlineModelId } from "./offline/commander.ts"
export type { ModelLimits } from "./ask.ts"
export { createModelRegistry, isContextTooLong, isModelAway, type ModelRegistryParts } from "./registry.ts"
export { isSelectableModel, selectableModels } from "./resolve.ts"
export type { ModelChoice, ModelsView, ProviderSettings } from "./view.ts"
