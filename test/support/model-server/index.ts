// The model server for tests.
export {
  busy,
  text,
  toolCall,
  type ScriptedCall,
  type ScriptedPart,
  type ScriptedReply,
  type ScriptedUsage,
} from "./reply.ts"
export {
  startModelServer,
  type ModelServer,
  type ModelServerOptions,
  type RefusedRequest,
  type Script,
} from "./server.ts"
export type { RecordedRequest } from "./recorded-request.ts"
export { createTestRegistry, userRequest, type TestRegistry } from "./registry.ts"
