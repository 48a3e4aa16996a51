// The only door: error of a provider -> evidence -> verdict -> Failure, in words for the operator and for a chat.
export { classifyFailure } from "./classify.ts"
export type { Failure, FailureKind } from "./contract.ts"
export { readLimit } from "./context-words.ts"
export { readWait } from "./wait.ts"
