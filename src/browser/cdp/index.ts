// The door of the CDP layer: addresses with their credentials, a connection with sessions, and the `/json` endpoints.
export * from "./address.ts"
export * from "./connection.ts"
export * from "./endpoints.ts"
export { openPrivateDoor, type PrivateDoor } from "./private-door.ts"
export { type Endpoint, HandshakeError, overPipe, type PipeOptions, type Transport } from "./transport.ts"
