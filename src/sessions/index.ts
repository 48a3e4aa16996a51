// The only door of sessions.
export * from "./keys.ts"
export * from "./move.ts"
export type * from "./queue-choice.ts"
export type * from "./route.ts"
export * from "./sessions.ts"
export * from "./sites.ts"
export * from "./transcript.ts"
