// The only door of the gateway.
export * from "./access/index.ts"
export type * from "./api.ts"
export * from "./audit/index.ts"
export { resolveBinding } from "./binding.ts"
export type * from "./contract.ts"
export {
  gatewayFilePath,
  keepGatewayFile,
  readGatewayFile,
  removeGatewayFile,
  writeGatewayFile,
} from "./gateway-file.ts"
export type { McpCaller, MountedMcp } from "./mcp.ts"
export { type GatewayServer, type GatewayServerOptions, type MountedHooks, createGatewayServer } from "./server.ts"
export { type GatewayToken, type GatewayTokenOptions, checkGatewayToken, loadGatewayToken } from "./token.ts"
export * from "./page/index.ts"
export type { TakeoverDesk } from "./takeover/contract.ts"
export { takeoverPage } from "./takeover/routes.ts"
export { linkAddresses } from "./page/links.ts"
export type { Metric } from "./metrics.ts"
