// The providers that are reached through the packages of the AI SDK, and Bedrock: one prepared request -> step events.
// Nothing of a provider is imported before a provider of its kind is asked.
export type { SdkParts } from "./contract.ts"
export { createSdkInterface } from "./step.ts"
