// The door of the commands, for main and for the channels.
export { mayUse } from "./access.ts"
export type * from "./contract.ts"
export { type CommandHandlerOptions, createCommandHandler } from "./handler.ts"
export { commandJob, commandJobKind } from "./job.ts"
export { afterResetWord, isStopWord, readCommand } from "./read.ts"
export type { ReadCommand } from "./read.ts"
export { findCommand, nativeCommands } from "./registry.ts"
export { startCommand } from "./native/start.ts"
