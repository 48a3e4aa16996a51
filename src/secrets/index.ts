// Secrets that are filled into pages by name.
export type * from "./contract.ts"
export { type Secrets, createSecrets } from "./secrets.ts"
