// The only door of the agent. Features take the tool contract from tool.ts and the turn's input from turn-input.ts.
export * from "./boundary.ts"
export * from "./heartbeat.ts"
export { createTimeTexts, heartbeatToken, isHeartbeatAck, liveTimeText } from "./prompt.ts"
export * from "./stopped.ts"
export { readSkills, selectSkills } from "./skills.ts"
export type * from "./tool.ts"
export * from "./turn-input.ts"
export * from "./turn.ts"
