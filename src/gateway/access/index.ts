// The door of access: tokens with scopes, and the check that surfaces are given.
export type * from "./contract.ts"
export { type DoorOptions, createDoor, scopeMissing, stranger, visitorOf } from "./door.ts"
export {
  type RouteRule,
  type Scope,
  type Surface,
  covers,
  routeRules,
  ruleFor,
  scopeMeanings,
  scopes,
} from "./scopes.ts"
export { type KnownToken, type Tokens, type TokensOptions, createTokens } from "./tokens.ts"
