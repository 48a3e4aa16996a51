// The only door of schedules.
export type { CronConfig } from "./config.ts"
export type * from "./contract.ts"
export { type Maker, type Schedules, type SchedulesOptions, createSchedules } from "./schedules.ts"
export { scheduleTool } from "./tool.ts"
