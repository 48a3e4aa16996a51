// The only door of the gateway.
export * from "./access/index.ts"
export type * from "./api.ts"
export * from "./audit/index.ts"
export type * from "./contract.ts"
export { gatewayFilePath, readGatewayFile, removeGatewayFile, writeGatewayFile } from "./gateway-file.ts"
export { type GatewayServer, type GatewayServerOptions, type MountedHooks, createGatewayServer } from "./server.ts"
export { type GatewayToken, type GatewayTokenOptions, loadGatewayToken } from "./token.ts"
export type { Metric } from "./metrics.ts"
