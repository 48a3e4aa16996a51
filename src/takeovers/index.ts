// Tabs that wait for a person's hands.
export type * from "./contract.ts"
export { type Takeovers, createTakeovers, takeoverExpiryKind } from "./takeovers.ts"
