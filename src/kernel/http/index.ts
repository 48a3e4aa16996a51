// The HTTP side of the kernel: what every surface (gateway, control service, webhook listener) shares.
export * from "./bearer.ts"
export * from "./guard.ts"
export * from "./local-host.ts"
export * from "./visit.ts"
export * from "./read-body.ts"
export * from "./respond.ts"
export * from "./server.ts"
export * from "./throttle.ts"
