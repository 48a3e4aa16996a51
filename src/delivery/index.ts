// The only door of delivery.
export type * from "./contract.ts"
export * from "./delivery.ts"
export { type EarlyOptions, streamReply } from "./early/index.ts"
export * from "./reply.ts"
export * from "./worker.ts"
export * from "./response-prefix.ts"
