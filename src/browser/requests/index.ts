// The requests of the control service and of the tool, as zod schemas.
export * from "./act.ts"
export * from "./debug.ts"
export * from "./explain.ts"
export { looseForms } from "./fields.ts"
export * from "./page.ts"
export * from "./parse.ts"
export * from "./profiles.ts"
export * from "./settings.ts"
