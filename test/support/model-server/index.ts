// The model server for tests.
export { busy, text, toolCall, type ScriptedCall, type ScriptedReply } from "./reply.ts"
export { startModelServer, type ModelServer, type RecordedRequest, type Script } from "./server.ts"
export { createTestRegistry, userRequest, type TestRegistry } from "./registry.ts"
