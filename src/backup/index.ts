// What the composition may use of the backups. The commands are in cli.ts.
export type { BackupFacts } from "./contract.ts"
export { findArchives, originOf } from "./folder.ts"
export { listBackups } from "./list.ts"
export { createBackupSchedule } from "./schedule.ts"
export type { BackupSchedule, MadeBackup, ScheduleState } from "./schedule.ts"
