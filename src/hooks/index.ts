// The only door of the webhooks.
export type { AgentAction, HookAction, WakeAction, WakeMode } from "./action.ts"
export type * from "./contract.ts"
export { callbackChannel, createCallbackSender, queueCallback } from "./callback.ts"
export { type HookAudit, type HookGuests, type Hooks, type HooksOptions, createHooks } from "./hooks.ts"
export type { HookDeliveryActions } from "./inspect.ts"
export type { HookVerifyConfig } from "./config.ts"
export type { HooksView } from "./settings.ts"
export type { VerifySignature } from "./signature.ts"
