// The only door: what a model writes into its reply that is not meant for people, and the names of tools it mangles.
export {
  createReasoningFilter,
  stripHiddenReasoning,
  type Piece,
  type ReasoningFilter,
  type ReasoningMode,
} from "./hidden-reasoning.ts"
export { cleanToolName } from "./tool-name.ts"
