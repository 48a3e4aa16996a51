// The only door of delivery.
export type * from "./contract.ts"
export * from "./delivery.ts"
export { createResendHandler, resendJob, resendJobKind } from "./doubt.ts"
export { type EarlyOptions, streamReply } from "./early/index.ts"
export { FlightLog } from "./flight-log.ts"
export * from "./reply.ts"
export * from "./worker.ts"
export * from "./response-prefix.ts"
