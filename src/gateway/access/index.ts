// The door of access: tokens with scopes, and the check that surfaces are given.
export * from "./contract.ts"
export { type DoorOptions, createDoor, scopeMissing, stranger, visitorOf } from "./door.ts"
export { type RouteRule, type Surface, covers, mcpScopes, routeRules, ruleFor, scopeMeanings } from "./scopes.ts"
export { type KnownToken, type Tokens, type TokensOptions, createTokens } from "./tokens.ts"
