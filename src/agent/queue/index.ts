// The door of the queue: what becomes of messages that come while a turn runs.
export { droppedText, keepToCap, takeDropped } from "./cap.ts"
export { collectInputs, collectable } from "./collect.ts"
export type * from "./contract.ts"
export { type WatchInterrupts, createInterrupts } from "./interrupt.ts"
export { prepareSteering, shutOut } from "./steer.ts"
export { pauseKeyPrefix } from "./waiting.ts"
