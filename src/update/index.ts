// What the composition may use of the update. The commands are in cli.ts.
export type { Held, Place, Runner, UpdateParts } from "./contract.ts"
export { findPlace } from "./place.ts"
export { isBetweenDatabases } from "./switch.ts"
