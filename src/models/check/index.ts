// The only door of checks: does a model work as this product uses it?
export { type CheckOptions, type CheckParts, checkModel } from "./check.ts"
export type { CheckFailure, CheckFailureKind, ContextFact, ModelCheck } from "./contract.ts"
