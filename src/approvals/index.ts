// The only door of approvals.
export * from "./approvals.ts"
export * from "./canonical.ts"
export type * from "./contract.ts"
