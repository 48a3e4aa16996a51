// The door of MCP: our tools for other programs, and other servers' tools for the agent.
export type { ApiCall, BrowserPort, Caller, Right, ServerLinks } from "./contract.ts"
export { type McpServer, createMcpServer } from "./server/index.ts"
export type * from "./client/contract.ts"
export { type ToolChange, isToolChange, readToolChange } from "./client/tool.ts"
export { McpServers } from "./client/servers.ts"
