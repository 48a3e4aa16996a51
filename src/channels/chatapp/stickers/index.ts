// The door of the sticker cache: intake fills it, the agent's tool searches it.
export type * from "./contract.ts"
export * from "./store.ts"
